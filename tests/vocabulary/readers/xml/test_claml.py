"""ClaML, on a small classification."""

from __future__ import annotations

from pathlib import Path

import pytest

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers.icd import CLAML
from nymlink.vocabulary.tables import Tables

TEXT = """\
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE ClaML SYSTEM "ClaML.dtd">
<ClaML version="2.0.0">
<Title date="2022-09-16" name="ICD-10-GM" version="2023">ICD-10-GM</Title>
<Class code="A00-A09" kind="block"><SuperClass code="I"/><SubClass code="A00"/>
 <Rubric kind="preferred"><Label xml:lang="de" xml:space="default">Infektiöse Darmkrankheiten</Label></Rubric>
</Class>
<Class code="A00" kind="category"><SuperClass code="A00-A09"/>
 <Rubric kind="preferred"><Label xml:lang="de">Cholera
  <Reference class="in brackets">A00.-</Reference></Label></Rubric>
 <Rubric kind="preferredLong"><Label xml:lang="de">Cholera, asiatische</Label></Rubric>
 <Rubric kind="inclusion"><Label xml:lang="de"><Fragment type="item">Cholera</Fragment>
  <Fragment type="item">gravis</Fragment></Label></Rubric>
 <Rubric kind="exclusion"><Label xml:lang="de">Cholera nostras</Label></Rubric>
 <Rubric kind="definition"><Label xml:lang="de">Durchfall.</Label></Rubric>
</Class>
</ClaML>
"""


def read(folder: Path, text: str, problems: Problems | None = None) -> Tables:
    path = folder / "file.xml"
    path.write_text(text, encoding="utf-8")
    return CLAML.read(path, options=ReadOptions(), problems=problems or Problems())


def test_reads_classes(tmp_path: Path) -> None:
    problems = Problems()
    tables = read(tmp_path, TEXT, problems)
    assert problems.count == 0
    block, cholera = tables.concepts.to_pylist()
    assert (block["id"], block["semantic_types"], block["parents"]) == (
        "ICD10GM:A00-A09",
        ["block"],
        ["ICD10GM:I"],
    )
    assert (cholera["parents"], cholera["definition"]) == (["ICD10GM:A00-A09"], "Durchfall.")
    assert [(row["text"], row["lang"], row["kind"]) for row in tables.names.to_pylist()] == [
        ("Infektiöse Darmkrankheiten", "de", "preferred"),
        ("Cholera", "de", "preferred"),
        ("Cholera, asiatische", "de", "exact"),
        ("Cholera gravis", "de", "narrow"),
    ]
    assert tables.version == "2023"


def test_a_class_without_a_code_is_reported(tmp_path: Path) -> None:
    problems = Problems()
    assert len(read(tmp_path, TEXT.replace('code="A00" kind', "kind"), problems).concepts) == 1
    assert [(problem.line, problem.rejected) for problem in problems.first] == [(8, True)]


def test_a_file_without_classes_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no class"):
        read(tmp_path, "<ClaML/>")


def _class(code: str, name: str, inside: str = "", kind: str = "category") -> str:
    label = f'<Rubric kind="preferred"><Label xml:lang="en">{name}</Label></Rubric>'
    return f'<Class code="{code}" kind="{kind}">{inside}{label}</Class>\n'


def _option(modifier: str, code: str, name: str, inside: str = "") -> str:
    label = f'<Rubric kind="preferred"><Label xml:lang="en">{name}</Label></Rubric>'
    return (
        f'<ModifierClass code="{code}" modifier="{modifier}">{inside}<SuperClass code="{modifier}"/>{label}'
        "</ModifierClass>\n"
    )


_BELOW = '<SuperClass code="{}"/>'
# The layout of WHO's and DIMDI's files: modifiers before classes, codes and rules as in ICD-10 and ICD-10-GM.
MODIFIED = (
    '<?xml version="1.0"?>\n<ClaML version="2.0.0">\n<Title name="ICD-10" version="2019"/>\n'
    '<Modifier code="S04E10_4"><SubClass code=".0"/><SubClass code=".2"/><SubClass code=".9"/></Modifier>\n'
    + _option("S04E10_4", ".0", "With coma", '<Meta name="MortBCode" value="104"/>')
    + _option("S04E10_4", ".2", "With renal complications")
    + _option("S04E10_4", ".9", "Without complications").replace(
        "</ModifierClass>",
        '<Rubric kind="inclusion"><Label xml:lang="en">Diabetes NOS</Label></Rubric></ModifierClass>',
    )
    + _option("S04E10_5", "0", "Not controlled")
    + _option("S04E10_5", "2", "Foot", '<Meta name="excludeOnPrecedingModifier" value="S04E10_4 .0"/>')
    + _option("I70M10_4", "0", "Without gangrene")
    + _option("I70M10_4", "1", "With gangrene")
    + _option("S13M40_5", "8", "Sacral region")
    + _option("S13M40_5", "9", "Site unspecified")
    + _option("S20W00_4", "0", "Home")
    + _class("E10-E14", "Diabetes mellitus", kind="block")
    + _class("E10", "Type 1 diabetes", _BELOW.format("E10-E14") + '<ModifiedBy code="S04E10_4"/>')
    + _class(
        "E11",
        "Type 2 diabetes",
        _BELOW.format("E10-E14")
        + '<ModifiedBy all="false" code="S04E10_4"><ValidModifierClass code=".0"/><ValidModifierClass code=".2"/>'
        '</ModifiedBy><ModifiedBy code="S04E10_5" all="true"/>',
    )
    + _class("I70", "Atherosclerosis", '<SubClass code="I70.0"/><ModifiedBy code="I70M10_4"/>')
    + _class("I70.0", "Atherosclerosis of aorta", _BELOW.format("I70"))
    + _class(
        "I70.1", "Atherosclerosis of renal artery", _BELOW.format("I70") + '<ExcludeModifier code="I70M10_4"/>'
    )
    + _class("M40-M45", "Dorsopathies", '<ModifiedBy code="S13M40_5"/>', kind="block")
    + _class("M45", "Ankylosing spondylitis", _BELOW.format("M40-M45"))
    + _class("M45.X8", "An exception that the file spells out", _BELOW.format("M45-"))
    + _class("W00", "Fall on ice", '<ModifiedBy code="S20W00_4"/>')
    + "</ClaML>\n"
)


def test_modifiers_make_the_fourth_and_fifth_characters(tmp_path: Path) -> None:
    problems = Problems()
    tables = read(tmp_path, MODIFIED, problems)
    assert problems.count == 0
    concepts = {row["id"].removeprefix("ICD10:"): row for row in tables.concepts.to_pylist()}
    stated = {"E10-E14", "E10", "E11", "I70", "I70.0", "I70.1", "M40-M45", "M45", "M45.X8", "W00"}
    assert set(concepts) - stated == {
        *("E10.0", "E10.2", "E10.9"),
        *("E11.0", "E11.2", "E11.00", "E11.20", "E11.22"),
        *("I70.00", "I70.01"),
        *("M45.X9", "W00.0"),
    }
    assert concepts["E10.0"]["parents"] == ["ICD10:E10"]
    assert concepts["E11.20"]["parents"] == ["ICD10:E11.2"]
    assert concepts["E11.20"]["semantic_types"] == ["category"]
    names = {(row["concept_id"][6:], row["text"], row["kind"]) for row in tables.names.to_pylist()}
    assert names >= {
        ("E10.0", "Type 1 diabetes: With coma", "preferred"),
        ("E10.9", "Type 1 diabetes: Diabetes NOS", "narrow"),
        ("E11.20", "Type 2 diabetes: With renal complications: Not controlled", "preferred"),
        ("I70.01", "Atherosclerosis of aorta: With gangrene", "preferred"),
        ("M45.X8", "An exception that the file spells out", "preferred"),
    }
    assert not {code for code, _, _ in names} - set(concepts)


def test_the_order_of_modifiers_and_classes_makes_no_difference(tmp_path: Path) -> None:
    head, *classes = MODIFIED.partition("<Class")
    start = head.index("<ModifierClass")
    moved = head[:start] + "".join(classes).replace("</ClaML>", head[start:] + "</ClaML>")
    assert sorted(read(tmp_path, moved).concepts["id"].to_pylist()) == sorted(
        read(tmp_path, MODIFIED).concepts["id"].to_pylist()
    )


def test_modifiers_in_a_circle_end(tmp_path: Path) -> None:
    text = MODIFIED.replace(
        '<Class code="E10-E14" kind="block">', '<Class code="E10-E14" kind="x"><SuperClass code="E10"/>'
    )
    assert "ICD10:I70.01" in read(tmp_path, text).concepts["id"].to_pylist()
