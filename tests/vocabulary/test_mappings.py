"""Mappings from SSSOM tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.vocabulary.mappings import Mapping, MappingSet, read_mappings

HEADER = "subject_id\tsubject_label\tpredicate_id\tobject_id\tobject_label\tmapping_justification"


def read(folder: Path, text: str, problems: Problems | None = None) -> MappingSet:
    path = folder / "m.sssom.tsv"
    path.write_text(text, encoding="utf-8")
    return read_mappings(path, problems=problems)


def test_reads_rows_and_metadata(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "# curie_map:\n#   A: http://a/\n#license: 'https://creativecommons.org/publicdomain/zero/1.0/'\n"
        f"# mapping_set_version: 2024-01-01\n{HEADER}\n"
        "A:1\theart attack\tskos:exactMatch\tB:1\tMI\tsemapv:ManualMappingCuration\n",
    )
    assert (found.version, found.licence) == ("2024-01-01", "https://creativecommons.org/publicdomain/zero/1.0/")
    assert found.mappings == (
        Mapping(
            "A:1",
            "skos:exactMatch",
            "B:1",
            justification="semapv:ManualMappingCuration",
            subject_label="heart attack",
            object_label="MI",
        ),
    )
    assert found.to_dict()["mappings"] == 1


@pytest.mark.parametrize("delimiter", ["\t", ","])
def test_a_header_may_be_quoted_as_rows_are(tmp_path: Path, delimiter: str) -> None:
    columns = ["subject_id", "predicate_id", "object_id", "object_label"]
    row = ["A:1", "skos:exactMatch", "B:1", "infarct"]
    found = read(tmp_path, "".join(delimiter.join(f'"{cell}"' for cell in line) + "\n" for line in (columns, row)))
    assert found.mappings == (Mapping("A:1", "skos:exactMatch", "B:1", object_label="infarct"),)


@pytest.mark.parametrize(
    ("predicate", "exact", "inexact", "xref"),
    [
        ("skos:exactMatch", True, False, False),
        ("http://www.w3.org/2004/02/skos/core#exactMatch", True, False, False),
        ("owl:equivalentClass", True, False, False),
        ("skos:broadMatch", False, True, False),
        ("skos:closeMatch", False, True, False),
        ("oboInOwl:hasDbXref", False, False, True),
        ("RO:0018033", False, False, False),
    ],
)
def test_predicates_are_told_apart(predicate: str, exact: bool, inexact: bool, xref: bool) -> None:
    mapping = Mapping("A:1", predicate, "B:1")
    assert (mapping.is_exact, mapping.is_inexact, mapping.is_xref) == (exact, inexact, xref)


@pytest.mark.parametrize(
    ("confidence", "justification", "reliable"),
    [
        (None, "semapv:ManualMappingCuration", True),
        (None, "semapv:UnspecifiedMatching", True),
        (None, "", True),
        (None, "semapv:LexicalMatching", False),
        (0.9, "semapv:LexicalMatching", True),
        (0.5, "semapv:ManualMappingCuration", False),
    ],
)
def test_what_can_be_relied_on(confidence: float | None, justification: str, reliable: bool) -> None:
    mapping = Mapping("A:1", "skos:exactMatch", "B:1", confidence=confidence, justification=justification)
    assert mapping.is_reliable is reliable


@pytest.mark.parametrize("delimiter", ["\t", ","])
def test_empty_cells_at_the_end_may_be_left_out(tmp_path: Path, delimiter: str) -> None:
    rows = [
        ["subject_id", "predicate_id", "object_id", "confidence", "comment"],
        ["A:1", "skos:exactMatch", "B:1"],
        ["A:2", "skos:exactMatch"],
    ]
    rows.append(["A:3", "skos:exactMatch", "B:3", "0.5"])
    problems = Problems()
    found = read(tmp_path, "".join(delimiter.join(row) + "\n" for row in rows), problems)
    assert [(mapping.subject_id, mapping.confidence) for mapping in found.mappings] == [
        ("A:1", None),
        ("A:3", 0.5),
    ]
    assert [(problem.line, problem.rejected) for problem in problems.first] == [(2, False), (3, True), (4, False)]


def test_broken_rows_are_rejected_with_their_lines(tmp_path: Path) -> None:
    problems = Problems()
    found = read(
        tmp_path,
        "#license: x\nsubject_id\tpredicate_id\tobject_id\tconfidence\tpredicate_modifier\n"
        "A:1\tskos:exactMatch\tB:1\t0.9\t\n"
        "A:2\tskos:exactMatch\n"
        "A:3\t\tB:3\t\t\n"
        "A:4\tskos:exactMatch\tB:4\thigh\t\n"
        "A:5\tskos:exactMatch\tB:5\t7\tNot\n"
        "A:6\tskos:exactMatch\tsssom:NoTermFound\t\t\n",
        problems,
    )
    assert [(row.subject_id, row.confidence, row.negated) for row in found.mappings] == [
        ("A:1", 0.9, False),
        ("A:4", None, False),
        ("A:5", None, True),
    ]
    assert [(problem.line, problem.rejected) for problem in problems.first] == [
        (4, True),
        (5, True),
        (6, False),
        (7, False),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not an SSSOM table"),
        ("# only: metadata\n", "not an SSSOM table"),
        ("id\tname\nA:1\tone\n", "subject_id, predicate_id, object_id"),
        (f"{HEADER}\n", "no usable mapping"),
    ],
)
def test_what_is_no_table_of_mappings_is_an_error(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path, text)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_mappings(tmp_path / "nowhere.tsv")


@pytest.mark.parametrize(
    ("file", "exact", "others"),
    [
        ("biomappings/positive.sssom.tsv.gz", 11_018, 701),
        ("mondo/mondo_exactmatch_doid.sssom.tsv.gz", 11_966, 0),
        ("mondo/mondo_exactmatch_ncit.sssom.tsv.gz", 7_304, 0),
        ("mondo/mondo_exactmatch_orphanet.sssom.tsv.gz", 9_785, 0),
        ("mondo/mondo_exactmatch_umls.sssom.tsv.gz", 21_660, 0),
        ("pharmgkb/pharmgkb.disease.sssom.tsv.gz", 0, 8_791),
        ("vo/vo-rxnorm.sssom.tsv.gz", 0, 2_060),
    ],
)
def test_published_mappings_are_read_without_a_problem(data: Path, file: str, exact: int, others: int) -> None:
    problems = Problems()
    found = read_mappings(data / "native" / file, problems=problems)
    assert problems.first == []
    kinds = [mapping.is_exact for mapping in found.mappings]
    assert (kinds.count(True), kinds.count(False)) == (exact, others)
