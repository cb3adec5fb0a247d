"""CTD's vocabularies as CSV, TSV and XML."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.core.registry import find_format
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers import VOCABULARY_FORMATS
from nymlink.vocabulary.readers.tables.terminologies import CTD
from nymlink.vocabulary.tables import Tables

DISEASES = (
    "DiseaseName DiseaseID AltDiseaseIDs Definition ParentIDs TreeNumbers ParentTreeNumbers Synonyms "
    "SlimMappings".split()
)
CHEMICALS = (
    "ChemicalName ChemicalID CasRN PubChemCID Definition ParentIDs TreeNumbers ParentTreeNumbers "
    "MESHSynonyms Synonyms".split()
)
DISEASE_ROWS = [
    [
        "10p Deletion Syndrome (Partial)",
        "MESH:C538288",
        "DO:DOID:0111|OMIM:601362|MESH:D002872",
        'A "partial" deletion, rare.',
        "MESH:D002872|MESH:D025063",
        "C16.131.260/C538288",
        "C16.131.260",
        "Chromosome 10, 10p- Partial|Monosomy 10p",
        "Congenital abnormality|Genetic disease (inborn)",
    ],
    ["Chromosome Deletion", "MESH:D002872", "", "", "", "C23.550|G05.365", "C23", "", ""],
]
CHEMICAL_ROWS = [
    ["Ricin", "MESH:D012276", "9009-86-3", "123", "", "MESH:D1", "D12.776|D09.400", "D12", "", "RCA 60"]
]


def write(path: Path, headers: list[str], rows: list[list[str]], delimiter: str) -> Path:
    lines = io.StringIO()
    csv.writer(lines, delimiter=delimiter, lineterminator="\n").writerows(rows)
    text = f"# Report created: Mon\n#\n# Fields:\n# {delimiter.join(headers)}\n#\n" + lines.getvalue()
    path.write_text(text, encoding="utf-8")
    return path


def write_xml(path: Path, headers: list[str], rows: list[list[str]]) -> Path:
    text = '<?xml version="1.0" encoding="UTF-8"?>\n<Results>\n'
    for row in rows:
        fields = (f"<{header}>{value}</{header}>" for header, value in zip(headers, row, strict=True) if value)
        text += "<Row>\n" + "\n".join(fields) + "\n</Row>\n"
    path.write_text(text + "</Results>\n", encoding="utf-8")
    return path


def read(path: Path, problems: Problems | None = None) -> Tables:
    return CTD.read(path, options=ReadOptions(), problems=problems or Problems())


@pytest.mark.parametrize("form", [",", "\t", "xml"])
def test_reads_diseases(tmp_path: Path, form: str) -> None:
    path = tmp_path / "file"
    path = write_xml(path, DISEASES, DISEASE_ROWS) if form == "xml" else write(path, DISEASES, DISEASE_ROWS, form)
    assert find_format(VOCABULARY_FORMATS, path).name == "ctd"
    problems = Problems()
    tables = read(path, problems)
    assert problems.count == 0
    first, second = tables.concepts.to_pylist()
    assert first == {
        "id": "MESH:C538288",
        "definition": 'A "partial" deletion, rare.',
        "semantic_types": ["Congenital abnormality", "Genetic disease (inborn)"],
        "xrefs": ["DOID:0111"],
        "parents": ["MESH:D002872", "MESH:D025063"],
        "obsolete": False,
        "replaced_by": [],
    }
    assert second["semantic_types"] == ["C", "G"]
    # An id that is a concept itself is nobody's alternate.
    assert tables.redirects.to_pylist() == [{"old": "OMIM:601362", "new": "MESH:C538288"}]
    assert [(row["text"], row["kind"]) for row in tables.names.to_pylist()] == [
        ("10p Deletion Syndrome (Partial)", "preferred"),
        ("Chromosome 10, 10p- Partial", "exact"),
        ("Monosomy 10p", "exact"),
        ("Chromosome Deletion", "preferred"),
    ]


@pytest.mark.parametrize("form", [",", "\t", "xml"])
def test_reads_chemicals(tmp_path: Path, form: str) -> None:
    path = tmp_path / "file"
    path = (
        write_xml(path, CHEMICALS, CHEMICAL_ROWS) if form == "xml" else write(path, CHEMICALS, CHEMICAL_ROWS, form)
    )
    assert find_format(VOCABULARY_FORMATS, path).name == "ctd"
    tables = read(path)
    [ricin] = tables.concepts.to_pylist()
    assert ricin["xrefs"] == ["CAS:9009-86-3", "PUBCHEM.COMPOUND:123"]
    assert ricin["semantic_types"] == ["D"]
    assert tables.names["text"].to_pylist() == ["Ricin", "RCA 60"]


@pytest.mark.parametrize("form", [",", "\t", "xml"])
def test_reads_chemicals_of_2026(tmp_path: Path, form: str) -> None:
    headers = (
        "ChemicalName ChemicalID CasRN PubChemCID PubChemSID DTXSID InChIKey Definition ParentIDs TreeNumbers "
        "ParentTreeNumbers MESHSynonyms CTDCuratedSynonyms".split()
    )
    cells = ["Ricin", "MESH:D012276", "9009-86-3", "CID:2836600", "SID:252090125", "", "", "", "", "D12.776"]
    rows = [[*cells, "D12", "RCA 60|ricinus toxin", "RCA 60|ricine"]]
    path = tmp_path / "file"
    path = write_xml(path, headers, rows) if form == "xml" else write(path, headers, rows, form)
    assert find_format(VOCABULARY_FORMATS, path).name == "ctd"
    tables = read(path)
    [ricin] = tables.concepts.to_pylist()
    assert ricin["xrefs"] == ["CAS:9009-86-3", "PUBCHEM.COMPOUND:2836600", "PUBCHEM.SUBSTANCE:252090125"]
    assert tables.names["text"].to_pylist() == ["Ricin", "RCA 60", "ricinus toxin", "ricine"]


def test_associations_are_no_vocabulary(tmp_path: Path) -> None:
    headers = ["ChemicalName", "ChemicalID", "DiseaseName", "DiseaseID"]
    path = write(tmp_path / "file", headers, [["Ricin", "MESH:D1", "Pain", "MESH:D2"]], ",")
    with pytest.raises(InputError, match="columns"):
        read(path)


def test_rows_of_the_wrong_width_are_reported(tmp_path: Path) -> None:
    path = write(
        tmp_path / "file", DISEASES, [*DISEASE_ROWS, ["Pain", "MESH:D3"], ["", "MESH:D4", *[""] * 7]], "\t"
    )
    problems = Problems()
    assert len(read(path, problems).concepts) == 2
    assert [(problem.line, problem.rejected) for problem in problems.first] == [(8, True), (9, True)]
