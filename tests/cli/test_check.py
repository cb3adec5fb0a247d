"""Names and ids of a table are held against each other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

ONTOLOGY = """\
format-version: 1.2

[Term]
id: X:1
name: vascular disease

[Term]
id: X:2
name: hypertension
synonym: "high blood pressure" EXACT []
alt_id: X:20
is_a: X:1

[Term]
id: X:3
name: hypotension
is_a: X:1

[Term]
id: X:4
name: renal hypertension
is_a: X:2

[Term]
id: X:5
name: obsolete dropsy
is_obsolete: true

[Term]
id: X:6
name: gout
"""

ROWS = [
    ("hypertension", "X:2", "agrees", None),
    ("High blood pressure", "x_2", "agrees", None),
    ("hypertensions", "X_2", "agrees", None),
    ("hypotension", "X:2", "opposite", "X:3"),
    ("no hypertension", "X:2", "opposite", None),
    ("renal hypertension", "X:2", "narrower", "X:4"),
    ("vascular disease", "X:4", "broader", "X:1"),
    ("gout", "X:2", "other", "X:6"),
    ("hypertension", "X:20", "replaced", "X:2"),
    ("dropsy", "X:5", "obsolete", None),
    ("gout", "X:99", "unknown", "X:6"),
    ("gout", "", "missing", None),
    ("zzz", "X:6", "unlike", None),
]


@pytest.fixture(scope="module")
def index(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("index")
    (folder / "x.obo").write_text(ONTOLOGY, encoding="utf-8")
    built = run("index", "build", folder / "x.obo", "-o", folder / "index", "--encoder", "none")
    assert built.exit_code == 0, built.output
    return folder / "index"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "t.csv"
    lines = ["label,code", *(f"{name},{stated}" for name, stated, *_ in ROWS)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_each_verdict(run: Run, index: Path, table: Path) -> None:
    result = run("check", table, "--name", "label", "--id", "code", "--index", index, "--json")
    assert result.exit_code == 1, result.output
    found = {each["where"]: each for each in map(json.loads, result.stdout.splitlines())}
    for line, (name, stated, verdict, concept_id) in enumerate(ROWS, start=2):
        own = found.pop(f"t:{line}", None)
        if verdict == "agrees":
            assert own is None, (name, stated)
            continue
        assert own is not None, (name, stated)
        assert (own["name"], own["stated"], own["verdict"]) == (name, stated, verdict)
        assert concept_id is None or own["concept_id"] == concept_id
    assert not found
    assert "13 names and ids: 3 agrees" in result.stderr


def test_a_table_that_agrees_has_an_empty_report(run: Run, index: Path, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"label": "gout", "code": "X:6"}\n', encoding="utf-8")
    result = run("check", path, "--name", "label", "--id", "code", "--index", index)
    assert (result.exit_code, result.stdout) == (
        0,
        "where\tname\tstated\tverdict\tconcept_id\tconcept_name\tconfidence\n",
    )


def test_the_fixed_table_has_the_ids_to_use(run: Run, index: Path, tmp_path: Path) -> None:
    path, fixed = tmp_path / "t.csv", tmp_path / "fixed.csv"
    path.write_text("n,label,code\n1,=gout,X:2\n2,dropsy,X:5\n3,gout,X:20\n4,gout,X:6\n", encoding="utf-8")
    result = run("check", path, "--name", "label", "--id", "code", "--index", index, "-o", fixed)
    assert result.exit_code == 1, result.output
    assert len(result.stdout.splitlines()) == 4
    assert fixed.read_text(encoding="utf-8").splitlines() == [
        "n,label,code,verdict,old_id",
        "1,'=gout,X:6,other,X:2",
        "2,dropsy,X:5,obsolete,",
        "3,gout,X:2,replaced,X:20",
        "4,gout,X:6,,",
    ]


@pytest.mark.parametrize("columns", [("name", "code"), ("label", "id")])
def test_a_column_that_is_not_there_is_named(run: Run, index: Path, table: Path, columns: tuple[str, str]) -> None:
    result = run("check", table, "--name", columns[0], "--id", columns[1], "--index", index)
    assert result.exit_code == 2
    assert "label, code" in result.stderr


def test_a_name_that_is_missing_is_reported_and_the_rest_checked(run: Run, index: Path, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("label,code\n,X:1\ngout,X:6\n", encoding="utf-8")
    result = run("check", path, "--name", "label", "--id", "code", "--index", index)
    assert result.exit_code == 0
    assert f"{path}:2: the mention is empty" in result.stderr
    assert "1 names and ids: 1 agrees" in result.stderr
