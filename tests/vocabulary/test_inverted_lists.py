"""Lists turned round: compared with a loop over all concepts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.hierarchy import InvertedLists
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary

ids = st.sampled_from(["A:1", "a:1", "B:2", "C:3", "Ä:4", "elsewhere"])


@given(st.lists(st.tuples(st.lists(ids), st.booleans()), max_size=8))
def test_owners_are_those_that_have_the_value(lists: list[tuple[list[str], bool]]) -> None:
    builder = TableBuilder()
    for number, (values, obsolete) in enumerate(lists):
        builder.concept(f"X:{number}", xrefs=values, parents=values, obsolete=obsolete)
        builder.name(f"X:{number}", "name")
    vocabulary = Vocabulary.of((Source("s", "table"), builder.build()))
    exact, folded = InvertedLists(vocabulary, "parents"), InvertedLists(vocabulary, "xrefs", key=str.casefold)
    for value in ("A:1", "a:1", "B:2", "Ä:4", "elsewhere", "nowhere", ""):
        live = [row for row in range(len(vocabulary)) if not vocabulary.concept(row).obsolete]
        assert exact.owners(value) == [row for row in live if value in vocabulary.concept(row).parents]
        assert folded.owners(value) == [
            row for row in live if value.casefold() in map(str.casefold, vocabulary.concept(row).xrefs)
        ]
