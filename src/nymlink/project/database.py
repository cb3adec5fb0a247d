"""The SQLite file of a project: opened by one writer, its format checked, its errors said in words."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.resources import files
from pathlib import Path
from threading import RLock
from typing import Final
from urllib.parse import quote

from filelock import FileLock, Timeout

from nymlink.core.errors import OutputError
from nymlink.core.store.atomic import atomic_file
from nymlink.project.damage import find_wrong, is_broken, make_room, seal_project, set_aside
from nymlink.project.rows import LockedError, NotSavedError, ProjectError, ReadOnlyError

_FORMAT: Final = 1
"""Version of the tables, SQLite's `user_version`."""

_APPLICATION: Final = 0x6E796D6C
"""SQLite's `application_id` of project files: "nyml"."""

_SCHEMA: Final = files("nymlink.project") / "data" / "schema.sql"
_PARTS: Final = "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL"
_HEADER: Final = b"SQLite format 3\0"
_UNWRITABLE: Final = ("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_IOERR")
_VALUES: Final = ("CHECK constraint failed", "NULL value in", "NUMERIC value in", "TEXT value in", "non-")
"""Beginnings of what SQLite finds wrong with values, not with the file."""

_IN_USE: Final = ("SQLITE_BUSY", "SQLITE_LOCKED")
_DAMAGED: Final = ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_ERROR", "SQLITE_SCHEMA")
"""Beginnings of the names of SQLite's errors; an SQLITE_ERROR is a table that is not there."""


class Database:
    """A connection that threads share, one at a time.

    Args:
        path: the file.
        writes: whether it is written to: then no other process can, until it is closed.

    Attributes:
        wrong: what was wrong with rows that were set aside when it was opened.

    Raises:
        ProjectError: the file is missing, damaged, of a newer version, or no project.
        LockedError: another process writes to it.
        NotSavedError: it cannot be written to: the disk is full, for example.
    """

    def __init__(self, path: Path, *, writes: bool) -> None:
        _require_project(path)
        _require_sealed(path)
        self.path = path
        self.writes = writes
        self._turn = RLock()
        self._lock = _locked(path) if writes else None
        try:
            self._connection = _connected(path, writes=writes)
            try:
                self._check()
                self.wrong = self._set_aside()
            except BaseException:
                self._connection.close()
                raise
        except BaseException:
            self._release()
            raise

    @staticmethod
    def create(path: Path, fill: Callable[[sqlite3.Connection], None]) -> None:
        """Make a file with empty tables; it is there only when it is whole.

        Args:
            path: the file.
            fill: writes what is in it from the beginning.

        Raises:
            NotSavedError: there is such a file already, or it cannot be written.
            LockedError: another process makes it.
        """
        _require_free(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            lock = _locked(path)
            try:
                # Another process may have made one meanwhile; from now on none can.
                _require_free(path)
                with atomic_file(path) as partial:
                    _write_new(partial, fill)
            finally:
                lock.release()
        except OutputError as error:
            raise NotSavedError(error.message, path=path) from error
        except (OSError, sqlite3.Error) as error:
            raise NotSavedError(f"the project cannot be made ({error})", path=path) from error

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection, to read what is so at one time.

        Raises:
            ProjectError: the file is damaged.
        """
        with self._turn, _errors_in_words(self.path):
            yield self._connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection, to write; all is saved when the block ends, or nothing is.

        Raises:
            ReadOnlyError: the file was opened to read.
            NotSavedError: it could not be written.
            ProjectError: the file is damaged.
        """
        if not self.writes:
            raise ReadOnlyError("the project was opened to read", path=self.path)
        with self._turn, _errors_in_words(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.commit()
            except BaseException:
                # A full disk may have ended the transaction already.
                if self._connection.in_transaction:
                    self._connection.rollback()
                raise

    def close(self) -> None:
        """Close the file, and let others write to it."""
        with self._turn:
            at_rest = False
            if self.writes:
                # At rest it is one file, which can be copied; not where somebody is reading it.
                with suppress(sqlite3.Error):
                    make_room(self._connection)
                    mode = self._connection.execute("PRAGMA journal_mode = DELETE").fetchone()[0]
                    at_rest = mode == "delete"
            self._connection.close()
            if at_rest:
                # Without a seal nothing but damage in it is missed.
                with suppress(OSError):
                    seal_project(Path(os.path.realpath(self.path)))
            self._release()

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.release()

    def _set_aside(self) -> tuple[str, ...]:
        """Set aside the rows that are damaged, in memory where the file is only read; name them."""
        with _errors_in_words(self.path):
            found = self._quick_check()
            # What is no more than a value that may not be there is among what is set aside.
            if found != "ok" and not found.startswith(_VALUES):
                raise ProjectError(_damaged(found), path=self.path)
            wrong = find_wrong(self._connection)
            if wrong:
                if not self.writes:
                    self._connection = _in_memory(self._connection)
                set_aside(self._connection)
                found = self._quick_check()
            if found != "ok":
                raise ProjectError(_damaged(found), path=self.path)
        return tuple(wrong)

    def _quick_check(self) -> str:
        return str(self._connection.execute("PRAGMA quick_check(1)").fetchone()[0])

    def _check(self) -> None:
        with _errors_in_words(self.path):
            application = self._connection.execute("PRAGMA application_id").fetchone()[0]
            version = self._connection.execute("PRAGMA user_version").fetchone()[0]
            if application != _APPLICATION:
                raise ProjectError("this is a database, but no project of nymlink", path=self.path)
            if version != _FORMAT:
                raise ProjectError(
                    f"the project has format {version}, and this nymlink reads {_FORMAT}: use the nymlink that "
                    "wrote it, or a newer one",
                    path=self.path,
                )
            parts = set(map(tuple, self._connection.execute(_PARTS)))
            # No code of others' runs: a file may have come from anybody.
            if not _own_parts() <= parts or any(kind == "trigger" for kind, _, _ in parts):
                raise ProjectError("its tables are not those of a project: it is damaged, or none", path=self.path)


def _in_memory(connection: sqlite3.Connection) -> sqlite3.Connection:
    """Copy a database into memory, and close it."""
    copy = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
    copy.row_factory = sqlite3.Row
    connection.backup(copy)
    connection.close()
    return copy


def _require_free(path: Path) -> None:
    if path.exists():
        raise NotSavedError("there is such a file already: choose another name", path=path)


def _write_new(path: Path, fill: Callable[[sqlite3.Connection], None]) -> None:
    connection = sqlite3.connect(path)
    try:
        # A journal beside it would be left where this process is killed.
        connection.execute("PRAGMA journal_mode = MEMORY")
        connection.executescript(_SCHEMA.read_text(encoding="utf-8"))
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        connection.execute(f"PRAGMA user_version = {_FORMAT}")
        fill(connection)
        connection.commit()
    finally:
        connection.close()


def _require_project(path: Path) -> None:
    """Check that a file begins as databases do.

    Raises:
        ProjectError: it is missing, or does not.
    """
    try:
        with open(path, "rb") as file:
            head = file.read(len(_HEADER))
    except OSError as error:
        raise ProjectError(f"the project cannot be opened ({error.strerror})", path=path) from error
    if head != _HEADER:
        raise ProjectError("this is no project file of nymlink: make one with `nymlink project new`", path=path)


def _require_sealed(path: Path) -> None:
    """Check that a file is as it was when it was closed.

    Raises:
        ProjectError: it is damaged.
    """
    try:
        broken = is_broken(Path(os.path.realpath(path)))
    except OSError as error:
        raise ProjectError(f"the project cannot be opened ({error.strerror})", path=path) from error
    if broken:
        raise ProjectError(_damaged("it is not as it was when it was closed"), path=path)


def _locked(path: Path) -> FileLock:
    path = Path(os.path.realpath(path))
    lock = FileLock(path.with_name(f".{path.name}.lock"), thread_local=False)
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise LockedError(
            "another nymlink (a server or a command) writes to this project: stop that first", path=path
        ) from error
    except OSError as error:
        raise NotSavedError(f"nothing can be written beside the project ({error.strerror})", path=path) from error
    return lock


def _connected(path: Path, *, writes: bool) -> sqlite3.Connection:
    mode = "rw" if writes else "ro"
    address = f"file:{quote(os.path.realpath(path))}?mode={mode}"
    with _errors_in_words(path):
        connection = sqlite3.connect(address, uri=True, check_same_thread=False, isolation_level=None, timeout=20)
        try:
            connection.row_factory = sqlite3.Row
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA trusted_schema = OFF")
            if writes:
                # What is deleted is gone, the seal of before too.
                connection.execute("PRAGMA secure_delete = ON")
                connection.execute("PRAGMA journal_mode = WAL")
                # A decision is on the disk before it is answered.
                connection.execute("PRAGMA synchronous = FULL")
        except BaseException:
            connection.close()
            raise
    return connection


@contextmanager
def _errors_in_words(path: Path) -> Iterator[None]:
    try:
        yield
    except UnicodeDecodeError as error:
        # The message of an error quotes a name in the file that is no text.
        raise ProjectError(_damaged("a name in it is no text"), path=path) from error
    except sqlite3.DatabaseError as error:
        name = getattr(error, "sqlite_errorname", "")
        if name == "SQLITE_FULL":
            raise NotSavedError(
                "the disk is full: nothing of this was saved, and all that was saved before is kept; make "
                "room and try again",
                path=path,
            ) from error
        if name.startswith(_UNWRITABLE):
            raise NotSavedError(
                f"the project cannot be read or written ({error}): check the room on the disk, and who may write "
                "there",
                path=path,
            ) from error
        if name.startswith(_IN_USE):
            raise LockedError("another program uses this project: stop that first", path=path) from error
        # What cannot be decoded is an error without a name.
        if name.startswith(_DAMAGED) or (not name and type(error) is sqlite3.OperationalError):
            raise ProjectError(_damaged(str(error)), path=path) from error
        raise


@cache
def _own_parts() -> frozenset[tuple[str, str, str]]:
    """List the tables, indexes and views of a project: kind, name, and the statement that made each."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.executescript(_SCHEMA.read_text(encoding="utf-8"))
        return frozenset(connection.execute(_PARTS).fetchall())
    finally:
        connection.close()


def _damaged(reason: str) -> str:
    return (
        f"the project file is damaged ({reason}): take a copy from before; `sqlite3 FILE .recover` may save rows"
    )
