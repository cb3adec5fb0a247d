"""Counted phrases: names that annotators used, and their counts among concepts that share a name."""

from __future__ import annotations

from pathlib import Path

import pytest

from nymlink.index.index import Index
from nymlink.index.phrases import Phrases, read_phrases, write_phrases
from nymlink.linking.linker import Linker
from nymlink.vocabulary.concepts import Source
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary
from tests.index.small import vocabulary

PHRASES = Phrases(
    [
        ("dm", "MESH:D1", {"letters": 3, "notes": 2}),
        ("dm", "MESH:D2", {"notes": 1}),
        ("clerks disease", "MESH:D1", {"letters": 1}),
        ("clerks' trouble", "MESH:D1", {"letters": 1}),
        ("trouble", "MESH:D1", {"letters": 1}),
        ("trouble", "MESH:D2", {"letters": 1}),
        ("alpha disease", "MESH:D1", {"letters": 1}),
    ]
)
TWO = vocabulary({"MESH:D1": ["Alpha disease"], "MESH:D2": ["beta disease", "clerks disease"]})


def referring(references: dict[str, list[str]]) -> Vocabulary:
    """Concepts that refer to those of other vocabularies."""
    builder = TableBuilder()
    for concept, xrefs in references.items():
        builder.concept(concept, xrefs=xrefs)
        builder.name(concept, f"name of {concept}")
    return Vocabulary.of((Source("own", "test"), builder.build()))


def added(to: Vocabulary) -> set[tuple[str, str]]:
    """Return the names that a vocabulary gets: (concept, text)."""
    more, _ = PHRASES.add_to(to, None)
    names = [name for concept in more for name in more.names(concept.id)]
    return {(name.concept_id, name.text) for name in names if name.source == PHRASES.source.name}


def test_a_phrase_becomes_a_name_of_the_concept_that_it_mostly_means() -> None:
    assert added(TWO) == {("MESH:D1", "dm"), ("MESH:D1", "clerks' trouble")}
    _, meanings = PHRASES.add_to(TWO, None)
    assert meanings is not None
    assert meanings["dm"]["MESH:D1"] == {"letters": 3, "notes": 2}
    assert not {"trouble", "clerks disease"} & meanings.keys()
    assert PHRASES.add_to(TWO, ["fr"]) == (TWO, None)


def test_concepts_are_found_by_references_that_are_one_to_one() -> None:
    assert {concept for concept, _ in added(referring({"X:1": ["MESH:D1"], "X:2": ["MESH:D3"]}))} == {"X:1"}
    assert not added(referring({"X:1": ["MESH:D1"], "X:2": ["MESH:D1"]}))
    assert not added(referring({"X:1": ["MESH:D1", "MESH:D3"]}))


def test_retired_concepts_get_no_names() -> None:
    assert not added(vocabulary({"MESH:D1": ["Alpha disease"]}, replaced={"MESH:D1": []}))


def test_the_table_is_written_and_read() -> None:
    meanings = {"dm": {"MESH:D1": {"letters": 3, "notes": 2}, "MESH:D2": {"notes": 1}}}
    assert list(read_phrases(write_phrases(meanings))) == [
        ("dm", "MESH:D1", {"letters": 3, "notes": 2}),
        ("dm", "MESH:D2", {"notes": 1}),
    ]


@pytest.fixture(scope="module")
def diseases() -> Vocabulary:
    return vocabulary({"MESH:D003920": ["diabetes mellitus", "DM"], "MESH:D009223": ["myotonic dystrophy", "DM"]})


def test_counts_decide_among_concepts_that_share_a_name(diseases: Vocabulary, tmp_path: Path) -> None:
    Index.build(diseases, encoder=None, phrases=True, directory=tmp_path / "index")
    linker = Linker.load(tmp_path / "index", top_k=2)
    assert [each.concept_id for each in linker.link("DM").candidates] == ["MESH:D009223", "MESH:D003920"]
    assert linker.link("Steinert's disease").candidates[0].matched.source == "annotated phrases"
    said = str(linker.explain("DM"))
    assert "times in NCBI disease" in said
    bare = Linker(Index.build(diseases, encoder=None))
    assert bare.link("DM").candidates[0].concept_id == "MESH:D003920"
    assert bare.index.vocabulary is diseases
