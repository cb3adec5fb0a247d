"""Cells with several findings: offered as parts, decided part by part, and exported as parts and as denied."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fhir.resources.conceptmap import ConceptMap

from nymlink.linking.linker import Linker
from nymlink.project.acceptance import accept
from nymlink.project.add_file import add_table
from nymlink.project.decisions import decide
from nymlink.project.export import export_project
from nymlink.project.import_decisions import import_decisions
from nymlink.project.index_reference import IndexReference
from nymlink.project.lessons import Overlay, lessons
from nymlink.project.links import link_waiting
from nymlink.project.project import Project, find_damage
from nymlink.project.rows import Target
from nymlink.project.terms import TermFilter, list_terms
from tests.project.conftest import index_of

CELLS = b'finding\n"gout, fever"\n"no gout; heart attack"\nno fever\n"gout and xyzzy"\n'
BOTH, DENIED, NONE, HALF = 1, 2, 3, 4
NAMES = {"OMOP:44": ("gout",), "OMOP:45": ("fever", "pyrexia"), "OMOP:46": ("heart attack",)}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("parts") / "cells.nymlink"
    index = index_of(NAMES)
    with Project.create(path, index=IndexReference.of("omop", index)) as project:
        add_table(project, CELLS, "cells.csv", composites="always")
        link_waiting(project, Linker(index, top_k=10, composites="always").link)
    return path


@pytest.fixture
def cells(made: Path, path: Path) -> Iterator[Project]:
    shutil.copy(made, path)
    with Project(path) as project:
        yield project


@pytest.fixture
def decided(cells: Project) -> Project:
    """All that is suggested is accepted, and a part gets another concept."""
    for term in list_terms(cells, TermFilter())["terms"][:3]:
        targets = [Target(**target) for target in term["suggested"]]
        decide(cells, reviewer="Ann", term=term["id"], verdict="concept", targets=targets, comment="read")
    half = [Target("OMOP:45", "fever", "part", "gout")]
    decide(cells, reviewer="Ann", term=HALF, verdict="concept", targets=half)
    return cells


def exported(project: Project, format: str, **more: Any) -> str:
    out = io.StringIO(newline="")
    export_project(project, out, format=format, **more)
    return out.getvalue()


def test_parts_are_offered(cells: Project) -> None:
    listed = {term["id"]: term for term in list_terms(cells, TermFilter())["terms"]}
    assert [(part["text"], part["denied"]) for part in listed[DENIED]["parts"]] == [
        ("gout", True),
        ("heart attack", False),
    ]
    assert listed[DENIED]["suggested"] == [
        {"concept_id": "OMOP:44", "name": "gout", "relation": "part", "part": "gout", "denied": True},
        {"concept_id": "OMOP:46", "name": "heart attack", "relation": "part", "part": "heart attack"},
    ]
    assert listed[NONE]["suggested"] == [
        {"concept_id": "OMOP:45", "name": "fever", "relation": "exact", "part": "fever", "denied": True}
    ]


def test_accepting_says_part_and_denied(cells: Project) -> None:
    accept(cells, reviewer="Ann", above=0.0)
    found = {term["id"]: term["decisions"] for term in list_terms(cells, TermFilter())["terms"]}
    assert [each["relation"] for each in found[BOTH]["Ann"]["targets"]] == ["part", "part"]
    assert found[NONE]["Ann"]["targets"][0]["denied"]
    assert find_damage(cells.path) == []


def test_mappings_say_part_and_denied(decided: Project) -> None:
    lines = [line for line in exported(decided, "sssom").splitlines() if not line.startswith("#")]
    rows = list(csv.DictReader(lines, delimiter="\t"))
    said = ("subject_label", "predicate_modifier", "predicate_id", "object_id", "mapping_justification")
    related, exact, manual = "skos:relatedMatch", "skos:exactMatch", "semapv:ManualMappingCuration"
    assert [tuple(row[name] for name in said) for row in rows] == [
        ("gout, fever", "", related, "OMOP:44", manual),
        ("gout, fever", "", related, "OMOP:45", manual),
        ("no gout; heart attack", "Not", related, "OMOP:44", manual),
        ("no gout; heart attack", "", related, "OMOP:46", manual),
        ("no fever", "Not", exact, "OMOP:45", manual),
        ("gout and xyzzy", "", related, "OMOP:45", manual),
    ]
    assert rows[1]["comment"] == "part of the term: fever; read"
    maps = [json.loads(exported(decided, format)) for format in ("fhir-r5", "fhir-r4b")]
    ConceptMap(**maps[0])
    for value, name, denied, part in zip(
        maps,
        ("relationship", "equivalence"),
        ("not-related-to", "disjoint"),
        ("related-to", "relatedto"),
        strict=True,
    ):
        found = {each["display"]: each["target"] for group in value["group"] for each in group["element"]}
        assert [each[name] for each in found["no gout; heart attack"]] == [denied, part]
        assert [each[name] for each in found["no fever"]] == [denied]
        assert "part of the term: fever; decided by Ann" in found["gout, fever"][1]["comment"]


def test_usagi_maps_parts_and_comments_on_denied_findings(decided: Project) -> None:
    vocabulary = index_of(NAMES).vocabulary
    rows = list(csv.DictReader(io.StringIO(exported(decided, "usagi", vocabulary=vocabulary))))
    said = ("sourceName", "conceptId", "equivalence", "comment")
    assert [tuple(row[name] for name in said) for row in rows] == [
        ("gout, fever", "44", "INEXACT", "part of the term: gout; read"),
        ("gout, fever", "45", "INEXACT", "part of the term: fever; read"),
        ("no gout; heart attack", "46", "INEXACT", "part of the term: heart attack; read; denied: gout"),
        ("no fever", "0", "UNMATCHED", "read; denied: fever"),
        ("gout and xyzzy", "45", "INEXACT", "part of the term: gout"),
    ]
    mapped = csv.DictReader(io.StringIO(exported(decided, "source-to-concept-map", vocabulary=vocabulary)))
    assert [row["target_concept_id"] for row in mapped] == ["44", "45", "46", "0", "45"]


def test_tables_have_a_row_for_each_part(decided: Project) -> None:
    said = ("finding", "concept_id", "part", "negated", "relation", "decision")
    rows = list(csv.DictReader(io.StringIO(exported(decided, "csv"))))
    assert [tuple(row[name] for name in said) for row in rows] == [
        ("gout, fever", "OMOP:44", "gout", "false", "part", "concept"),
        ("gout, fever", "OMOP:45", "fever", "false", "part", "concept"),
        ("no gout; heart attack", "OMOP:44", "no gout", "true", "part", "concept"),
        ("no gout; heart attack", "OMOP:46", "heart attack", "false", "part", "concept"),
        ("no fever", "OMOP:45", "no fever", "true", "exact", "concept"),
        ("gout and xyzzy", "OMOP:45", "gout", "false", "part", "concept"),
        *([("gout and xyzzy", "", "xyzzy", "false", "", "concept")] if len(rows) > 6 else []),
    ]


@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl", "xlsx", "parquet", "sssom", "fhir-r5", "fhir-r4b"])
def test_parts_come_back(decided: Project, made: Path, tmp_path: Path, format: str) -> None:
    def essences(project: Project) -> list[list[tuple[Any, ...]]]:
        terms = list_terms(project, TermFilter())["terms"]
        found = [each["decisions"]["Ann"]["targets"] for each in terms]
        return [
            [(each["concept_id"], each["relation"], each.get("denied", False)) for each in targets]
            for targets in found
        ]

    expected = essences(decided)
    export_project(decided, tmp_path / "out", format=format)
    (tmp_path / "other").mkdir()
    shutil.copy(made, tmp_path / "other" / "cells.nymlink")
    with Project(tmp_path / "other" / "cells.nymlink") as fresh:
        vocabulary = index_of(NAMES).vocabulary
        raw = (tmp_path / "out").read_bytes()
        found = import_decisions(fresh, raw, f"out.{format}", vocabulary=vocabulary)
        assert (found["new"], found["problems"]["rejected"]) == (4, 0)
        assert essences(fresh) == expected


def test_a_table_with_its_own_column_of_parts_is_read(linked: Project, tmp_path: Path) -> None:
    add_table(linked, b"part,finding,negated\nleft,podagra,true\n", "own.csv", columns={"mention": "finding"})
    decide(linked, reviewer="Ann", term=5, verdict="concept", targets=[Target("X:1", "gout")])
    raw = exported(linked, "csv").encode()
    with Project.create(tmp_path / "n.nymlink", index=linked.index) as fresh:
        add_table(fresh, b"part,finding,negated\nleft,podagra,true\n", "own.csv", columns={"mention": "finding"})
        import_decisions(fresh, raw, "out.csv", vocabulary=None, column="finding")
        [term] = list_terms(fresh, TermFilter())["terms"]
        assert term["decisions"]["Ann"]["targets"] == [{"concept_id": "X:1", "name": "gout", "relation": "exact"}]


def test_parts_and_denied_findings_teach_no_names(decided: Project) -> None:
    assert Overlay.of(lessons(decided)).decided == ()


def test_guesses_of_parts_are_marked(cells: Project) -> None:
    rows = list(csv.DictReader(io.StringIO(exported(cells, "csv", guesses=True))))
    assert {row["decision"] for row in rows} == {"guess"}
    value = json.loads(exported(cells, "fhir-r5", guesses=True))
    comments = [
        target["comment"]
        for group in value["group"]
        for element in group["element"]
        for target in element.get("target", [])
    ]
    assert comments
    assert all("a guess: nobody has decided" in comment for comment in comments)
