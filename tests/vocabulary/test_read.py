"""From files to one vocabulary that knows where it comes from."""

from __future__ import annotations

import gzip
import hashlib
import os
from pathlib import Path

import pytest

from nymlink.core.errors import InputError, UnknownNameError
from nymlink.core.problems import Problems
from nymlink.vocabulary.concepts import ReadOptions, Source
from nymlink.vocabulary.read import read_vocabulary
from nymlink.vocabulary.tables import TableBuilder
from nymlink.vocabulary.vocabulary import Vocabulary

OBO = """format-version: 1.2
data-version: releases/2024-01-01

[Term]
id: A:1
name: heart attack
synonym: "MI" EXACT ABBREVIATION []
is_a: A:2

[Term]
id: A:2
name: heart disease
"""
TABLE = "id\tname\nA:1\tcoronary\nB:1\tcold\n"


@pytest.fixture
def obo(tmp_path: Path) -> Path:
    path = tmp_path / "mini.obo"
    path.write_text(OBO, encoding="utf-8")
    return path


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "terms.tsv"
    path.write_text(TABLE, encoding="utf-8")
    return path


def test_a_vocabulary_knows_its_source(obo: Path) -> None:
    vocabulary = read_vocabulary(obo)
    (source,) = vocabulary.sources
    assert (source.name, source.format, source.file) == ("mini", "obo", "mini.obo")
    assert source.sha256 == hashlib.sha256(OBO.encode()).hexdigest()
    assert source.version is not None
    assert "2024-01-01" in source.version
    assert vocabulary["A:1"].source == "mini"


def test_several_sources_become_one(obo: Path, table: Path, tmp_path: Path) -> None:
    vocabulary = read_vocabulary(obo, str(table))
    assert [(source.name, source.format) for source in vocabulary.sources] == [("mini", "obo"), ("terms", "table")]
    assert (len(vocabulary), vocabulary["A:1"].name) == (3, "heart attack")
    assert [(name.text, name.source) for name in vocabulary.names("A:1")] == [
        ("heart attack", "mini"),
        ("coronary", "terms"),
        ("MI", "mini"),
    ]
    assert vocabulary.counts("source") == {"mini": 3, "terms": 2}
    assert read_vocabulary(table, obo)["A:1"].source == "terms"
    vocabulary.save(tmp_path / "v")
    assert Vocabulary.load(tmp_path / "v").sources == vocabulary.sources


def test_sources_of_one_stem_are_told_apart(tmp_path: Path, table: Path) -> None:
    packed = tmp_path / "terms.tsv.gz"
    packed.write_bytes(gzip.compress(b"id\tname\nC:1\tpacked\n"))
    vocabulary = read_vocabulary(table, packed, table)
    assert [source.name for source in vocabulary.sources] == ["terms", "terms-2", "terms-3"]
    assert [source.file for source in vocabulary.sources] == ["terms.tsv", "terms.tsv.gz", "terms.tsv"]
    assert vocabulary.sources[1].sha256 == hashlib.sha256(packed.read_bytes()).hexdigest()
    assert vocabulary["C:1"].source == "terms-2"
    assert len(vocabulary) == 3


def test_the_options_are_recorded(tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    path.write_text("code\tname\nA:1\tHerzinfarkt\n", encoding="utf-8")
    options = ReadOptions(lang="de", languages=frozenset({"en", "de"}), columns={"id": "code"})
    vocabulary = read_vocabulary(path, format="table", options=options)
    assert vocabulary.names("A:1")[0].lang == "de"
    assert vocabulary.settings == {
        "lang": "de",
        "languages": ["de", "en"],
        "suppressed": False,
        "columns": {"id": "code"},
    }
    vocabulary.save(tmp_path / "v")
    assert Vocabulary.load(tmp_path / "v").settings == vocabulary.settings
    assert vocabulary.extended(Source("more", "corpus"), TableBuilder().build()).settings == vocabulary.settings


def test_problems_come_back_with_their_place(tmp_path: Path, obo: Path) -> None:
    path = tmp_path / "x.tsv"
    path.write_bytes(b"id\tname\nA:1\tna\xefve\nA:2\tb\tc\td\nA:3\tgood\n")
    problems = Problems()
    vocabulary = read_vocabulary(obo, path, problems=problems)
    assert vocabulary.find("naïve")
    assert vocabulary.find("good")
    assert {(problem.path, problem.line) for problem in problems.first} == {(str(path), 2), (str(path), 3)}


def test_a_link_is_named_after_what_it_points_to(tmp_path: Path, obo: Path) -> None:
    (tmp_path / "latest").symlink_to(obo)
    (source,) = read_vocabulary(tmp_path / "latest").sources
    assert (source.name, source.file) == ("mini", "latest")


def test_a_file_name_that_is_not_utf8_can_be_saved(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/m\xfcll.obo"))
    try:
        path.write_text(OBO, encoding="utf-8")
    except OSError:
        pytest.skip("this file system takes UTF-8 only")
    vocabulary = read_vocabulary(path)
    vocabulary.save(tmp_path / "v")
    (source,) = Vocabulary.load(tmp_path / "v").sources
    assert (source.name, source.file) == ("m\ufffdll", "m\ufffdll.obo")
    assert Vocabulary.load(tmp_path / "v")["A:1"].source == "m\ufffdll"


def test_what_cannot_be_read_is_said(tmp_path: Path, obo: Path) -> None:
    (tmp_path / "empty").touch()
    with pytest.raises(InputError, match="no source"):
        read_vocabulary()
    for name, message in (("missing", "no such file"), ("empty", "empty"), (".", "--input-format")):
        with pytest.raises(InputError, match=message):
            read_vocabulary(obo, tmp_path / name)
    with pytest.raises(UnknownNameError, match="unknown vocabulary format 'wordperfect'; known: "):
        read_vocabulary(obo, format="wordperfect")


def test_columns_make_a_table_of_what_no_format_recognises(tmp_path: Path, obo: Path, table: Path) -> None:
    path = tmp_path / "xy"
    path.write_text("k,translation_value\nC:1,rhume\n", encoding="utf-8")
    with pytest.raises(InputError, match="this looks like a table of 2 columns"):
        read_vocabulary(path)
    path = path.rename(tmp_path / "xy.csv")
    with pytest.raises(
        InputError, match=r"xy\.csv -o FOLDER --map-column id=k --map-column name=translation_value"
    ):
        read_vocabulary(path)
    options = ReadOptions(columns={"id": "k", "name": "translation_value"})
    vocabulary = read_vocabulary(obo, path, options=options)
    assert [source.format for source in vocabulary.sources] == ["obo", "table"]
    assert (vocabulary["A:1"].name, vocabulary["C:1"].name) == ("heart attack", "rhume")
    with pytest.raises(InputError, match="no column 'k'; the file has: id, name"):
        read_vocabulary(table, options=options)
    with pytest.raises(InputError, match="--input-format"):
        read_vocabulary(tmp_path, options=options)


def test_sources_in_none_of_the_languages_asked_for_are_an_error(tmp_path: Path, obo: Path) -> None:
    path = tmp_path / "x.tsv"
    path.write_text("id\tname\tlang\nA:1\tgrippe\tfr\nA:1\tGrippe\tde-CH\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"in the requested languages \(es, it\); the source has: de-CH, fr"):
        read_vocabulary(path, options=ReadOptions(languages=frozenset({"es", "it"})))
    # One source in the language is enough: translations come without the names they translate.
    assert read_vocabulary(obo, path, options=ReadOptions(languages=frozenset({"fr"}))).name_count == 1
    assert read_vocabulary(path, options=ReadOptions(languages=frozenset({"DE", "it"}))).name_count == 1


def test_a_source_without_any_name_may_be_read_in_any_language(tmp_path: Path, obo: Path) -> None:
    path = tmp_path / "equivalences.obo"
    path.write_text("format-version: 1.2\n\n[Term]\nid: A:1\nxref: B:1\n", encoding="utf-8")
    vocabulary = read_vocabulary(obo, path, options=ReadOptions(languages=frozenset({"en"})))
    assert vocabulary["A:1"].xrefs == ("B:1",)


def test_real_ontologies_keep_their_counts_when_saved(data: Path, tmp_path: Path) -> None:
    sources = sorted(
        path for path in (data / "vocabularies").rglob("*") if path.name.startswith(("hp.", "mondo."))
    )
    if not sources:
        pytest.skip("no ontology in the data")
    made = read_vocabulary(sources[0])
    made.save(tmp_path / "v")
    loaded = Vocabulary.load(tmp_path / "v")
    assert (len(loaded), loaded.name_count) == (len(made), made.name_count)
    assert len(loaded) > 1000


NAMELESS = {
    "obo": "format-version: 1.2\n\n[Term]\nid: C:1\n\n[Term]\nid: C:2\nis_a: C:1\n",
    "turtle": "@prefix owl: <http://www.w3.org/2002/07/owl#> .\n@prefix dc: <http://purl.org/dc/elements/1.1/> .\n"
    '<http://x.org/C_1> a owl:Class ; dc:title "cold" .\n<http://x.org/C_2> a owl:Class ; dc:title "flu" .\n',
    "obographs": '{"graphs": [{"id": "x", "nodes": [{"id": "C_1", "type": "CLASS", "meta": {"deprecated": true}},'
    ' {"id": "C_2", "type": "CLASS", "meta": {"comments": ["cold"]}}]}]}',
    "sssom": "subject_id\tpredicate_id\tobject_id\nC:1\tskos:exactMatch\tC:2\n",
}


@pytest.mark.parametrize("name", NAMELESS)
def test_a_source_without_any_name_is_reported(tmp_path: Path, obo: Path, name: str) -> None:
    path = tmp_path / "nameless"
    path.write_text(NAMELESS[name], encoding="utf-8")
    problems = Problems()
    vocabulary = read_vocabulary(path, problems=problems)
    assert (len(vocabulary), vocabulary.name_count) == (2, 0)
    assert [(problem.path, problem.rejected) for problem in problems.first] == [(str(path), True)]
    assert f"none of its 2 concepts has a name that the format {name} reads" in problems.first[0].message
    # In company it may be meant to give ids and cross-references only.
    problems = Problems()
    assert read_vocabulary(obo, path, problems=problems).name_count == 3
    assert [(problem.path, problem.rejected) for problem in problems.first] == [(str(path), False)]
