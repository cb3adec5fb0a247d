"""One key for every spelling of an id."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.vocabulary.merge.identifiers import canonical


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("mesh:D009203", "MSH:D009203"),
        ("SCTID:22298006", "SNOMEDCT_US:22298006"),
        ("UMLS_CUI:C0027051", "C0027051"),
        ("ORPHA:558", "Orphanet:558"),
        ("NCI:C27996", "NCIT:C27996"),
        ("HGNC:HGNC:5", "HGNC:5"),
        ("MIM:114480", "OMIM:114480"),
        ("OMIM:PS114480", "OMIMPS:114480"),
        ("pubchem.compound:2244", "PUBCHEM:2244"),
        ("GeneID:7157", "NCBIGene:7157"),
    ],
)
def test_spellings_of_one_id_have_one_key(one: str, other: str) -> None:
    assert canonical(one) == canonical(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ICD10:I21", "ICD10CM:I21"),
        ("OMIM:114480", "OMIMPS:114480"),
        ("HGNC:5", "HGNC.GENEGROUP:5"),
        ("X:a", "X:A"),
        ("http://a.org/x#1", "http://a.org/y#1"),
    ],
)
def test_other_ids_have_other_keys(one: str, other: str) -> None:
    assert canonical(one) != canonical(other)


def test_ids_without_a_prefix_belong_to_their_source() -> None:
    assert canonical("I21", "icd") != canonical("I21", "mine")
    assert canonical("I21", "icd") != canonical("icd:I21")


@given(st.text(max_size=20), st.text(max_size=5))
def test_any_id_has_a_key(concept_id: str, source: str) -> None:
    namespace, local = canonical(concept_id, source)
    assert isinstance(namespace, str)
    assert local in concept_id
