"""A project at rest is sealed: damage that SQLite cannot see is noticed."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from nymlink.project.decisions import decide
from nymlink.project.project import Project
from nymlink.project.rows import ProjectError


def test_any_flipped_bit_is_noticed_or_changes_nothing(prepared: Path, path: Path) -> None:
    content = prepared.read_bytes()
    for at in range(7, len(content), 997):
        flipped = bytearray(content)
        flipped[at] ^= 1 << at % 8
        path.write_bytes(flipped)
        if flipped[24:28] == content[24:28]:
            with pytest.raises(ProjectError, match=r"damaged|no project"), Project(path, writes=False):
                pass


def test_a_comment_with_a_flipped_bit_is_noticed(prepared: Path, path: Path) -> None:
    shutil.copy(prepared, path)
    with Project(path) as project:
        decide(project, reviewer="ann", term=1, verdict="flag", comment="remember me")
    path.write_bytes(path.read_bytes().replace(b"remember me", b"remember md"))
    with pytest.raises(ProjectError, match="content has changed since it was closed"):
        Project(path)


def test_what_other_programs_change_is_no_damage(prepared: Path, path: Path) -> None:
    shutil.copy(prepared, path)
    connection = sqlite3.connect(path)
    connection.execute("UPDATE property SET value = '\"Other visits\"' WHERE name = 'title'")
    connection.commit()
    connection.close()
    with Project(path) as project:
        assert project.title == "Other visits"
    # And sealed again.
    path.write_bytes(path.read_bytes().replace(b"Other visits", b"Other visitt"))
    with pytest.raises(ProjectError, match="changed since it was closed"):
        Project(path)


def test_a_project_that_was_not_closed_opens_with_what_was_saved(prepared: Path, path: Path) -> None:
    shutil.copy(prepared, path)
    project = Project(path)
    decide(project, reviewer="ann", term=1, verdict="flag", comment="remember me")
    # As a killed process leaves it: a file and its log.
    copy = path.with_name("copy.nymlink")
    shutil.copy(path, copy)
    shutil.copy(path.with_name(f"{path.name}-wal"), copy.with_name(f"{copy.name}-wal"))
    project.close()
    with Project(copy) as found, found.reading() as connection:
        assert connection.execute("SELECT comment FROM decision").fetchone()[0] == "remember me"


def test_a_project_without_a_seal_opens_and_gets_one(prepared: Path, path: Path) -> None:
    shutil.copy(prepared, path)
    connection = sqlite3.connect(path)
    connection.execute("DELETE FROM property WHERE name = 'seal'")
    connection.commit()
    connection.close()
    with Project(path):
        pass
    assert path.read_bytes().count(b"nymlink-seal:") == 1
