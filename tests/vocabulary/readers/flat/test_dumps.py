"""NCBI Taxonomy and MedDRA, on files in the layout of the releases."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.core.registry import find_format
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers import VOCABULARY_FORMATS
from nymlink.vocabulary.tables import Tables


def _dmp(*rows: str) -> str:
    return "".join(row.replace("~", "\t|\t") + "\t|\n" for row in rows)


NODES = [(1, 1, "no rank"), (9605, 1, "genus"), (9606, 9605, "species"), (10239, 1, "acellular root")]
TAXONOMY = {
    "names.dmp": _dmp(
        "1~root~~scientific name",
        "9605~Homo~~scientific name",
        "9605~Homo Linnaeus, 1758~~authority",
        "9606~human~~genbank common name",
        "9606~Homo sapiens~~scientific name",
        "10239~Viruses~~scientific name",
        "10239~Vira~Vira <Viruses>~synonym",
        "10239~HIV~~acronym",
        "10239~phages~~in-part",
    ),
    "nodes.dmp": _dmp(*(f"{taxon}~{parent}~{rank}~~0~1~1~1~0~1~0~0~" for taxon, parent, rank in NODES)),
    "merged.dmp": _dmp("63221~9606", "12~9605"),
    "delnodes.dmp": _dmp("5"),
    "readme.txt": "names.dmp holds names\n",
}


def _folder(folder: Path) -> Path:
    for name, text in TAXONOMY.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def _tar(folder: Path) -> Path:
    path = folder / "taxdump.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name, text in TAXONOMY.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return path


def _zip(folder: Path) -> Path:
    path = folder / "taxdmp.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in TAXONOMY.items():
            archive.writestr(name, text)
    return path


def _read(path: Path, name: str, problems: Problems | None = None) -> Tables:
    reader = find_format(VOCABULARY_FORMATS, path)
    assert reader.name == name
    return reader.read(path, options=ReadOptions(), problems=problems if problems is not None else Problems())


def test_nodes_with_further_columns(tmp_path: Path) -> None:
    folder = _folder(tmp_path)
    expected = _read(folder, "ncbi-taxonomy")
    nodes = (f"{taxon}~{parent}~{rank}~~0~1~1~1~0~1~0~0~~~0~0~1~0" for taxon, parent, rank in NODES)
    (folder / "nodes.dmp").write_text(_dmp(*nodes), encoding="utf-8")
    problems = Problems()
    found = _read(folder, "ncbi-taxonomy", problems)
    assert problems.count == 0
    assert found.concepts.equals(expected.concepts)


@pytest.mark.parametrize("make", [_folder, _tar, _zip])
def test_ncbi_taxonomy(tmp_path: Path, make: object) -> None:
    assert callable(make)
    tables = _read(make(tmp_path), "ncbi-taxonomy")
    assert {row["id"]: (row["semantic_types"], row["parents"]) for row in tables.concepts.to_pylist()} == {
        "NCBITaxon:1": (["no rank"], []),
        "NCBITaxon:9605": (["genus"], ["NCBITaxon:1"]),
        "NCBITaxon:9606": (["species"], ["NCBITaxon:9605"]),
        "NCBITaxon:10239": (["acellular root"], ["NCBITaxon:1"]),
    }
    assert [(row["concept_id"], row["text"], row["kind"]) for row in tables.names.to_pylist()] == [
        ("NCBITaxon:1", "root", "preferred"),
        ("NCBITaxon:9605", "Homo", "preferred"),
        ("NCBITaxon:9606", "human", "exact"),
        ("NCBITaxon:9606", "Homo sapiens", "preferred"),
        ("NCBITaxon:10239", "Viruses", "preferred"),
        ("NCBITaxon:10239", "Vira", "exact"),
        ("NCBITaxon:10239", "HIV", "abbreviation"),
        ("NCBITaxon:10239", "phages", "broad"),
    ]
    assert {row["old"]: row["new"] for row in tables.redirects.to_pylist()} == {
        "NCBITaxon:63221": "NCBITaxon:9606",
        "NCBITaxon:12": "NCBITaxon:9605",
    }


def test_a_broken_row_in_an_archive_names_the_archive(tmp_path: Path) -> None:
    path = tmp_path / "taxdmp.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("names.dmp", TAXONOMY["names.dmp"] + "x\t|\n")
        archive.writestr("nodes.dmp", TAXONOMY["nodes.dmp"])
    problems = Problems()
    _read(path, "ncbi-taxonomy", problems)
    assert [(Path(problem.path), problem.line) for problem in problems.first] == [(path / "names.dmp", 10)]


def test_a_truncated_archive_is_an_error(tmp_path: Path) -> None:
    path = _tar(tmp_path)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(InputError):
        VOCABULARY_FORMATS.get("ncbi-taxonomy").read(path, options=ReadOptions(), problems=Problems())


MEDDRA = {
    "soc.asc": "10007541$Cardiac disorders$Card$$$$$$$$\n",
    "hlgt.asc": "10011082$Coronary artery disorders$$$$$$$$\n",
    "hlt.asc": "10011085$Ischaemic coronary artery disorders$$$$$$$$\n",
    "pt.asc": "10028596$Myocardial infarction$$10007541$$$$$$$$\n",
    "llt.asc": "10028596$Myocardial infarction$10028596$$$$$$$Y$$\n"
    "10019250$Heart attack$10028596$$$$$$$Y$$\n10027111$Infarct heart NOS$10028596$$$$$$$N$$\n",
    "meddra_release.asc": "27.0$English$$$$\n",
}
LINKS = {
    "soc_hlgt.asc": "10007541$10011082$\n",
    "hlgt_hlt.asc": "10011082$10011085$\n",
    "hlt_pt.asc": "10011085$10028596$\n",
}
HIERARCHY = {
    "mdhier.asc": "10028596$10011085$10011082$10007541$Myocardial infarction$Ischaemic coronary artery disorders"
    "$Coronary artery disorders$Cardiac disorders$Card$$10007541$Y$\n"
}


@pytest.mark.parametrize("hierarchy", [LINKS, HIERARCHY], ids=["links", "mdhier"])
@pytest.mark.parametrize("inner", ["", "MedAscii"])
def test_meddra(tmp_path: Path, hierarchy: dict[str, str], inner: str) -> None:
    folder = tmp_path / inner
    folder.mkdir(exist_ok=True)
    for name, text in (MEDDRA | hierarchy).items():
        (folder / name).write_text(text, encoding="utf-8")
    problems = Problems()
    tables = _read(tmp_path, "meddra", problems)
    assert problems.to_dict()["first"] == []
    assert tables.version == "27.0"
    assert {
        row["id"].removeprefix("MEDDRA:"): (row["semantic_types"], row["parents"], row["replaced_by"])
        for row in tables.concepts.to_pylist()
    } == {
        "10007541": (["SOC"], [], []),
        "10011082": (["HLGT"], ["MEDDRA:10007541"], []),
        "10011085": (["HLT"], ["MEDDRA:10011082"], []),
        "10028596": (["PT"], ["MEDDRA:10011085"], []),
        "10019250": (["LLT"], ["MEDDRA:10028596"], []),
        "10027111": (["LLT"], ["MEDDRA:10028596"], ["MEDDRA:10028596"]),
    }
    assert [row["obsolete"] for row in tables.concepts.to_pylist()] == [False] * 5 + [True]
    assert {row["kind"] for row in tables.names.to_pylist()} == {"preferred"}
    assert len(tables.names) == 6
