"""ClaML, on a small classification."""

from __future__ import annotations

from pathlib import Path

import pytest

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers.xml_formats import CLAML
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
