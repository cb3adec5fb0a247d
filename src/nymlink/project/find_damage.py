"""Find damage in a project: in its bytes, its tables, and between its log and what follows from that."""

from __future__ import annotations

import sqlite3
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from nymlink.core.errors import InputError
from nymlink.project.errors import NotSavedError, ProjectError
from nymlink.project.model import Decision, essence
from nymlink.project.project import ENDING, Project

_HEADER: Final = b"SQLite format 3\0"


def is_project(path: Path) -> bool:
    """Whether a path is a file that begins as projects do, or that is called as one."""
    if not path.is_file():
        return False
    with open(path, "rb") as file:
        return file.read(len(_HEADER)) == _HEADER or path.suffix == ENDING


def find_damage(path: Path) -> list[str]:
    """Check a project: a message for each kind of damage.

    The seal of a project at rest is compared, SQLite checks all pages, keys and indexes, and what is kept of the
    log for speed (which decision of a reviewer counts, what decisions are equal) is made again from the log.
    """
    try:
        with warnings.catch_warnings(action="ignore"):
            project = Project(path, writes=False)
        with project, project.reading() as connection:
            unread = (f"{wrong} cannot be read: take a copy from before" for wrong in project.wrong)
            return [*unread, *_damage(connection)]
    except (ProjectError, NotSavedError) as error:
        return [error.message]


def _damage(connection: sqlite3.Connection) -> Iterator[str]:
    for (found,) in connection.execute("PRAGMA integrity_check(10)"):
        if found != "ok":
            yield f"the file is damaged ({found}): take a copy from before"
    for table, row, parent, _ in connection.execute("PRAGMA foreign_key_check"):
        yield f"row {row} of {table} belongs to a {parent} that is not there: take a copy from before"
    undone = {at for (at,) in connection.execute("SELECT undoes FROM decision WHERE undoes IS NOT NULL")}
    current: dict[tuple[int, str], int] = {}
    for row in connection.execute("SELECT * FROM decision WHERE origin != 'undo' ORDER BY id"):
        if row["id"] in undone:
            continue
        current[row["term"], row["reviewer"]] = row["id"]
        try:
            made = Decision.of(row)
            is_sound = essence(made.verdict, made.targets) == row["essence"]
        except (InputError, ValueError, TypeError, KeyError):
            is_sound = False
        if not is_sound:
            yield f"decision {row['id']} contradicts itself: take a copy from before"
    kept = {(term, who): number for term, who, number in connection.execute("SELECT * FROM current")}
    for term, who in sorted(key for key in kept.keys() | current if kept.get(key) != current.get(key)):
        yield f"of {who} on term {term} another decision counts than the last in the log: take a copy from before"
