"""Mentions of genes and proteins, with what is said beside their names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.text.english.readings import has_symbol_type, readings


@pytest.mark.parametrize(
    ("mention", "text", "left_out"),
    [
        ("human TP53", "TP53", ("human",)),
        ("Mus musculus Tnf", "Tnf", ("Mus musculus",)),
        ("hTERT", "TERT", ("h",)),
        ("p-ERK", "ERK", ("p-",)),
        ("p53 protein", "p53", ("protein",)),
        ("BRCA1 gene", "BRCA1", ("gene",)),
        ("proto-oncogene c-Myc", "c-Myc", ("proto-oncogene",)),
        ("insulin receptor (INSR)", "insulin receptor", ("INSR",)),
        ("insulin receptor (INSR)", "INSR", ("insulin receptor",)),
        ("TFs", "TF", ()),
        ("MEKs", "MEK", ()),
        ("Cyclin-Ds", "Cyclin-D", ()),
        ("hK-FGF", "K-FGF", ("h",)),
        ("BRAF V600E", "BRAF", ("V600E",)),
        ("BRAF(V600E)", "BRAF", ("V600E",)),
        ("BRAFV600E", "BRAF", ("V600E",)),
        ("V600E BRAF", "BRAF", ("V600E",)),
        ("p.Val600Glu BRAF", "BRAF", ("p.Val600Glu",)),
        ("EGFR p.Leu858Arg", "EGFR", ("p.Leu858Arg",)),
        ("CFTR ΔF508", "CFTR", ("ΔF508",)),
        ("p53 isoform 2", "p53", ("isoform 2",)),
        ("wild-type p53", "p53", ("wild-type",)),
        ("human KRAS G12D protein", "KRAS", ("human", "G12D", "protein")),
    ],
)
def test_what_is_said_beside_a_name_is_left_out(mention: str, text: str, left_out: tuple[str, ...]) -> None:
    found = {reading.text: sorted(reading.left_out) for reading in readings(mention)}
    assert found[text] == sorted(left_out)


@pytest.mark.parametrize("mention", ["", "TP53", "heart attack", "mRNA", "rDNA", "as", "gene", "x" * 90 + " gene"])
def test_names_alone_have_no_readings(mention: str) -> None:
    assert list(readings(mention)) == []


def test_what_is_in_brackets_is_the_last_that_is_taken_for_the_name() -> None:
    assert [reading.text for reading in readings("rat nsp2 (SARS2)")][:3] == ["nsp2 (SARS2)", "rat nsp2", "SARS2"]


def test_a_head_is_told_from_other_parts() -> None:
    assert [reading.head for reading in readings("VHL gene")] == [True]
    assert [reading.head for reading in readings("human VHL")] == [False]


@pytest.mark.parametrize(
    ("semantic_type", "expected"),
    [
        ("gene: protein-coding", True),
        ("protein family or complex", True),
        ("T116", True),
        ("disease", False),
        ("generic", False),
    ],
)
def test_types_of_genes_and_proteins(semantic_type: str, expected: bool) -> None:
    assert has_symbol_type(semantic_type) == expected


@given(st.text(max_size=60))
def test_readings_are_parts_of_the_mention(mention: str) -> None:
    for reading in readings(mention):
        assert reading.text in mention
        assert reading.text != mention
        assert all(part in mention for part in reading.left_out)
