"""HGNC's complete set, on a small table of its columns."""

from __future__ import annotations

from pathlib import Path

import pytest

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.core.registry import find_format
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers import VOCABULARY_FORMATS
from nymlink.vocabulary.readers.tables.known_columns import HGNC

HEADER = (
    "hgnc_id symbol name locus_group locus_type status location alias_symbol alias_name prev_symbol prev_name "
    "entrez_id ensembl_gene_id uniprot_ids omim_id".replace(" ", "\t")
)
TP53 = [
    *("HGNC:11998", "TP53", "tumor protein p53", "protein-coding gene", "gene with protein product", "Approved"),
    *(
        "17p13.1",
        '"p53|LFS1"',
        "Li-Fraumeni syndrome",
        "TRP53",
        "",
        "7157",
        "ENSG00000141510",
        "P04637|Q1",
        "191170",
    ),
]
GONE = ["HGNC:2", "A1", "", "", "", "Entry Withdrawn", *[""] * 9]


def test_reads_genes(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_text("\n".join([HEADER, "\t".join(TP53), "HGNC:3\tshort", "\t".join(GONE)]), encoding="utf-8")
    assert find_format(VOCABULARY_FORMATS, path).name == "hgnc"
    problems = Problems()
    tables = HGNC.read(path, options=ReadOptions(), problems=problems)
    assert [(problem.line, problem.rejected) for problem in problems.first] == [(3, True)]
    gene, gone = tables.concepts.to_pylist()
    assert gene["id"] == "HGNC:11998"
    assert gene["semantic_types"] == ["gene with protein product"]
    assert gene["xrefs"] == [
        "NCBIGene:7157",
        "ENSEMBL:ENSG00000141510",
        "UniProtKB:P04637",
        "UniProtKB:Q1",
        "OMIM:191170",
    ]
    assert not gene["obsolete"]
    assert gone["obsolete"]
    assert [(row["text"], row["kind"]) for row in tables.names.to_pylist()] == [
        ("TP53", "preferred"),
        ("tumor protein p53", "exact"),
        ("p53", "exact"),
        ("LFS1", "exact"),
        ("Li-Fraumeni syndrome", "exact"),
        ("TRP53", "exact"),
        ("A1", "preferred"),
    ]


def test_another_table_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_text("hgnc_id\tsymbol\nHGNC:1\tA\n", encoding="utf-8")
    with pytest.raises(InputError, match="alias_symbol"):
        HGNC.read(path, options=ReadOptions(), problems=Problems())
