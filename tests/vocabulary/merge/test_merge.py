"""What a merged vocabulary holds."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.vocabulary.merge.conftest import Make, Map

from nymlink.core.errors import InputError
from nymlink.vocabulary.concepts import Concept, Name
from nymlink.vocabulary.mappings import read_mappings
from nymlink.vocabulary.merge.merge import merge
from nymlink.vocabulary.read import read_vocabulary
from nymlink.vocabulary.vocabulary import Vocabulary


def contents(vocabulary: Vocabulary) -> dict[str, tuple[Concept, tuple[Name, ...]]]:
    return {concept.id: (concept, vocabulary.names(concept.id)) for concept in vocabulary}


@pytest.fixture
def a(make: Make) -> Vocabulary:
    return make(
        "a",
        {"A:1": "heart attack, MI", "A:2": "heart disease", "A:3": "stroke"},
        xrefs={"A:1": ["B:1"], "A:2": ["B:2"]},
        parents={"A:1": ["A:2"]},
    )


@pytest.fixture
def b(make: Make) -> Vocabulary:
    return make(
        "b",
        {"B:1": "heart attack, infarct", "B:2": "heart disease", "B:3": "infarction"},
        xrefs={"B:1": ["UMLS:C0027051"]},
        parents={"B:1": ["B:2", "B:3"], "B:2": ["B:1"], "B:3": ["B:1"]},
        semantic_types={"B:1": ["disease"]},
        redirects={"B:10": "B:1"},
    )


def test_a_merged_concept_keeps_all_of_its_members(a: Vocabulary, b: Vocabulary) -> None:
    merged = merge([a, b]).vocabulary
    concept = merged["A:1"]
    assert len(merged) == 4
    assert concept.name == "heart attack"
    assert concept.xrefs == ("B:1", "UMLS:C0027051")
    assert concept.semantic_types == ("disease",)
    assert [(name.text, name.source) for name in merged.names("A:1")] == [
        ("heart attack", "a"),
        ("heart attack", "b"),
        ("MI", "a"),
        ("infarct", "b"),
    ]
    assert [(source.name, source.licence) for source in merged.sources] == [
        ("a", "licence of a"),
        ("b", "licence of b"),
    ]


def test_old_ids_lead_to_the_merged_concept(a: Vocabulary, b: Vocabulary) -> None:
    merged = merge([a, b]).vocabulary
    for old in ("A:1", "B:1", "B:10"):
        assert merged.resolve(old) == ("A:1",)
    assert "B:1" not in merged


def test_parents_are_merged_and_nothing_is_its_own(a: Vocabulary, b: Vocabulary) -> None:
    merged = merge([a, b]).vocabulary
    assert merged["A:1"].parents == ("A:2", "B:3")
    assert merged["A:2"].parents == ("A:1",)
    assert merged["B:3"].parents == ("A:1",)


def test_replacements_are_merged(make: Make) -> None:
    a = make("a", {"A:1": "heart attack"}, xrefs={"A:1": ["B:1"]})
    b = make("b", {"B:1": "heart attack", "B:2": "old"}, obsolete={"B:2": True}, replaced_by={"B:2": ["B:1"]})
    merged = merge([a, b]).vocabulary
    assert merged["B:2"].replaced_by == ("A:1",)
    assert merged.resolve("B:2") == ("A:1",)


def test_the_first_source_gives_the_id_and_the_name(a: Vocabulary, b: Vocabulary) -> None:
    assert merge([b, a]).vocabulary.resolve("A:1") == ("B:1",)


def test_of_two_members_from_one_source_the_smaller_id_is_kept(make: Make, mapped: Map) -> None:
    a = make("a", {"A:2": "two", "A:1": "one"})
    merged = merge([a], [mapped(("A:1", "A:2"))]).vocabulary
    assert [concept.id for concept in merged] == ["A:1"]
    assert [name.text for name in merged.names("A:1")] == ["two", "one"]


def test_ids_spelt_differently_are_one(make: Make) -> None:
    merged = merge([make("a", {"MESH:D1": "one"}), make("b", {"mesh:D1": "eins"})]).vocabulary
    assert [concept.id for concept in merged] == ["MESH:D1"]
    assert merged.resolve("mesh:D1") == ("MESH:D1",)


def test_ids_without_a_prefix_are_not_the_same_in_two_sources(make: Make) -> None:
    a, b = make("va", {"1": "heart attack", "2": "stroke"}), make("vb", {"3": "cough", "1": "fever"})
    with pytest.raises(
        InputError, match=r"both va and vb have a concept 1: .* a prefix .* first, for example va:1"
    ):
        merge([a, b])
    assert len(merge([a, make("vb", {"3": "cough"})]).vocabulary) == 3


def test_a_cui_is_the_same_in_all_sources(make: Make) -> None:
    merged = merge([make("a", {"C0027051": "heart attack"}), make("b", {"C0027051": "infarct"})]).vocabulary
    assert [name.text for name in merged.names("C0027051")] == ["heart attack", "infarct"]


def test_the_same_input_gives_the_same_vocabulary(a: Vocabulary, b: Vocabulary, tmp_path: Path) -> None:
    for name in ("one", "two"):
        merge([a, b]).vocabulary.save(tmp_path / name)
    for file in (tmp_path / "one").iterdir():
        assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes()


def test_what_is_merged_and_does_not_depend_on_the_order(a: Vocabulary, b: Vocabulary) -> None:
    def groups(*vocabularies: Vocabulary) -> set[frozenset[str]]:
        merged = merge(vocabularies)
        ids = merged.unmerged.concept_id
        return {frozenset(map(ids, rows)) for rows in merged.clusters.members}

    assert groups(a, b) == groups(b, a) != set()


def test_a_new_release_changes_only_what_it_must(make: Make, a: Vocabulary, b: Vocabulary) -> None:
    c = make("c", {"C:1": "stroke", "C:2": "heart attack"}, xrefs={"C:1": ["A:3"]})
    later = make("c", {"C:1": "stroke", "C:2": "heart attack, coronary"}, xrefs={"C:1": ["A:3"], "C:2": ["A:1"]})
    before, after = contents(merge([a, b, c]).vocabulary), contents(merge([a, b, later]).vocabulary)
    assert {id_ for id_ in before.keys() | after.keys() if before.get(id_) != after.get(id_)} == {"A:1", "C:2"}


def test_a_merged_vocabulary_can_be_merged_again(make: Make, a: Vocabulary, b: Vocabulary, tmp_path: Path) -> None:
    merge([a, b]).vocabulary.save(tmp_path / "meta")
    meta = Vocabulary.load(tmp_path / "meta")
    c = make("c", {"C:1": "infarct"}, xrefs={"C:1": ["B:1"]})
    merged = merge([meta, c]).vocabulary
    assert merged.resolve("C:1") == merged.resolve("B:1") == ("A:1",)
    # A member's namespace stays taken.
    b2 = make("b2", {"B:9": "heart attack"}, xrefs={"B:9": ["A:1"]})
    assert merge([meta, b2]).vocabulary.resolve("B:9") == ("B:9",)
    # And the members themselves come home.
    assert merge([meta, b]).vocabulary.resolve("B:1") == ("A:1",)


def test_a_circle_of_old_ids_does_no_harm(make: Make) -> None:
    a = make(
        "a",
        {"A:1": "old", "A:2": "new"},
        obsolete={"A:1": True},
        replaced_by={"A:1": ["A:2"]},
        redirects={"A:2": "A:1", "A:3": "A:1"},
    )
    merged = merge([a, make("b", {"B:1": "new"}, xrefs={"B:1": ["A:3"]})])
    assert len(merged.clusters.joins) == 1
    assert merged.vocabulary.resolve("B:1") == ("A:2",)


def test_sources_of_one_name_are_told_apart(make: Make) -> None:
    merged = merge([make("x", {"A:1": "one"}), make("x", {"B:1": "eins"})]).vocabulary
    assert [source.name for source in merged.sources] == ["x", "x-2"]
    assert [name.source for name in merged.names("B:1")] == ["x-2"]


def test_nothing_to_merge_is_an_error() -> None:
    with pytest.raises(InputError, match="no vocabulary"):
        merge([])


def test_the_same_source_twice_is_an_error(tmp_path: Path) -> None:
    source = tmp_path / "a.txt"
    source.write_text("A:1||one\n", encoding="utf-8")
    vocabulary = read_vocabulary(source)
    with pytest.raises(InputError, match=r"the source a \(a.txt\) is in several"):
        merge([vocabulary, vocabulary])


def test_mappings_are_recorded(a: Vocabulary, b: Vocabulary, mapped: Map) -> None:
    settings = merge([a, b], [mapped(("A:3", "B:3"))]).vocabulary.settings
    assert settings["mappings"][0]["file"] == "m.sssom.tsv"


@pytest.mark.large
def test_open_vocabularies_are_merged_with_their_licences(data: Path) -> None:
    tables = [data / "vocabularies" / f"{name}.tsv.gz" for name in ("mondo", "nando", "symp")]
    mappings = [read_mappings(data / "native" / "biomappings" / "positive.sssom.tsv.gz")]
    merged = merge([read_vocabulary(table) for table in tables], mappings)
    vocabulary = merged.vocabulary
    assert vocabulary.resolve("NANDO:1200045") == ("MONDO:0008119",)
    names = vocabulary.names("MONDO:0008119")
    assert {name.source for name in names} == {"mondo", "nando"}
    assert {name.lang for name in names} == {"en", "ja"}
    assert [source.licence for source in vocabulary.sources] == ["CC BY 4.0", "CC BY 4.0", "CC0-1.0"]
    assert merged.before.concepts - merged.after.concepts == sum(map(len, merged.clusters.members)) - len(
        merged.ids
    )
    assert merged.before.names == merged.after.names
