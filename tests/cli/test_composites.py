"""Composites, always: cells with several findings on every door, and in every format."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from nymlink.project.project import Project
from tests.bulk import files
from tests.cli.conftest import Run

CELLS = {
    "heart attack, short stature": [("X:1", False), ("X:3", False)],
    "no heart attack; short stature": [("X:1", True), ("X:3", False)],
    "heart attack (-), short stature (+)": [("X:1", True), ("X:3", False)],
    "heart attack": [("X:1", False)],
    "no short stature": [("X:3", True)],
}
"""Cell → its concepts, each with whether the cell denies it."""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "findings.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["finding"], *([cell] for cell in CELLS)])
    return path


def test_each_door_splits_cells_alike(run: Run, built: Path, table: Path, tmp_path: Path) -> None:
    given = ("--index", built / "index", "--column", "finding", "--settings", "composites=always")
    linked = run("link", table, *given, "--format", "jsonl")
    assert linked.exit_code == 0, linked.stderr
    by_link = {}
    for line in map(json.loads, linked.stdout.splitlines()):
        parts = line["parts"] or [line]
        by_link[line["mention"]] = [
            (part["candidates"][0]["concept_id"], part.get("negated", False)) for part in parts
        ]
    assert by_link == CELLS

    assert run("bulk", "link", table, *given, "--workers", 0, "-o", tmp_path / "out").exit_code == 0
    by_bulk: dict[str, list[str]] = {}
    for row in files.output(tmp_path / "out"):
        by_bulk.setdefault(row["mention"], []).append(row["concept_id"])
    assert by_bulk == {cell: [concept for concept, _ in parts] for cell, parts in CELLS.items()}

    made = run("project", "new", tmp_path / "p.nymlink", "--index", built / "index")
    assert made.exit_code == 0, made.stderr
    added = run("project", "add", tmp_path / "p.nymlink", table, "--column", "finding", "--composites", "always")
    assert added.exit_code == 0, added.stderr
    with Project(tmp_path / "p.nymlink") as project:
        assert project.composites == "always"


def test_a_mapping_says_part_and_denied(run: Run, built: Path, table: Path) -> None:
    given = ("link", table, "--index", built / "index", "--column", "finding", "--settings", "composites=always")
    sssom = run(*given, "--format", "sssom")
    assert sssom.exit_code == 0, sssom.stderr
    body = "".join(line for line in sssom.stdout.splitlines(keepends=True) if not line.startswith("#"))
    said = [
        (row["subject_label"], row["predicate_modifier"], row["predicate_id"], row["object_id"])
        for row in csv.DictReader(io.StringIO(body), delimiter="\t")
    ]
    related, exact = "skos:relatedMatch", "skos:exactMatch"
    assert said == [
        ("heart attack, short stature", "", related, "X:1"),
        ("heart attack, short stature", "", related, "X:3"),
        ("no heart attack; short stature", "Not", related, "X:1"),
        ("no heart attack; short stature", "", related, "X:3"),
        ("heart attack (-), short stature (+)", "Not", related, "X:1"),
        ("heart attack (-), short stature (+)", "", related, "X:3"),
        ("heart attack", "", exact, "X:1"),
        ("no short stature", "Not", exact, "X:3"),
    ]
    fhir = json.loads(run(*given, "--format", "fhir-r5").stdout)
    targets = {
        element["code"]: [(target["code"], target["relationship"]) for target in element.get("target", ())]
        for element in fhir["group"][0]["element"]
    }
    assert targets["heart attack, short stature"] == [("X:1", "related-to"), ("X:3", "related-to")]
    assert targets["no heart attack; short stature"] == [("X:1", "not-related-to"), ("X:3", "related-to")]


def test_usagi_maps_parts_and_no_denied_finding(run: Run, tmp_path: Path) -> None:
    (tmp_path / "omop.tsv").write_text("id\tname\nOMOP:44\tgout\nOMOP:45\tfever\n", encoding="utf-8")
    assert run("vocab", "build", tmp_path / "omop.tsv", "-o", tmp_path / "v").exit_code == 0
    assert run("index", "build", tmp_path / "v", "-o", tmp_path / "i", "--encoder", "none").exit_code == 0
    (tmp_path / "t.csv").write_text('term\n"gout, fever"\n"no gout; fever"\n"no gout, fever"\n', encoding="utf-8")
    given = (
        "link",
        tmp_path / "t.csv",
        "--index",
        tmp_path / "i",
        "--column",
        "term",
        "--settings",
        "composites=always",
    )
    usagi = run(*given, "--format", "usagi")
    assert usagi.exit_code == 0, usagi.stderr
    rows = list(csv.DictReader(io.StringIO(usagi.stdout)))
    assert [(row["sourceName"], row["conceptId"]) for row in rows] == [
        ("gout, fever", "44"),
        ("gout, fever", "45"),
        ("no gout; fever", "45"),
        # "No" denies the whole list.
        ("no gout, fever", "0"),
    ]
