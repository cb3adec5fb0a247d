"""OMOP vocabularies, on small Athena exports."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.core.registry import find_format
from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.read import read_vocabulary
from nymlink.vocabulary.readers import VOCABULARY_FORMATS
from nymlink.vocabulary.readers.omop import FORMAT
from nymlink.vocabulary.tables import Tables

FILES = {
    "CONCEPT.csv": """\
concept_id|concept_name|domain_id|vocabulary_id|concept_class_id|standard_concept|concept_code|x|y|invalid_reason
312327|Acute "MI"|Condition|SNOMED|Disorder|S|57054005|19700101|20991231|
4329847|Myocardial infarction|Condition|SNOMED|Disorder|S|22298006|19700101|20991231|
44834711|Acute infarct|Condition|ICD9CM|5-dig|  |410.91|19700101|20991231|
1|Old infarct|Condition|SNOMED|Disorder||1|19700101|20200101|D
2|Older infarct|Condition|RxNorm Extension|Disorder|||19700101|20200101|U
4182511|Spanish language|Language|SNOMED|Qualifier Value|S|0|19700101|20991231|
""",
    "CONCEPT_SYNONYM.csv": """\
concept_id|concept_synonym_name|language_concept_id
312327|Infarto agudo|4182511
312327|Acute "MI"|4180186
312327|Heart attack|4180186
312327|Etwas|77
99|of nobody|4180186
""",
    "CONCEPT_RELATIONSHIP.csv": """\
concept_id_1|concept_id_2|relationship_id|x|y|invalid_reason
312327|4329847|Is a|20200101|20991231|
312327|312327|Maps to|20200101|20991231|
4329847|312327|Is a|20200101|20991231|D
4329847|312327|Subsumes|20200101|20991231|
44834711|312327|Maps to|20200101|20991231|
1|4329847|Maps to|20200101|20991231|
2|4329847|Concept replaced by|20200101|20991231|
2|99|Concept replaced by|20200101|20991231|
""",
    "VOCABULARY.csv": "vocabulary_id|vocabulary_version\nSNOMED|2024\nNone|v5.0 30-AUG-24\n",
}


def write(folder: Path, files: dict[str, str] = FILES) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text.replace("|", "\t"), encoding="utf-8")
    return folder


def read(path: Path, problems: Problems | None = None, sources: set[str] | None = None) -> Tables:
    options = ReadOptions(sources=None if sources is None else frozenset(sources))
    return FORMAT.read(path, options=options, problems=problems or Problems())


def test_reads_an_export(tmp_path: Path) -> None:
    folder = write(tmp_path / "athena")
    assert find_format(VOCABULARY_FORMATS, folder).name == "omop"
    problems = Problems()
    tables = read(folder, problems)
    assert problems.count == 0
    concepts = {row["id"]: row for row in tables.concepts.to_pylist()}
    assert concepts["OMOP:312327"] == {
        "id": "OMOP:312327",
        "definition": None,
        "semantic_types": ["Condition"],
        "xrefs": ["SNOMEDCT:57054005"],
        "parents": ["OMOP:4329847"],
        "obsolete": False,
        "replaced_by": [],
    }
    assert concepts["OMOP:4329847"]["parents"] == []
    # The standard concept replaces one that is not standard.
    assert concepts["OMOP:44834711"]["xrefs"] == ["ICD9CM:410.91"]
    assert concepts["OMOP:44834711"]["obsolete"]
    assert concepts["OMOP:44834711"]["replaced_by"] == ["OMOP:312327"]
    for old in ("OMOP:1", "OMOP:2"):
        assert concepts[old]["obsolete"]
        assert concepts[old]["replaced_by"] == ["OMOP:4329847"]
    assert concepts["OMOP:2"]["xrefs"] == []
    names = {
        (row["text"], row["lang"], row["kind"])
        for row in tables.names.to_pylist()
        if row["concept_id"] == "OMOP:312327"
    }
    assert names == {
        ('Acute "MI"', "en", "preferred"),
        ("Heart attack", "en", "exact"),
        ("Infarto agudo", "es", "exact"),
        ("Etwas", "und", "exact"),
        ("Acute infarct", "en", "related"),
    }
    assert tables.version == "v5.0 30-AUG-24"


def test_commas_separate_like_tabs(tmp_path: Path) -> None:
    commas = {}
    for name, text in FILES.items():
        out = io.StringIO(newline="")
        csv.writer(out).writerows(line.split("|") for line in text.splitlines())
        commas[name] = out.getvalue()
    with_comma = commas["CONCEPT.csv"].replace("Old infarct", '"Old infarct, left"')
    folder = tmp_path / "commas"
    folder.mkdir()
    for name, text in (commas | {"CONCEPT.csv": with_comma}).items():
        (folder / name).write_text(text, encoding="utf-8", newline="")
    problems = Problems()
    tabs = {**FILES, "CONCEPT.csv": FILES["CONCEPT.csv"].replace("Old infarct", "Old infarct, left")}
    read_tabs, read_commas = read(write(tmp_path / "tabs", tabs)), read(folder, problems)
    assert read_commas.concepts.equals(read_tabs.concepts)
    assert read_commas.names.equals(read_tabs.names)
    assert "Old infarct, left" in read_commas.names["text"].to_pylist()
    assert (read_commas.version, problems.count) == (read_tabs.version, 0)
    assert find_format(VOCABULARY_FORMATS, folder / "CONCEPT.csv").name == "omop"


def test_the_concept_file_alone_is_enough(tmp_path: Path) -> None:
    folder = write(tmp_path / "athena", {"CONCEPT.csv": FILES["CONCEPT.csv"]})
    assert find_format(VOCABULARY_FORMATS, folder / "CONCEPT.csv").name == "omop"
    tables = read(folder / "CONCEPT.csv")
    assert len(tables.concepts) == len(tables.names) == 6
    assert tables.concepts.to_pylist()[0]["parents"] == []


def test_sources_select_vocabularies(tmp_path: Path) -> None:
    folder = write(tmp_path / "athena")
    tables = read(folder, sources={"ICD9CM"})
    assert tables.concepts["id"].to_pylist() == ["OMOP:44834711"]
    assert tables.names["text"].to_pylist() == ["Acute infarct"]
    with pytest.raises(InputError, match="LOINC"):
        read(folder, sources={"LOINC"})


def test_broken_rows_are_reported_where_they_stand(tmp_path: Path) -> None:
    files = FILES | {
        "CONCEPT_SYNONYM.csv": FILES["CONCEPT_SYNONYM.csv"] + "312327|\n312327||4180186\nx|a|4180186\n"
    }
    problems = Problems()
    tables = read(write(tmp_path / "athena", files), problems)
    assert [(problem.line, problem.rejected) for problem in problems.first] == [(7, True), (8, True), (9, True)]
    assert "Heart attack" in tables.names["text"].to_pylist()


def test_a_folder_without_concepts_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"CONCEPT\.csv"):
        read(tmp_path)


def test_mentions_link_to_standard_concepts(tmp_path: Path) -> None:
    folder = write(tmp_path / "athena")
    linker = Linker(Index.build(read_vocabulary(folder), encoder=None))
    for mention, meant, former in (
        ("Acute infarct", "OMOP:312327", "OMOP:44834711"),
        ("44834711", "OMOP:312327", "OMOP:44834711"),
        ("Old infarct", "OMOP:4329847", "OMOP:1"),
        ("Heart attack", "OMOP:312327", None),
        ("OMOP:312327", "OMOP:312327", None),
    ):
        link = linker.link(mention)
        assert link.candidates[0].concept_id == meant
        assert link.former == former
        note = f"in place of {former}, which is obsolete or not standard"
        assert (note in link.notes) == (former is not None)
    # Without the standard concepts, those of the source vocabulary are linked to.
    alone = read_vocabulary(folder, options=ReadOptions(sources=frozenset({"ICD9CM"})))
    found = Linker(Index.build(alone, encoder=None)).link("Acute infarct")
    assert (found.candidates[0].concept_id, found.former) == ("OMOP:44834711", None)
