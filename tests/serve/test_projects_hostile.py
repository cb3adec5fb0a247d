"""Projects whose rows somebody else wrote: what cannot be read is set aside, and the rest is served."""

from __future__ import annotations

import json
import shutil
import sqlite3
import warnings
from pathlib import Path
from typing import Any

import pytest

from nymlink.project.project import Project, find_damage
from tests.serve.projects import HEART, SEIZURE, decided, make
from tests.serve.toy import serving

DEEP = "[" * 900 + "]" * 900
TOO_DEEP = "[" * 5000 + "]" * 5000
WRONG: tuple[Any, ...] = (
    b"\x00\xff",
    b"",
    "\ud7ff{",
    "[1, [2]]",
    "7",
    '"x"',
    '{"candidates": 3}',
    '{"candidates": [3, {"concept_id": {}}], "also": [], "parts": 1, "query": null}',
    DEEP,
    TOO_DEEP,
    -1,
    2**62,
    1e300,
    None,
    "x" * 3000,
)
"""What may stand in a column, whatever it should have."""

DEEP_COLUMNS = ("link", "targets", "details", "reading", "cells")


@pytest.fixture(scope="module")
def reviewed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with links, decisions, an assignment and what another release changed."""
    folder = tmp_path_factory.mktemp("reviewed")
    with serving(projects=folder) as client:
        make(client)
        assert decided(client, HEART, "concept", "T:3").status_code == 200
        assert decided(client, SEIZURE, "nil").status_code == 200
        client.post("/projects/a/undo", json={"reviewer": "Ann"})
        client.post("/projects/a/assignments", json={"reviewers": ["Ann", "Ben"]})
    path = folder / "a.nymlink"
    connection = sqlite3.connect(path)
    connection.execute("INSERT OR IGNORE INTO assignment VALUES (1, 'Ann')")
    connection.execute("INSERT INTO release_change VALUES (1, 'gone', 'T:9', 'old', '[]')")
    connection.commit()
    connection.close()
    return path


def columns(path: Path) -> dict[str, list[str]]:
    connection = sqlite3.connect(path)
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    found = {
        table: [column for _, column, *_ in connection.execute(f"PRAGMA table_info({table})")]
        for table in tables
        if not table.startswith("sqlite_")
    }
    connection.close()
    return found


def spoil(source: Path, path: Path, table: str, column: str, value: Any) -> bool:
    """Write a value into a column of the first row; whether SQLite takes it."""
    shutil.copy(source, path)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA ignore_check_constraints = ON")
    (key, *_) = [name for _, name, *_, place in connection.execute(f"PRAGMA table_info({table})") if place]
    where = f"{key} = (SELECT {key} FROM {table} WHERE {key} IS NOT 'seal' ORDER BY {key} LIMIT 1)"
    try:
        connection.execute(f"UPDATE {table} SET {column} = ? WHERE {where}", (value,))
        connection.commit()
    except sqlite3.Error:
        return False
    finally:
        connection.close()
    return True


@pytest.mark.filterwarnings("ignore:.*set aside:UserWarning")
@pytest.mark.parametrize(
    ("deep", "simple", "fewest"), [(8, 16, 5), pytest.param(1, 5, 20, marks=pytest.mark.large)]
)
@pytest.mark.parametrize(
    "table", ["property", "file", "term", "row", "decision", "current", "assignment", "release_change"]
)
def test_whatever_stands_in_a_column_the_rest_is_served(
    reviewed: Path, tmp_path: Path, table: str, deep: int, simple: int, fewest: int
) -> None:
    """Each column gets some values, each value some columns: every 8th and 16th; or all, and every 5th."""
    tried = 0
    names = []
    (tmp_path / "projects").mkdir()
    for place, column in enumerate(columns(reviewed)[table]):
        step = deep if column in DEEP_COLUMNS else simple
        for number, value in list(enumerate(WRONG))[place % step :: step]:
            path = tmp_path / "projects" / f"{column}-{number}.nymlink"
            if spoil(reviewed, path, table, column, value):
                names.append(path.name.removesuffix(".nymlink"))
            else:
                path.unlink()
    with serving(projects=tmp_path / "projects") as client:
        for name in names:
            own = f"/projects/{name}"
            answers = [
                client.get(f"{own}/terms?status=decided"),
                client.get(f"{own}/terms/1"),
                client.get(own),
                client.get(f"{own}/export?format=csv"),
                client.get(f"{own}/export?format=sssom"),
                client.get(f"{own}/changes?since=0"),
                client.post(f"{own}/accept", json={"reviewer": "Eve", "above": 0.1}),
                client.post(f"{own}/learn", json={}),
                decided(client, 3, "nil", name=name),
            ]
            tried += len(answers)
            for answer in answers:
                assert answer.status_code < 500, (table, name, answer.request.url, answer.text)
            assert client.get(f"/projects/{name}/terms").status_code == 200, (table, name)
    assert tried > fewest


@pytest.mark.filterwarnings("ignore:.*set aside:UserWarning")
def test_what_is_set_aside_is_named_and_kept(reviewed: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.nymlink"
    spoil(reviewed, path, "term", "text", b"\x00\xff")
    assert any("rows of term: text" in found for found in find_damage(path))
    before = path.read_bytes()
    with pytest.warns(UserWarning, match=r"set aside.*1 of the rows of term: text"):
        Project(path, writes=False).close()
    assert path.read_bytes() == before
    with Project(path) as project, project.reading() as connection:
        kept = dict(connection.execute('SELECT "table", content FROM set_aside ORDER BY "table" DESC').fetchall())
        assert connection.execute("SELECT count(*) FROM term").fetchone()[0] == 2
    assert "text=X'00FF'" in kept["term"]
    assert {"term", "row", "decision"} <= set(kept)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with Project(path) as again:
            assert again.wrong == ()


def test_a_link_that_cannot_be_read_is_made_again(reviewed: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.nymlink"
    spoil(reviewed, path, "term", "link", json.dumps([1]))
    with pytest.warns(UserWarning, match="1 of the links of terms"):
        project = Project(path)
    with project, project.reading() as connection:
        assert connection.execute("SELECT state FROM term WHERE id = 1").fetchone()[0] == "waiting"
        assert list(map(tuple, connection.execute("SELECT * FROM set_aside"))) == []
