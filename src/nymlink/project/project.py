"""A project: the file of a review, opened for reading or writing, and checked for damage."""

from __future__ import annotations

import json
import sqlite3
import time
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final

from nymlink.core.errors import InputError
from nymlink.project.database import Database
from nymlink.project.index_reference import IndexReference
from nymlink.project.rows import Decision, NotSavedError, ProjectError, essence, stored
from nymlink.text.prepare import Composites
from nymlink.vocabulary.restriction import Restriction

ENDING: Final = ".nymlink"
"""Ending of the names of project files."""

_LONGEST_TITLE: Final = 300


class Project:
    """The file of a review. Threads may share a project.

    While it is open for writing, no other process can write to it.

    Args:
        path: the file.
        writes: whether to open it for writing.

    Raises:
        ProjectError: the file is missing, is damaged, has a newer version, or is no project.
        LockedError: another process has it open for writing.
        NotSavedError: it cannot be written to, for example because the disk is full.
    """

    def __init__(self, path: str | Path, *, writes: bool = True) -> None:
        self._database = Database(Path(path), writes=writes)
        self.path = self._database.path
        if self.wrong:
            warnings.warn(
                f"{self.path}: what cannot be read was set aside, in its table set_aside; the rest can be used: "
                + "; ".join(self.wrong),
                stacklevel=2,
            )

    @property
    def wrong(self) -> tuple[str, ...]:
        """Descriptions of the damaged rows that were set aside on opening."""
        return self._database.wrong

    @classmethod
    def create(cls, path: str | Path, *, index: IndexReference, title: str = "") -> Project:
        """Make a project file.

        Args:
            path: the file.
            index: the index that terms are linked to.
            title: its title; by default the name of the file.

        Raises:
            InputError: the title is too long.
            NotSavedError: the file exists already, or cannot be written.
            LockedError: another process is making it.
        """
        title = _checked_title(title) or Path(path).name.removesuffix(ENDING)

        def fill(connection: sqlite3.Connection) -> None:
            store_property(connection, "title", title)
            store_property(connection, "created", now())
            store_property(connection, "index", index.to_dict())

        Database.create(Path(path), fill)
        return cls(path)

    def __enter__(self) -> Project:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, and release the lock for other processes."""
        self._database.close()

    def reading(self) -> AbstractContextManager[sqlite3.Connection]:
        """Yield a connection to read; see :meth:`nymlink.project.database.Database.reading`."""
        return self._database.reading()

    def writing(self) -> AbstractContextManager[sqlite3.Connection]:
        """Yield a connection to write all or nothing; see :meth:`nymlink.project.database.Database.writing`."""
        return self._database.writing()

    @property
    def writes(self) -> bool:
        """Whether it was opened for writing."""
        return self._database.writes

    @property
    def title(self) -> str:
        """Its title."""
        return str(self.property("title", self.path.name.removesuffix(ENDING)))

    def rename(self, title: str) -> None:
        """Give the project another title; its file keeps its name.

        Raises:
            InputError: the title is empty or too long.
            ReadOnlyError, NotSavedError: it cannot be written.
        """
        title = _checked_title(title)
        if not title:
            raise InputError("a project needs a title")
        self.set_property("title", title)

    @property
    def created(self) -> int:
        """Time of its creation, in milliseconds since 1970 in UTC."""
        return int(self.property("created", 0))

    @property
    def index(self) -> IndexReference:
        """The index that its terms are linked to."""
        return IndexReference.from_dict(self.property("index", {}))

    @property
    def composites(self) -> Composites:
        """Which terms are split into parts, see :class:`~nymlink.linking.linker.Linker`."""
        return "always" if self.property("composites", "given") == "always" else "given"

    @property
    def restriction(self) -> Restriction:
        """The concepts that its terms are linked to.

        Raises:
            ProjectError: it cannot be read.
        """
        try:
            return Restriction.of(**self.property("restriction", {}))
        except TypeError as error:
            raise ProjectError(f"what the terms are linked to cannot be read ({error})", path=self.path) from error

    def property(self, name: str, default: Any = None) -> Any:
        """Read a property, a JSON value."""
        with self.reading() as connection:
            found = connection.execute("SELECT value FROM property WHERE name = ?", (name,)).fetchone()
        return default if found is None else stored(found[0])

    def set_property(self, name: str, value: Any) -> None:
        """Write a property, a JSON value.

        Raises:
            ReadOnlyError, NotSavedError: it cannot be written.
        """
        with self.writing() as connection:
            store_property(connection, name, value)


def _checked_title(title: str) -> str:
    title = " ".join(title.split())
    if len(title) > _LONGEST_TITLE:
        raise InputError(f"a title may have at most {_LONGEST_TITLE} characters")
    return title


def store_property(connection: sqlite3.Connection, name: str, value: Any) -> None:
    """Write a property, a JSON value, in the transaction of the caller."""
    connection.execute(
        "INSERT INTO property VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
        (name, json.dumps(value)),
    )


def now() -> int:
    """The current time, in milliseconds since 1970 in UTC."""
    return time.time_ns() // 1_000_000


_HEADER: Final = b"SQLite format 3\0"


def is_project(path: Path) -> bool:
    """Whether a file begins like a project, or has the ending of one."""
    if not path.is_file():
        return False
    with open(path, "rb") as file:
        return file.read(len(_HEADER)) == _HEADER or path.suffix == ENDING


def find_damage(path: Path) -> list[str]:
    """Check a project; return a message for each kind of damage.

    nymlink compares the seal of a closed project with the file. SQLite checks all pages, keys and indexes. Some
    values are derived from the log and stored for speed: the current decision of a reviewer, and whether decisions
    are equal. nymlink computes these values again from the log, and compares them.
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
