"""ICD-10-CM's tabular list and ICD-11's simple tabulation, in their published layouts."""

from __future__ import annotations

import csv
import xml.etree.ElementTree as ET
from pathlib import Path

import openpyxl

from nymlink.core.problems import Problems
from nymlink.core.registry import find_format
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers import VOCABULARY_FORMATS
from nymlink.vocabulary.tables import Tables

TABULAR = """\
<?xml version="1.0" encoding="utf-8"?>
<ICD10CM.tabular>
  <version>2025</version>
  <title>ICD-10-CM TABULAR LIST of DISEASES and INJURIES</title>
  <introduction><introSection type="title"><title>Code First</title></introSection></introduction>
  <chapter>
    <name>19</name>
    <desc>Injury, poisoning and certain other consequences of external causes (S00-T88)</desc>
    <note>Use secondary code(s) from Chapter 20</note>
    <sectionIndex><sectionRef first="S00" last="S09" id="S00-S09">Injuries to the head</sectionRef></sectionIndex>
    <section id="S00-S09">
      <desc>Injuries to the head (S00-S09)</desc>
      <includes><note>injuries of ear</note></includes>
      <diag>
        <name>S00</name>
        <desc>Superficial injury of head</desc>
        <sevenChrNote><note>The appropriate 7th character is to be added</note></sevenChrNote>
        <sevenChrDef>
          <extension char="A">initial encounter</extension>
          <extension char="D">subsequent encounter</extension>
        </sevenChrDef>
        <diag><name>S00.0</name><desc>Superficial injury of scalp</desc>
          <diag><name>S00.00</name><desc>Unspecified superficial injury of scalp</desc></diag>
          <diag><name>S00.01</name><desc>Abrasion of scalp</desc>
            <inclusionTerm><note>Scalp graze</note></inclusionTerm>
            <sevenChrDef><extension char="S">sequela</extension></sevenChrDef></diag>
        </diag>
        <diag placeholder="true"><name>S00.9X1</name><desc>A code of six characters</desc></diag>
      </diag>
    </section>
  </chapter>
</ICD10CM.tabular>
"""
ICD11_HEADER = (
    "Foundation URI\tLinearization URI\tCode\tBlockId\tTitle\tTitleEN\tClassKind\tDepthInKind\tIsResidual\t"
    "ChapterNo\tBrowserLink\tisLeaf\tPrimary tabulation\tGrouping1\tVersion:2025 Jan 19 - 18:13 UTC"
)


def _row(entity: str, code: str, block: str, title: str, english: str, kind: str, depth: int) -> str:
    mms = f"http://id.who.int/icd/release/11/2025-01/mms/{entity}"
    foundation = "" if "/" in entity else f"http://id.who.int/icd/entity/{entity}"
    cells = (foundation, mms, code, block, f'"{title}"', f'"{english}"', kind, depth, "False", "01", "browser")
    return "\t".join(map(str, (*cells, "False", "True", block)))


ICD11 = "\r\n".join(
    [
        ICD11_HEADER,
        _row("1435254666", "", "", "Maladies infectieuses", "Infectious diseases", "chapter", 1),
        _row("588616678", "", "BlockL1-1A0", "- Gastroentérite", "- Gastroenteritis", "block", 1),
        _row("135352227", "", "BlockL2-1A0", "- - Infections bactériennes", "- - Bacterial", "block", 2),
        _row("257068234", "1A00", "", "- - - Choléra", "- - - Cholera", "category", 1),
        _row("257068234/other", "1A0Y", "", "- - Autres", "- - Other", "category", 1),
        _row("1334938734", "", "", "Tumeurs", "Neoplasms", "chapter", 1),
        "",
    ]
)


def read(path: Path, text: str, name: str, lang: str = "en") -> Tables:
    path.write_text(text, encoding="utf-8-sig", newline="")
    problems = Problems()
    reader = find_format(VOCABULARY_FORMATS, path)
    assert reader.name == name
    tables = reader.read(path, options=ReadOptions(lang=lang), problems=problems)
    assert problems.count == 0
    return tables


def names(tables: Tables) -> set[tuple[str, str, str]]:
    return {(row["concept_id"], row["text"], row["kind"]) for row in tables.names.to_pylist()}


def test_tabular_list(tmp_path: Path) -> None:
    tables = read(tmp_path / "x", TABULAR, "icd10cm-tabular")
    concepts = {row["id"].removeprefix("ICD10CM:"): row for row in tables.concepts.to_pylist()}
    diags = [diag.findtext("name") for diag in ET.fromstring(TABULAR).iter("diag")]
    assert set(concepts) == {
        "S00-T88",
        "S00-S09",
        *diags,
        "S00.00XA",
        "S00.00XD",
        "S00.01XS",
        "S00.9X1A",
        "S00.9X1D",
    }
    assert concepts["S00-S09"]["parents"] == ["ICD10CM:S00-T88"]
    assert concepts["S00"]["parents"] == ["ICD10CM:S00-S09"]
    assert concepts["S00.00XA"]["parents"] == ["ICD10CM:S00.00"]
    assert tables.version == "2025"
    assert names(tables) >= {
        ("ICD10CM:S00-S09", "Injuries to the head", "preferred"),
        ("ICD10CM:S00.01", "Scalp graze", "narrow"),
        ("ICD10CM:S00.01XS", "Abrasion of scalp, sequela", "preferred"),
    }


def test_icd11(tmp_path: Path) -> None:
    tables = read(tmp_path / "x", ICD11, "icd11", lang="fr")
    concepts = {row["id"].removeprefix("ICD11:"): row for row in tables.concepts.to_pylist()}
    rows = list(csv.DictReader(ICD11.splitlines(), delimiter="\t"))
    assert len(concepts) == len(rows)
    assert set(concepts) == {"1435254666", "BlockL1-1A0", "BlockL2-1A0", "1A00", "1A0Y", "1334938734"}
    assert concepts["1A00"]["parents"] == ["ICD11:BlockL2-1A0"]
    assert concepts["1A0Y"]["parents"] == ["ICD11:BlockL1-1A0"]
    assert concepts["1334938734"]["parents"] == []
    assert concepts["1A00"]["semantic_types"] == ["category"]
    assert [xref.endswith("257068234") for xref in concepts["1A00"]["xrefs"]] == [True]
    assert concepts["1A0Y"]["xrefs"] == []
    languages = {(row["concept_id"], row["text"], row["lang"], row["kind"]) for row in tables.names.to_pylist()}
    assert len(languages) == 2 * len(rows)
    assert ("ICD11:1A00", "Choléra", "fr", "preferred") in languages
    assert ("ICD11:1A00", "Cholera", "en", "preferred") in languages
    assert tables.version == "2025 Jan 19 - 18:13 UTC"


def test_icd11_in_a_workbook(tmp_path: Path) -> None:
    expected = read(tmp_path / "x", ICD11, "icd11", lang="fr")
    book = openpyxl.Workbook()
    for row in csv.reader(ICD11.splitlines(), delimiter="\t"):
        book.active.append([{"": None, "False": False, "True": True}.get(cell, cell) for cell in row])
    book.save(path := tmp_path / "SimpleTabulation-ICD-11-MMS-fr.xlsx")
    problems = Problems()
    tables = find_format(VOCABULARY_FORMATS, path).read(path, options=ReadOptions(lang="fr"), problems=problems)
    assert (tables.concepts, tables.names, tables.version) == (expected.concepts, expected.names, expected.version)
    assert problems.count == 0
