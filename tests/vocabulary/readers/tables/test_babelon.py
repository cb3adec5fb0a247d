"""Tables of translations: small ones, and those of HPO and DO."""

from __future__ import annotations

from pathlib import Path

import pytest

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.core.registry import find_format
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers import VOCABULARY_FORMATS
from nymlink.vocabulary.readers.tables.babelon import FORMAT
from nymlink.vocabulary.tables import Tables

BABELON = """\
source_language|translation_language|subject_id|predicate_id|source_value|translation_value|translation_status
en|ja|HP:1|rdfs:label|All|NA|NOT_TRANSLATED
en|ja|HP:2|rdfs:label|Body height|身長の異常|OFFICIAL
en|ja|HP:2|oboInOwl:hasRelatedSynonym|Stature|身長|CANDIDATE
en|ja|HP:2|IAO:0000115|A height.|高さ。|OFFICIAL
en|pt_br|HP:3|rdfs:label|Rim "duplo"|Rim "duplo"|OFFICIAL
en|ja|HP:4|rdfs:label|Empty||OFFICIAL
"""
SYNONYMS = """\
subject_id|translation_value|comment|Status
ID|AL oboInOwl:hasExactSynonym@fr||
HP:3|Dysplasie rénale|of HP:3|OFFICIAL
HP:4|Renal dysplasia|of HP:4|NOT_TRANSLATED
"""


def read(folder: Path, text: str, problems: Problems | None = None) -> Tables:
    path = folder / "file.tsv"
    path.write_text(text.replace("|", "\t"), encoding="utf-8")
    assert find_format(VOCABULARY_FORMATS, path).name == "babelon"
    return FORMAT.read(path, options=ReadOptions(), problems=problems or Problems())


def rows(tables: Tables) -> list[tuple[str, ...]]:
    return [tuple(row.values()) for row in tables.names.to_pylist()]


def test_reads_babelon(tmp_path: Path) -> None:
    problems = Problems()
    tables = read(tmp_path, BABELON, problems)
    assert problems.count == 0
    assert rows(tables) == [
        ("HP:2", "身長の異常", "ja", "preferred"),
        ("HP:2", "身長", "ja", "related"),
        ("HP:3", 'Rim "duplo"', "pt-BR", "preferred"),
    ]
    assert tables.concepts["id"].to_pylist() == ["HP:2", "HP:3"]


def test_reads_translated_synonyms(tmp_path: Path) -> None:
    assert rows(read(tmp_path, SYNONYMS)) == [("HP:3", "Dysplasie rénale", "fr", "exact")]
    without_status = SYNONYMS.replace("|Status", "").replace("|of HP:4|NOT_", "|NOT_").replace("|OFFICIAL", "")
    without_status = without_status.replace("@fr||", "@fr|")
    assert rows(read(tmp_path, without_status)) == [("HP:3", "Dysplasie rénale", "fr", "exact")]


def test_synonyms_without_a_template_are_an_error(tmp_path: Path) -> None:
    path = tmp_path / "file.tsv"
    path.write_text(SYNONYMS.replace("AL oboInOwl", "oboInOwl").replace("|", "\t"), encoding="utf-8")
    # It could be any table with such headers, so it is recognised as none; asked for by name, it is refused.
    assert not FORMAT.recognises(path, path.read_text(encoding="utf-8"))
    with pytest.raises(InputError, match="second line") as raised:
        FORMAT.read(path, options=ReadOptions(), problems=Problems())
    assert raised.value.line == 2


def test_an_acronym_in_spanish(tmp_path: Path) -> None:
    header = "source_id|predicate|translation_text|source_lang|translation_lang|status|synonym_type\n"
    tables = read(tmp_path, header + "DOID:1|oboInOwl:hasExactSynonym|SIDA|en|es|DONE|obo:OMO_0003012\n")
    assert rows(tables) == [("DOID:1", "SIDA", "es", "abbreviation")]


def test_rows_of_the_wrong_width_are_reported(tmp_path: Path) -> None:
    problems = Problems()
    read(tmp_path, BABELON + "en|ja|HP:9\nen|ja||rdfs:label|x|y|OFFICIAL\n", problems)
    assert [(problem.line, problem.rejected) for problem in problems.first] == [(8, True), (9, True)]


@pytest.mark.parametrize(
    ("file", "lang", "concepts", "names"),
    [
        ("hpo/hp-es.babelon.tsv.gz", "es", 19932, 19932),
        ("hpo/hp-ja.babelon.tsv.gz", "ja", 17649, 17649),
        ("hpo/hp-zh.babelon.tsv.gz", "zh", 18988, 18988),
        ("hpo/hp-fr.synonyms.tsv.gz", "fr", 5707, 8209),
        ("hpo/hp-nl.synonyms.tsv.gz", "nl", 37, 64),
        ("doid/doid-es-translated.tsv.gz", "es", 2779, 3827),
    ],
)
def test_reads_the_real_tables_without_a_problem(
    data: Path, file: str, lang: str, concepts: int, names: int
) -> None:
    path = data / "native" / file
    assert find_format(VOCABULARY_FORMATS, path).name == "babelon"
    problems = Problems()
    tables = FORMAT.read(path, options=ReadOptions(), problems=problems)
    assert problems.count == 0
    assert set(tables.names["lang"].to_pylist()) == {lang}
    assert (len(tables.concepts), len(tables.names)) == (concepts, names)
