"""Which evidence joins, and which does not."""

from __future__ import annotations

import pytest
from tests.vocabulary.merge.conftest import Make, Map

from nymlink.vocabulary.merge.merge import Merged, merge


def joined(merged: Merged) -> set[frozenset[str]]:
    ids = merged.unmerged.concept_id
    return {frozenset(map(ids, rows)) for rows in merged.clusters.members}


def reasons(merged: Merged) -> dict[tuple[str, str], str]:
    ids = merged.unmerged.concept_id
    return {(ids(found.pair[0]), ids(found.pair[1])): found.against for found in merged.clusters.refusals}


ONE = {frozenset({"A:1", "B:1"})}


@pytest.mark.parametrize(
    ("ours", "theirs", "forth", "back", "expected"),
    [
        ("heart attack", "myocardial infarction", ["B:1"], ["A:1"], True),  # both refer to each other
        ("heart attack", "Heart Attack", ["B:1"], [], True),  # one does, of the same name
        ("heart attack", "heart attacks", [], ["A:1"], True),
        ("type 2 diabetes mellitus", "Diabetes Mellitus (Type II)", ["B:1"], [], True),
        ("Sjögren syndrome", "Sjogren's syndrome", ["B:1"], [], True),
        ("heart disease", "disorder of heart", ["B:1"], [], True),
        ("heart attack, infarction", "infarction", ["B:1"], [], True),  # a synonym that is preferred there
        ("heart attack, infarction", "necrosis, infarction", ["B:1"], [], False),  # synonyms alone
        ("heart attack, MI", "MI", ["B:1"], [], False),  # too short to tell
        ("heart attack", "myocardial infarction", ["B:1"], [], False),
        ("heart attack", "heart attack", [], [], False),  # names alone
        ("heart attack", "heart attack", ["B:1", "B:2"], [], True),  # the one of several that is called so
        ("heart attack, infarction", "infarction", ["B:1", "B:2"], [], False),
    ],
)
def test_xrefs(make: Make, ours: str, theirs: str, forth: list[str], back: list[str], expected: bool) -> None:
    a = make("a", {"A:1": ours}, xrefs={"A:1": forth})
    b = make("b", {"B:1": theirs, "B:2": "stroke"}, xrefs={"B:1": back})
    assert joined(merge([a, b])) == (ONE if expected else set())


@pytest.mark.parametrize("kind", ["broad", "narrow", "related", "tradename", "abbreviation"])
def test_other_names_than_preferred_and_exact_ones_count_for_nothing(make: Make, kind: str) -> None:
    a = make("a", {"A:1": f"skin cancer/{kind}"}, xrefs={"A:1": ["B:1"]})
    b = make("b", {"B:1": "skin cancer"})
    assert reasons(merge([a, b])) == {("A:1", "B:1"): "no name in common"}
    assert reasons(merge([b, a])) == {("A:1", "B:1"): "no name in common"}
    # Nor are they a rival's.
    rival = make("a", {"A:1": "skin tumor, skin cancer", "A:2": f"skin cancer/{kind}"}, xrefs={"A:1": ["B:1"]})
    assert joined(merge([rival, b])) == ONE


def test_an_exact_name_stands_in_for_a_preferred_one(make: Make) -> None:
    a = make("a", {"A:1": "skin lesion/broad, skin cancer/exact"}, xrefs={"A:1": ["B:1"]})
    merged = merge([a, make("b", {"B:1": "Skin cancer/exact"})])
    assert joined(merged) == ONE
    assert merged.vocabulary["A:1"].name == "skin cancer"


@pytest.mark.parametrize("shared", ["UMLS:C0027051", "MESH:D009203"])
def test_a_shared_id_joins_what_is_called_the_same(make: Make, shared: str) -> None:
    a = make("a", {"A:1": "heart attack"}, xrefs={"A:1": [shared]})
    same = make("b", {"B:1": "Heart attack"}, xrefs={"B:1": [shared]})
    other = make("b", {"B:1": "coronary disease"}, xrefs={"B:1": [shared]})
    assert joined(merge([a, same])) == ONE
    assert reasons(merge([a, other])) == {("A:1", "B:1"): "no name in common"}


def test_a_synonym_supports_a_shared_cui_only_one_to_one(make: Make) -> None:
    a = make("a", {"A:1": "heart attack, infarction"}, xrefs={"A:1": ["UMLS:C1234567"]})
    b = make("b", {"B:1": "infarction", "B:2": "x"}, xrefs={"B:1": ["C1234567"]})
    crowded = make("b", {"B:1": "infarction", "B:2": "x"}, xrefs={"B:1": ["C1234567"], "B:2": ["C1234567"]})
    assert joined(merge([a, b])) == ONE
    assert joined(merge([a, crowded])) == set()


def test_a_shared_code_of_a_classification_says_nothing(make: Make) -> None:
    a = make("a", {"A:1": "heart attack"}, xrefs={"A:1": ["ICD10:I21"]})
    b = make("b", {"B:1": "heart attack"}, xrefs={"B:1": ["ICD10:I21"]})
    assert joined(merge([a, b])) == set()


def test_the_concept_itself_may_be_the_shared_id(make: Make) -> None:
    umls = make("umls", {"C0027051": "Myocardial infarction"})
    a = make("a", {"A:1": "myocardial infarction"}, xrefs={"A:1": ["UMLS:C0027051"]})
    assert joined(merge([umls, a])) == {frozenset({"C0027051", "A:1"})}


def test_a_mapping_joins_without_names(make: Make, mapped: Map) -> None:
    a, b = make("a", {"A:1": "heart attack"}), make("b", {"B:1": "infarct"})
    assert joined(merge([a, b], [mapped(("a:1", "B:1"))])) == ONE
    assert joined(merge([a, b], [mapped(("A:1", "B:1"), confidence=0.9)])) == ONE
    for unsure in ({"confidence": 0.3}, {"justification": "semapv:LexicalMatching"}):
        assert joined(merge([a, b], [mapped(("A:1", "B:1"), **unsure)])) == set()
    assert joined(merge([a, b], [mapped(("A:1", "oboInOwl:hasDbXref", "B:1"))])) == set()


def test_a_mapping_may_speak_of_ids_without_a_prefix(make: Make, mapped: Map) -> None:
    a, b = make("a", {"I21": "heart attack"}), make("b", {"B:1": "infarct"})
    assert joined(merge([a, b], [mapped(("I21", "B:1"))])) == {frozenset({"I21", "B:1"})}


def test_mappings_meet_at_an_id_that_nobody_holds(make: Make, mapped: Map) -> None:
    a, b = make("a", {"A:1": "heart attack", "A:2": "x"}), make("b", {"B:1": "infarct"})
    hub = mapped(("A:1", "X:9"), ("X:9", "B:1"))
    assert joined(merge([a, b], [hub])) == ONE
    assert merge([a, b], [hub]).vocabulary["A:1"].xrefs == ("X:9", "B:1")
    assert joined(merge([a, b], [hub, mapped(("A:2", "X:9"))])) == set()


@pytest.mark.parametrize(
    ("row", "negated", "reason"),
    [
        (("A:1", "skos:exactMatch", "B:1"), True, "a mapping says not skos:exactMatch"),
        (("B:1", "skos:broadMatch", "A:1"), False, "a mapping says skos:broadMatch"),
    ],
)
def test_a_mapping_can_forbid(make: Make, mapped: Map, row: tuple[str, ...], negated: bool, reason: str) -> None:
    a = make("a", {"A:1": "heart attack"}, xrefs={"A:1": ["B:1"]})
    b = make("b", {"B:1": "heart attack"}, xrefs={"B:1": ["A:1"]})
    merged = merge([a, b], [mapped(row, negated=negated)])
    assert joined(merged) == set()
    assert reasons(merged) == {("A:1", "B:1"): reason}
    # Nor do they meet in a third.
    c = make("c", {"C:1": "heart attack"}, xrefs={"C:1": ["A:1", "B:1"]})
    assert len(joined(merge([a, b, c], [mapped(row, negated=negated)]))) == 1


def test_what_a_broad_match_denies_is_nothing(make: Make, mapped: Map) -> None:
    a, b = make("a", {"A:1": "heart attack"}, xrefs={"A:1": ["B:1"]}), make("b", {"B:1": "heart attack"})
    denied = mapped(("A:1", "skos:broadMatch", "B:1"), negated=True)
    assert joined(merge([a, b], [denied])) == ONE


def test_the_name_of_a_rival_speaks_against(make: Make, mapped: Map) -> None:
    a = make("a", {"A:1": "lung tumor, lung cancer"}, xrefs={"A:1": ["B:1"]})
    b = make("b", {"B:1": "lung cancer"})
    rival = make("a", {"A:1": "lung tumor, lung cancer", "A:2": "lung cancer"}, xrefs={"A:1": ["B:1"]})
    assert joined(merge([a, b])) == ONE
    merged = merge([rival, b], [mapped(("A:1", "B:1"))])
    assert joined(merged) == set()
    assert reasons(merged) == {("A:1", "B:1"): "preferred name is that of another concept"}


def test_two_concepts_of_one_namespace_stay_apart_and_evidence_decides(make: Make, mapped: Map) -> None:
    a, b = make("a", {"A:1": "heart attack", "A:2": "infarct"}), make("b", {"B:1": "infarction"})
    sure, less_sure = mapped(("A:1", "B:1")), mapped(("A:2", "B:1"), confidence=0.9)
    merged = merge([a, b], [less_sure, sure])
    assert joined(merged) == ONE
    assert reasons(merged) == {("A:2", "B:1"): "would join two concepts of A: 1 and 2"}
    one_concept = mapped(("A:1", "A:2"))
    assert joined(merge([a, b], [less_sure, sure, one_concept])) == {frozenset({"A:1", "A:2", "B:1"})}


def test_genes_are_not_their_products(make: Make, mapped: Map) -> None:
    gene = make("hgnc", {"HGNC:1": "insulin"}, xrefs={"HGNC:1": ["NCBIGene:1"]})
    other = make("ncbi", {"NCBIGene:1": "insulin"})
    product = make("mesh", {"MESH:D1": "Insulin"}, xrefs={"MESH:D1": ["HGNC:1"]})
    assert joined(merge([gene, other])) == {frozenset({"HGNC:1", "NCBIGene:1"})}
    assert reasons(merge([gene, product])) == {("HGNC:1", "MESH:D1"): "a gene and something else"}
    assert joined(merge([gene, product], [mapped(("HGNC:1", "MESH:D1"))])) == {frozenset({"HGNC:1", "MESH:D1"})}


def test_xrefs_to_old_ids_are_followed_and_obsolete_concepts_take_no_part(make: Make) -> None:
    b = make(
        "b",
        {"B:1": "heart attack", "B:3": "heart attack"},
        redirects={"B:2": "B:1"},
        obsolete={"B:3": True},
        replaced_by={"B:3": ["B:2"]},
    )
    for old in ("B:1", "B:2", "B:3"):
        a = make("a", {"A:1": "heart attack"}, xrefs={"A:1": [old]})
        assert joined(merge([a, b])) == ONE
