"""LOINC's release folder and the flat file of the NCI Thesaurus, in their published layouts."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from nymlink.core.problems import Problems
from nymlink.core.registry import find_format
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers import VOCABULARY_FORMATS
from nymlink.vocabulary.tables import Tables

HEADERS = (
    "LOINC_NUM COMPONENT PROPERTY TIME_ASPCT SYSTEM SCALE_TYP METHOD_TYP CLASS VersionLastChanged CHNG_TYPE "
    "DefinitionDescription STATUS CONSUMER_NAME CLASSTYPE FORMULA EXMPL_ANSWERS SURVEY_QUEST_TEXT "
    "SURVEY_QUEST_SRC UNITSREQUIRED RELATEDNAMES2 SHORTNAME ORDER_OBS HL7_FIELD_SUBFIELD_ID "
    "EXTERNAL_COPYRIGHT_NOTICE EXAMPLE_UNITS "
    "LONG_COMMON_NAME EXAMPLE_UCUM_UNITS STATUS_REASON STATUS_TEXT CHANGE_REASON_PUBLIC COMMON_TEST_RANK "
    "COMMON_ORDER_RANK HL7_ATTACHMENT_STRUCTURE EXTERNAL_COPYRIGHT_LINK PanelType AskAtOrderEntry "
    "AssociatedObservations VersionFirstReleased ValidHL7AttachmentRequest DisplayName"
).split()
VARIANT = [*HEADERS[:8], "SHORTNAME", "LONG_COMMON_NAME", "RELATEDNAMES2", "LinguisticVariantDisplayName"]
AXES = {"PROPERTY": "MCnc", "TIME_ASPCT": "Pt", "SYSTEM": "Bld", "SCALE_TYP": "Qn", "CLASS": "HEM/BC"}
HEMOGLOBIN = {
    **AXES,
    "LOINC_NUM": "718-7",
    "COMPONENT": "Hemoglobin",
    "VersionLastChanged": "2.78",
    "DefinitionDescription": 'Mass of "hemoglobin",\nby volume.',
    "STATUS": "ACTIVE",
    "RELATEDNAMES2": "Hb; HGB; Point in time",
    "SHORTNAME": "Hgb Bld-mCnc",
    "LONG_COMMON_NAME": "Hemoglobin [Mass/volume] in Blood",
    "DisplayName": "Hemoglobin (Bld) [Mass/Vol]",
}
OLD = {
    "LOINC_NUM": "1-8",
    "STATUS": "DEPRECATED",
    "LONG_COMMON_NAME": "Old haemoglobin",
    "VersionLastChanged": "2.9",
}
FRENCH = {
    **AXES,
    "LOINC_NUM": "718-7",
    "COMPONENT": "Hémoglobine",
    "LONG_COMMON_NAME": "Hémoglobine [Masse/Volume] Sang",
}
PARTS = ["PartNumber", "PartTypeName", "PartName", "PartDisplayName", "Status"]
TREE = ["PATH_TO_ROOT", "SEQUENCE", "IMMEDIATE_PARENT", "CODE", "CODE_TEXT"]


def table(headers: list[str], *rows: dict[str, str]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, headers, quoting=csv.QUOTE_ALL, lineterminator="\r\n", restval="")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


FILES = {
    "LoincTable/Loinc.csv": table(HEADERS, HEMOGLOBIN, OLD),
    "LoincTable/MapTo.csv": table(["LOINC", "MAP_TO", "COMMENT"], {"LOINC": "1-8", "MAP_TO": "718-7"}),
    "AccessoryFiles/PartFile/Part.csv": table(
        PARTS, dict(zip(PARTS, ("LP14449-0", "COMPONENT", "Hemoglobin", "Hemoglobin part", "ACTIVE"), strict=True))
    ),
    "AccessoryFiles/ConsumerName/ConsumerName.csv": table(
        ["LoincNumber", "ConsumerName"], {"LoincNumber": "718-7", "ConsumerName": "Hemoglobin, Blood"}
    ),
    "AccessoryFiles/ComponentHierarchyBySystem/ComponentHierarchyBySystem.csv": table(
        TREE, dict(zip(TREE, ("LP29693-6", "1", "LP14449-0", "718-7", "Hgb Bld"), strict=True))
    ),
    "AccessoryFiles/LinguisticVariants/frFR18LinguisticVariant.csv": table(VARIANT, FRENCH),
}


def read(path: Path, name: str, languages: set[str] | None = None) -> Tables:
    problems = Problems()
    reader = find_format(VOCABULARY_FORMATS, path)
    assert reader.name == name
    options = ReadOptions(languages=frozenset(languages) if languages else None)
    tables = reader.read(path, options=options, problems=problems)
    assert problems.count == 0
    return tables


def names(tables: Tables, id_: str) -> set[tuple[str, str, str]]:
    return {(r["text"], r["lang"], r["kind"]) for r in tables.names.to_pylist() if r["concept_id"] == id_}


ENGLISH = {
    ("Hemoglobin [Mass/volume] in Blood", "en", "preferred"),
    ("Hemoglobin:MCnc:Pt:Bld:Qn", "en", "exact"),
    ("Hemoglobin (Bld) [Mass/Vol]", "en", "exact"),
    ("Hgb Bld-mCnc", "en", "abbreviation"),
    ("Hb", "en", "related"),
    ("HGB", "en", "related"),
    ("Point in time", "en", "related"),
    ("Hemoglobin", "en", "broad"),
}


def test_loinc_folder(tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / "Loinc_2.78" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "Loinc_2.78" / name).write_text(text, encoding="utf-8", newline="")
    for folder in (tmp_path, tmp_path / "Loinc_2.78"):
        tables = read(folder, "loinc")
        concepts = {row["id"]: row for row in tables.concepts.to_pylist()}
        assert set(concepts) == {"LOINC:718-7", "LOINC:1-8", "LOINC:LP14449-0"}
        assert concepts["LOINC:718-7"]["definition"] == 'Mass of "hemoglobin",\nby volume.'
        assert concepts["LOINC:718-7"]["semantic_types"] == ["HEM/BC"]
        assert concepts["LOINC:718-7"]["parents"] == ["LOINC:LP14449-0"]
        assert (concepts["LOINC:1-8"]["obsolete"], concepts["LOINC:1-8"]["replaced_by"]) == (True, ["LOINC:718-7"])
        assert tables.version == "2.78"
        assert names(tables, "LOINC:718-7") == ENGLISH | {
            ("Hemoglobin, Blood", "en", "related"),
            ("Hémoglobine [Masse/Volume] Sang", "fr-FR", "preferred"),
            ("Hémoglobine:MCnc:Pt:Bld:Qn", "fr-FR", "exact"),
            ("Hémoglobine", "fr-FR", "broad"),
        }
    assert {row[1] for row in names(read(tmp_path, "loinc", {"fr"}), "LOINC:718-7")} == {"fr-FR"}


def test_loinc_tables_alone(tmp_path: Path) -> None:
    for name in ("LoincTable/Loinc.csv", "AccessoryFiles/LinguisticVariants/frFR18LinguisticVariant.csv"):
        (tmp_path / Path(name).name).write_text(FILES[name], encoding="utf-8", newline="")
    assert names(read(tmp_path / "Loinc.csv", "loinc"), "LOINC:718-7") == ENGLISH
    french = read(tmp_path / "frFR18LinguisticVariant.csv", "loinc")
    assert ("Hémoglobine", "fr-FR", "broad") in names(french, "LOINC:718-7")


_IRI = "<http://ncicb.nci.nih.gov/xml/owl/EVS/Thesaurus.owl#{}>"
SYNONYMS = 'Melanoma|MELANOMA, MALIGNANT|Cutaneous "black" tumor'
ROWS = [
    [
        "C3224",
        _IRI.format("C3224"),
        "C9305|C7058",
        SYNONYMS,
        "A malignant tumor.",
        "Melanoma",
        "",
        "Neoplastic Process",
    ],
    [
        "C1000",
        _IRI.format("C1000"),
        "",
        "Old drug",
        "",
        "",
        "Retired_Concept",
        "Protein|Pharmacologic Substance",
        "x",
    ],
    ["C1001", "Old_Style", "root_node", "", "A definition."],
]
THESAURUS = "".join("\t".join(row) + "\n" for row in ROWS)


def test_ncit_flat_file(tmp_path: Path) -> None:
    path = tmp_path / "Thesaurus.txt"
    path.write_text(THESAURUS, encoding="utf-8")
    tables = read(path, "ncit")
    melanoma, old, style = tables.concepts.to_pylist()
    assert (melanoma["parents"], melanoma["semantic_types"]) == (
        ["NCIT:C9305", "NCIT:C7058"],
        ["Neoplastic Process"],
    )
    assert melanoma["definition"] == "A malignant tumor."
    assert [row["obsolete"] for row in (melanoma, old, style)] == [False, True, False]
    # An independent count of the synonyms.
    assert len(names(tables, "NCIT:C3224")) == SYNONYMS.count("|") + 1
    assert ("Melanoma", "en", "preferred") in names(tables, "NCIT:C3224")
    assert names(tables, "NCIT:C1001") == {("Old Style", "en", "preferred")}
