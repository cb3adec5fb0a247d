"""SSSOM tables as vocabularies."""

from __future__ import annotations

from pathlib import Path

import pytest

from nymlink.core.problems import Problems
from nymlink.core.registry import find_format
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.mappings import read_mappings
from nymlink.vocabulary.readers import VOCABULARY_FORMATS
from nymlink.vocabulary.readers.tables.sssom import FORMAT
from nymlink.vocabulary.tables import Tables


def read(path: Path, problems: Problems | None = None) -> Tables:
    return FORMAT.read(path, options=ReadOptions(), problems=problems if problems is not None else Problems())


def test_both_sides_become_concepts_that_refer_to_each_other(tmp_path: Path) -> None:
    path = tmp_path / "m.tsv"
    path.write_text(
        "#license: CC0\n"
        "subject_id\tsubject_label\tpredicate_id\tobject_id\tobject_label\tpredicate_modifier\n"
        "A:1\theart attack\tskos:exactMatch\tB:1\tmyocardial infarction\t\n"
        "A:1\tMI\toboInOwl:hasDbXref\tC:1\t\t\n"
        "A:1\theart attack\tskos:broadMatch\tB:2\theart disease\t\n"
        "A:1\theart attack\tskos:exactMatch\tB:3\tstroke\tNot\n",
        encoding="utf-8",
    )
    tables = read(path)
    assert {row["id"]: row["xrefs"] for row in tables.concepts.to_pylist()} == {
        "A:1": ["B:1", "C:1"],
        "B:1": ["A:1"],
        "C:1": [],
        "B:2": [],
        "B:3": [],
    }
    assert [tuple(row.values()) for row in tables.names.to_pylist()] == [
        ("A:1", "heart attack", "en", "preferred"),
        ("B:1", "myocardial infarction", "en", "preferred"),
        ("A:1", "MI", "en", "exact"),
        ("B:2", "heart disease", "en", "preferred"),
        ("B:3", "stroke", "en", "preferred"),
    ]
    assert tables.licence == "CC0"


def test_a_header_after_a_long_block_of_metadata_is_recognised(tmp_path: Path) -> None:
    path = tmp_path / "m.tsv"
    prefixes = "".join(f"#  p{number}: http://example.org/{number}/\n" for number in range(400))
    path.write_text(
        f"#curie_map:\n{prefixes}subject_id\tpredicate_id\tobject_id\nA:1\tskos:exactMatch\tB:1\n",
        encoding="utf-8",
    )
    assert find_format(VOCABULARY_FORMATS, path).name == "sssom"
    assert len(read(path).concepts) == 2


def test_a_quoted_header_is_recognised(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text('"subject_id","predicate_id","object_id"\n"A:1","skos:exactMatch","B:1"\n', encoding="utf-8")
    assert find_format(VOCABULARY_FORMATS, path).name == "sssom"
    assert len(read(path).concepts) == 2


@pytest.mark.parametrize(
    ("file", "concepts", "names"),
    [
        pytest.param("biomappings/positive.sssom.tsv.gz", 22_061, 22_081, marks=pytest.mark.large),
        ("mondo/mondo_exactmatch_doid.sssom.tsv.gz", 23_809, 23_729),
        pytest.param("mondo/mondo_exactmatch_umls.sssom.tsv.gz", 43_320, 21_660, marks=pytest.mark.large),
        ("pharmgkb/pharmgkb.disease.sssom.tsv.gz", 10_321, 0),
        ("vo/vo-rxnorm.sssom.tsv.gz", 4_120, 2_060),
    ],
)
def test_published_mappings_are_vocabularies(data: Path, file: str, concepts: int, names: int) -> None:
    path = data / "native" / file
    assert find_format(VOCABULARY_FORMATS, path).name == "sssom"
    problems = Problems()
    tables = read(path, problems)
    assert problems.first == []
    assert (len(tables.concepts), len(tables.names)) == (concepts, names)


LITERALS = """\
#curie_map:
#  MONDO: http://purl.obolibrary.org/obo/MONDO_
subject_label\tsubject_type\tpredicate_id\tpredicate_modifier\tobject_id\tobject_label
heart attack\trdfs literal\tskos:exactMatch\t\tMONDO:0005068\tmyocardial infarction
silent MI\trdfs literal\tskos:broadMatch\t\tMONDO:0005068\tmyocardial infarction
stroke\trdfs literal\tskos:exactMatch\tNot\tMONDO:0005068\tmyocardial infarction
\trdfs literal\tskos:exactMatch\t\tMONDO:0005068\t
"""


def test_literals_are_names_of_their_objects(tmp_path: Path) -> None:
    path = tmp_path / "m.tsv"
    path.write_text(LITERALS, encoding="utf-8")
    assert find_format(VOCABULARY_FORMATS, path).name == "sssom"
    problems = Problems()
    tables = read(path, problems)
    assert tables.concepts["id"].to_pylist() == ["MONDO:0005068"]
    assert [(row["text"], row["kind"]) for row in tables.names.to_pylist()] == [
        ("myocardial infarction", "preferred"),
        ("heart attack", "exact"),
        ("silent MI", "narrow"),
    ]
    assert [problem.line for problem in problems.first] == [7]
    mappings = read_mappings(path)
    assert (len(mappings.mappings), len(mappings.literals)) == (0, 3)
