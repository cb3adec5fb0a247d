"""Mappings between two small vocabularies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nymlink import Index, InputError, Links, match, read_vocabulary
from nymlink.linking.matching.names import Names, shared_names
from nymlink.linking.matching.structure import Hierarchy, Support
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.mappings import read_mappings
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary


def vocabulary(
    names: dict[str, list[str]],
    *,
    parents: dict[str, list[str]] | None = None,
    lang: str = "en",
    source: str = "own",
) -> Vocabulary:
    """Make a vocabulary: id → names, the preferred one first; a kind other than exact stands before a bar."""
    builder = TableBuilder()
    for concept_id, texts in names.items():
        builder.concept(concept_id, parents=(parents or {}).get(concept_id, ()))
        for place, text in enumerate(texts):
            kind, _, name = text.rpartition("|")
            builder.name(concept_id, name, lang=lang, kind=kind or ("exact" if place else "preferred"))
    return Vocabulary.of((Source(source, "table"), builder.build()))


def found(links: Links) -> dict[str, Any]:
    """Return what each concept is mapped to: id → (relation, id) of each candidate."""
    return {
        str(link.mention.id): [(candidate.relation, candidate.concept_id) for candidate in link.candidates]
        for link in links
    }


def matched(one: Vocabulary | Index, other: Vocabulary | Index, **options: Any) -> dict[str, Any]:
    """Match without an encoder."""
    return found(match(one, other, encoder=None, **options))


MOUSE = vocabulary({"M:1": ["heart"], "M:2": ["left lung"], "M:3": ["tracheal epithelium"], "M:4": ["tail"]})
HUMAN = vocabulary(
    {"H:1": ["Heart"], "H:2": ["lung, left"], "H:3": ["trachea epithelium"], "H:4": ["vermiform appendix"]}
)


def test_equal_and_similar_names_are_mapped() -> None:
    links = match(MOUSE, HUMAN, encoder=None)
    assert found(links) == {
        "M:1": [("exact", "H:1")],
        "M:2": [("exact", "H:2")],
        "M:3": [("exact", "H:3")],
    }
    equal, reordered, similar = (link.candidates[0] for link in links)
    assert equal.confidence is not None
    assert reordered.confidence is not None
    assert similar.confidence is not None
    assert equal.confidence > reordered.confidence > similar.confidence
    assert equal.score == reordered.score == 1 > similar.score
    assert all(link.confidence == link.candidates[0].confidence for link in links)


def test_a_smallest_confidence_leaves_out_doubtful_mappings() -> None:
    assert set(matched(MOUSE, HUMAN, min_confidence=0.9)) == {"M:1", "M:2"}
    with pytest.raises(InputError, match="from 0 to 1"):
        match(MOUSE, HUMAN, min_confidence=1.5)


def test_each_concept_has_one_partner_unless_many_are_wanted() -> None:
    one = vocabulary({"A:1": ["gout"], "A:2": ["podagra", "gout"]})
    other = vocabulary({"B:1": ["gout", "podagra"]})
    assert matched(one, other) == {"A:1": [("exact", "B:1")]}
    assert set(matched(one, other, many=True, min_confidence=0.1)) == {"A:1", "A:2"}


def test_the_kind_of_a_name_decides_between_partners() -> None:
    one = vocabulary({"A:1": ["cold"]})
    other = vocabulary({"B:1": ["lung disease", "abbreviation|cold"], "B:2": ["common cold", "cold"]})
    assert matched(one, other) == {"A:1": [("exact", "B:2")]}


def test_a_narrow_name_gives_a_broader_partner() -> None:
    one = vocabulary({"A:1": ["viral hepatitis B"], "A:2": ["sore", "narrow|canker"]})
    other = vocabulary({"B:1": ["liver inflammation", "narrow|viral hepatitis B"], "B:2": ["canker"]})
    assert matched(one, other) == {"A:1": [("broader", "B:1")], "A:2": [("narrower", "B:2")]}


def test_a_name_with_more_specific_words_has_a_broader_partner() -> None:
    one = vocabulary({"A:1": ["abnormal vomer bone"], "A:2": ["small vomer bone"], "A:3": ["stye"]})
    other = vocabulary({"B:1": ["abnormal vomer bone"], "B:2": ["abnormal gait"], "B:3": ["stye"]})
    assert matched(one, other, min_confidence=0.3)["A:2"] == [("broader", "B:1")]
    assert set(matched(one, other)) == {"A:1", "A:3"}


def test_the_partner_of_a_parent_is_broader() -> None:
    one = vocabulary({"A:1": ["arthritis"], "A:2": ["Still disease"]}, parents={"A:2": ["A:1"]})
    other = vocabulary({"B:1": ["arthritis"], "B:2": ["measles"]})
    assert matched(one, other) == {"A:1": [("exact", "B:1")], "A:2": [("broader", "B:1")]}


PARENTS = ({"A:1": ["A:0"], "A:2": ["A:0"]}, {"B:1": ["B:0"], "B:2": ["B:9"]})


def test_mapped_parents_decide_between_equal_names() -> None:
    one = vocabulary({"A:0": ["eye disease"], "A:1": ["stye"]}, parents={"A:1": ["A:0"]})
    other = vocabulary(
        {"B:0": ["eye disease"], "B:9": ["farm building"], "B:1": ["pen", "stye"], "B:2": ["chalazion", "stye"]},
        parents={"B:1": ["B:9"], "B:2": ["B:0"]},
    )
    assert matched(one, other)["A:1"] == [("exact", "B:2")]


def test_support_counts_agreeing_neighbours() -> None:
    one = Hierarchy(
        vocabulary({"A:0": ["a"], "A:1": ["b"], "A:2": ["c"]}, parents={"A:1": ["A:0"], "A:2": ["A:1"]})
    )
    other = Hierarchy(
        vocabulary({"B:0": ["a"], "B:1": ["b"], "B:2": ["c"]}, parents={"B:1": ["B:0"], "B:2": ["B:0"]})
    )
    support = Support(one, other, {0: 0, 2: 2})
    assert support.above((1, 1)) == 1.0
    assert support.below((1, 1)) == 0.0
    assert support.above((0, 0)) is None
    assert support.below((0, 0)) == 1.0


def test_cycles_among_parents_do_no_harm() -> None:
    one = vocabulary({"A:0": ["gout"], "A:1": ["stye"]}, parents={"A:1": ["A:0"], "A:0": ["A:1"]})
    assert matched(one, vocabulary({"B:0": ["gout"], "B:1": ["stye"]}, parents={"B:1": ["B:0"]})) == {
        "A:0": [("exact", "B:0")],
        "A:1": [("exact", "B:1")],
    }


def test_numerals_that_differ_contradict() -> None:
    one, other = (
        vocabulary({f"{side}:1": [f"spinocerebellar ataxia type {number}"]})
        for side, number in (("A", 1), ("B", 2))
    )
    [link] = match(one, other, encoder=None, min_confidence=0)
    assert link.candidates[0].contradiction == "'type 1', but 'type 2' in the name"
    assert link.candidates[0].confidence is not None
    assert link.candidates[0].confidence < 0.4


def test_names_of_concepts_support_each_other() -> None:
    one = Names(vocabulary({"A:1": ["gout", "podagra"], "A:2": ["measles", "rubeola"]}))
    other = Names(vocabulary({"B:1": ["arthritis urica", "gout", "podagra"], "B:2": ["rubella", "rubeola"]}))
    shared = shared_names(one, other, {"en"})
    assert shared[0, 0].strength > shared[0, 0].best > shared[1, 1].strength


def test_duplicates_of_one_vocabulary_are_pairs() -> None:
    own = vocabulary(
        {"A:1": ["gout", "podagra"], "A:2": ["podagra"], "A:3": ["measles"], "A:4": ["acute measles"]},
        parents={"A:4": ["A:3"]},
    )
    assert matched(own, own) == {"A:1": [("exact", "A:2")]}


def test_an_index_is_searched_as_it_is() -> None:
    index = Index.build(HUMAN, encoder=None)
    assert matched(MOUSE, index) == matched(MOUSE, HUMAN)
    assert set(matched(index, MOUSE)) == {"H:1", "H:2", "H:3"}


def test_an_empty_vocabulary_is_refused() -> None:
    with pytest.raises(InputError, match=r"the second vocabulary \(own\) has no concept with a name"):
        match(MOUSE, vocabulary({"H:1": []}), encoder=None)


def test_vocabularies_without_a_common_language_are_matched_with_a_warning() -> None:
    german = vocabulary({"D:1": ["Herz"], "D:2": ["Placenta"]}, lang="de")
    english = vocabulary({"E:1": ["heart"], "E:2": ["placenta"]})
    with pytest.warns(UserWarning, match=r"no language in common \(de; en\)"):
        assert matched(german, english) == {"D:2": [("exact", "E:2")]}


def test_names_in_different_languages_are_not_compared_if_one_is_common() -> None:
    one = vocabulary({"A:1": ["gift"], "A:2": ["gout"]})
    builder = TableBuilder()
    for concept_id, name, lang in (("B:1", "Gift", "de"), ("B:2", "gout", "en")):
        builder.concept(concept_id)
        builder.name(concept_id, name, lang=lang, kind="preferred")
    assert set(matched(one, Vocabulary.of((Source("two", "table"), builder.build())))) == {"A:2"}


def test_a_name_in_another_language_hides_none_that_is_compared() -> None:
    builder = TableBuilder()
    for concept_id, name, lang, kind in (
        ("A:1", "hepatitis A", "en", "exact"),
        ("A:1", "Hepatitis A", "de", "preferred"),
        ("A:2", "hepatitis A", "en", "related"),
    ):
        if concept_id not in builder:
            builder.concept(concept_id)
        builder.name(concept_id, name, lang=lang, kind=kind)
    one = Vocabulary.of((Source("a", "test"), builder.build()))
    assert matched(one, vocabulary({"B:1": ["hepatitis A"]})) == {"A:1": [("exact", "B:1")]}


def test_sssom_has_both_concepts_relation_and_confidence(tmp_path: Path) -> None:
    one = vocabulary({"12": ["gout"], "A:2": ["viral hepatitis B"]}, source="first")
    other = vocabulary(
        {"B:1": ["gout"], "B:2": ["liver inflammation", "narrow|viral hepatitis B"]}, source="second"
    )
    path = tmp_path / "mappings.sssom.tsv"
    match(one, other, encoder=None).write(path)
    text = path.read_text(encoding="utf-8")
    assert '#mapping_set_title: "first matched with second by nymlink"' in text
    mappings = read_mappings(path).mappings
    assert [(each.subject_id, each.predicate_id, each.object_id) for each in mappings] == [
        ("first:12", "skos:exactMatch", "B:1"),
        ("A:2", "skos:broadMatch", "B:2"),
    ]
    assert [each.subject_label for each in mappings] == ["gout", "viral hepatitis B"]
    assert [each.confidence for each in mappings] == [pytest.approx(0.994, abs=0.01), 0.6]


def test_every_mapping_of_many_has_its_own_confidence(tmp_path: Path) -> None:
    one = vocabulary({"A:1": ["gout"]})
    other = vocabulary({"B:1": ["gout"], "B:2": ["podagra", "gout"]})
    path = tmp_path / "mappings.sssom.tsv"
    match(one, other, encoder=None, many=True, min_confidence=0.01).write(path)
    confidences = [each.confidence for each in read_mappings(path).mappings]
    assert len(confidences) == 2
    assert None not in confidences
    assert confidences[0] != confidences[1]


def test_files_and_folders_are_opened(tmp_path: Path) -> None:
    table = tmp_path / "own.tsv"
    table.write_text("concept_id\tname\nX:1\theart\n", encoding="utf-8")
    read_vocabulary(table).save(tmp_path / "vocabulary")
    Index.build(HUMAN, encoder=None).save(tmp_path / "index")
    for first in (table, str(table), tmp_path / "vocabulary"):
        assert found(match(first, tmp_path / "index", encoder=None)) == {"X:1": [("exact", "H:1")]}
