"""The figures by which merging is judged, against a naive count."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.merge.merge import VocabularyCounts
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary

IDS = ("A:1", "A:2", "UMLS:C0000001")
LANGUAGES = ("en", "en-GB", "de")
XREFS = ("UMLS:C0000001", "umls:C0000002", "C0000003", "MESH:C0000004", "X:C000000")


@given(
    st.lists(
        st.tuples(
            st.sampled_from(IDS),
            st.sampled_from(["a", "A", "b", "c", "d"]),
            st.sampled_from(["en", "en-GB", "de"]),
        ),
        max_size=12,
    ),
    st.dictionaries(st.sampled_from(IDS), st.lists(st.sampled_from(XREFS), max_size=3)),
)
def test_counts(names: list[tuple[str, str, str]], xrefs: dict[str, list[str]]) -> None:
    builder = TableBuilder()
    for concept_id in IDS:
        builder.concept(concept_id, xrefs=xrefs.get(concept_id, []))
    for concept_id, text, lang in names:
        builder.name(concept_id, text, lang=lang)
    counts = VocabularyCounts.of(Vocabulary.of((Source("s", "test"), builder.build())))

    english = {id_: {text.lower() for own, text, lang in names if own == id_ and lang != "de"} for id_ in IDS}
    pairs = [len(list(combinations(found, 2))) for found in english.values()]
    cuis = {
        id_: {x for x in (id_, *xrefs.get(id_, [])) if x.lower().startswith("umls:") or x == "C0000003"}
        for id_ in IDS
    }
    assert (counts.concepts, counts.names) == (3, len(set(names)))
    assert counts.several_english == sum(len(found) > 1 for found in english.values())
    assert counts.pairs == sum(pairs) == counts.pairs_capped
    assert counts.cuis == len(set().union(*cuis.values()))
    assert counts.with_cui == sum(map(bool, cuis.values()))
    assert counts.names_with_cui == len({name for name in names if cuis[name[0]]})
    assert counts.languages == {
        lang: count
        for lang in {lang for *_, lang in names}
        if (count := len({name for name in names if name[2] == lang}))
    }


def test_a_concept_gives_at_most_fifty_pairs_to_the_capped_count() -> None:
    builder = TableBuilder()
    builder.concept("A:1")
    for number in range(11):
        builder.name("A:1", f"name {number}", lang="en")
    counts = VocabularyCounts.of(Vocabulary.of((Source("s", "test"), builder.build())))
    assert (counts.pairs, counts.pairs_capped) == (55, 50)
