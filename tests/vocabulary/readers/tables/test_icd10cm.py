"""ICD-10-CM order files, on lines of the published widths."""

from __future__ import annotations

from pathlib import Path

from nymlink.core.problems import Problems
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers.icd import ICD10CM

LINES = [
    f"00001 A00     0 {'Cholera':<60} Cholera",
    f"00002 A000    1 {'Cholera due to V cholerae 01, biovar':<60} Cholera due to Vibrio cholerae 01, biovar c.",
    f"00003 A000    2 {'Cholera':<60} neither billable nor not",
    "00004 A001    1 too short",
    f"00005 T3695XA 1 {'Adverse effect of antibiotic, init':<60} Adverse effect of an antibiotic, initial",
    f"00006 U07     1 {'':<60} Emergency use",
]


def test_reads_codes(tmp_path: Path) -> None:
    path = tmp_path / "icd10cm_order_2024.txt"
    path.write_text("\n".join(LINES), encoding="utf-8")
    problems = Problems()
    tables = ICD10CM.read(path, options=ReadOptions(), problems=problems)
    assert [(problem.line, problem.rejected) for problem in problems.first] == [(3, True), (4, True)]
    assert [(row["id"], row["parents"]) for row in tables.concepts.to_pylist()] == [
        ("ICD10CM:A00", []),
        ("ICD10CM:A00.0", ["ICD10CM:A00"]),
        ("ICD10CM:T36.95XA", []),
        ("ICD10CM:U07", []),
    ]
    assert [(row["text"], row["kind"]) for row in tables.names.to_pylist()] == [
        ("Cholera", "preferred"),
        ("Cholera due to Vibrio cholerae 01, biovar c.", "preferred"),
        ("Cholera due to V cholerae 01, biovar", "exact"),
        ("Adverse effect of an antibiotic, initial", "preferred"),
        ("Adverse effect of antibiotic, init", "exact"),
        ("Emergency use", "preferred"),
    ]
