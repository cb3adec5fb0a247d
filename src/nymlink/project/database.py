"""The SQLite file of a project: one writer at a time, a checked format, and errors in plain words."""

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

_FORMAT: Final = 2
"""Version of the tables, stored in SQLite's `user_version`. Files of older versions are changed on opening."""

_APPLICATION: Final = 0x6E796D6C
"""SQLite's `application_id` of project files: "nyml"."""

_SCHEMA: Final = files("nymlink.project") / "data" / "schema.sql"
_TABLES: Final = ("property", "file", "term", "row", "decision", "current", "assignment", "release_change")
"""The tables of version 1."""
_PARTS: Final = "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL"
_HEADER: Final = b"SQLite format 3\0"
_UNWRITABLE: Final = ("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_IOERR")
_VALUES: Final = ("CHECK constraint failed", "NULL value in", "NUMERIC value in", "TEXT value in", "non-")
"""Beginnings of SQLite's messages about wrong values, which are no damage to the file itself."""

_IN_USE: Final = ("SQLITE_BUSY", "SQLITE_LOCKED")
_DAMAGED: Final = ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_ERROR", "SQLITE_SCHEMA")
"""Beginnings of the names of SQLite's errors for damage; SQLITE_ERROR means a missing table."""


class Database:
    """A connection that threads share, one at a time.

    Args:
        path: the file.
        writes: whether to open it for writing; then no other process can write until it is closed.

    Attributes:
        wrong: descriptions of the damaged rows that were set aside on opening.

    Raises:
        ProjectError: the file is missing, damaged, of a newer version, or no project.
        LockedError: another process has it open for writing.
        NotSavedError: it cannot be written to, for example because the disk is full.
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
                self._require_ours()
                self._upgrade()
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
        """Make a file with empty tables; it appears only when it is complete.

        Args:
            path: the file.
            fill: writes the first content.

        Raises:
            NotSavedError: the file exists already, or cannot be written.
            LockedError: another process is making it.
        """
        _require_free(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            lock = _locked(path)
            try:
                # Another process may have made the file before we got the lock; now none can.
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
        """Yield the connection for reading a consistent state.

        Raises:
            ProjectError: the file is damaged.
        """
        with self._turn, _errors_in_words(self.path):
            yield self._connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection for writing; either all changes of the block are saved, or none.

        Raises:
            ReadOnlyError: the file was opened for reading only.
            NotSavedError: it could not be written.
            ProjectError: the file is damaged.
        """
        if not self.writes:
            raise ReadOnlyError("the project was opened for reading only", path=self.path)
        with self._turn, _errors_in_words(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.commit()
            except BaseException:
                # On a full disk, SQLite may have ended the transaction already.
                if self._connection.in_transaction:
                    self._connection.rollback()
                raise

    def close(self) -> None:
        """Close the file, and release the lock for other processes."""
        with self._turn:
            at_rest = False
            if self.writes:
                # Without a log it is a single file, which can be copied; this fails while somebody reads it.
                with suppress(sqlite3.Error):
                    make_room(self._connection)
                    mode = self._connection.execute("PRAGMA journal_mode = DELETE").fetchone()[0]
                    at_rest = mode == "delete"
            self._connection.close()
            if at_rest:
                # Without a seal, only damage to the content goes unnoticed.
                with suppress(OSError):
                    seal_project(Path(os.path.realpath(self.path)))
            self._release()

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.release()

    def _set_aside(self) -> tuple[str, ...]:
        """Set damaged rows aside, in memory if the file is open for reading only; return their descriptions."""
        with _errors_in_words(self.path):
            found = self._quick_check()
            # Rows with invalid values are set aside below; any other finding is damage to the file.
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

    def _require_ours(self) -> None:
        with _errors_in_words(self.path):
            application = self._connection.execute("PRAGMA application_id").fetchone()[0]
            version = self._connection.execute("PRAGMA user_version").fetchone()[0]
        if application != _APPLICATION:
            raise ProjectError("this is a database, but not a project of nymlink", path=self.path)
        if not 1 <= version <= _FORMAT:
            raise ProjectError(
                f"the project has format {version}, and this nymlink reads up to {_FORMAT}: use the nymlink that "
                "wrote it, or a newer one",
                path=self.path,
            )

    def _upgrade(self) -> None:
        """Change a file of an older version, in memory if it is open for reading only."""
        with _errors_in_words(self.path):
            if self._connection.execute("PRAGMA user_version").fetchone()[0] == _FORMAT:
                return
            found = {name for kind, name, _ in self._connection.execute(_PARTS) if kind == "table"}
            if not found >= set(_TABLES):
                raise ProjectError(
                    "its tables are not those of a project: it is damaged, or not a project", path=self.path
                )
            if not self.writes:
                self._connection = _in_memory(self._connection)
            _move_to_new_tables(self._connection)

    def _check(self) -> None:
        with _errors_in_words(self.path):
            parts = set(map(tuple, self._connection.execute(_PARTS)))
            # Run no code from the file: it may come from anybody.
            if not _own_parts() <= parts or any(kind == "trigger" for kind, _, _ in parts):
                raise ProjectError(
                    "its tables are not those of a project: it is damaged, or not a project", path=self.path
                )


def _move_to_new_tables(connection: sqlite3.Connection) -> None:
    """Move the rows of a file of an older version into new tables, in one transaction."""
    connection.execute("PRAGMA foreign_keys = OFF")
    # Otherwise references to the old tables would be renamed, too.
    connection.execute("PRAGMA legacy_alter_table = ON")
    connection.execute("BEGIN IMMEDIATE")
    try:
        for kind, name, _ in connection.execute(_PARTS).fetchall():
            if kind != "table":
                connection.execute(f'DROP {kind} "{name}"')
        for table in _TABLES:
            connection.execute(f"ALTER TABLE {table} RENAME TO old_{table}")
        for statement in _statements():
            connection.execute(statement)
        for table in _TABLES:
            columns = [
                {name for _, name, *_ in connection.execute(f"PRAGMA table_info({each})")}
                for each in (table, f"old_{table}")
            ]
            common = ", ".join(sorted(columns[0] & columns[1]))
            connection.execute(f"INSERT INTO {table} ({common}) SELECT {common} FROM old_{table}")
            connection.execute(f"DROP TABLE old_{table}")
        connection.execute(f"PRAGMA user_version = {_FORMAT}")
        connection.commit()
    except BaseException:
        if connection.in_transaction:
            connection.rollback()
        raise
    finally:
        connection.execute("PRAGMA legacy_alter_table = OFF")
        connection.execute("PRAGMA foreign_keys = ON")


def _statements() -> Iterator[str]:
    statement = ""
    for line in _SCHEMA.read_text(encoding="utf-8").splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _in_memory(connection: sqlite3.Connection) -> sqlite3.Connection:
    """Copy a database into memory, and close it."""
    copy = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
    copy.row_factory = sqlite3.Row
    connection.backup(copy)
    connection.close()
    return copy


def _require_free(path: Path) -> None:
    if path.exists():
        raise NotSavedError("the file exists already: choose another name", path=path)


def _write_new(path: Path, fill: Callable[[sqlite3.Connection], None]) -> None:
    connection = sqlite3.connect(path)
    try:
        # A journal file would stay behind if this process is killed.
        connection.execute("PRAGMA journal_mode = MEMORY")
        connection.executescript(_SCHEMA.read_text(encoding="utf-8"))
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        connection.execute(f"PRAGMA user_version = {_FORMAT}")
        fill(connection)
        connection.commit()
    finally:
        connection.close()


def _require_project(path: Path) -> None:
    """Check that a file begins like a database."""
    try:
        with open(path, "rb") as file:
            head = file.read(len(_HEADER))
    except OSError as error:
        raise ProjectError(f"the project cannot be opened ({error.strerror})", path=path) from error
    if head != _HEADER:
        raise ProjectError("this is no project file of nymlink: make one with `nymlink project new`", path=path)


def _require_sealed(path: Path) -> None:
    """Check that a file has not changed since it was closed."""
    try:
        broken = is_broken(Path(os.path.realpath(path)))
    except OSError as error:
        raise ProjectError(f"the project cannot be opened ({error.strerror})", path=path) from error
    if broken:
        raise ProjectError(_damaged("its content has changed since it was closed"), path=path)


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
                # Overwrite deleted content, including the previous seal.
                connection.execute("PRAGMA secure_delete = ON")
                connection.execute("PRAGMA journal_mode = WAL")
                # A decision is on the disk before the request is answered.
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
        # The error message quotes a name in the file that is not valid text.
        raise ProjectError(_damaged("a name in it is not valid text"), path=path) from error
    except sqlite3.DatabaseError as error:
        name = getattr(error, "sqlite_errorname", "")
        if name == "SQLITE_FULL":
            raise NotSavedError(
                "the disk is full: nothing of this change was saved, and all earlier changes are kept; make "
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
        # An error without a name means text that cannot be decoded.
        if name.startswith(_DAMAGED) or (not name and type(error) is sqlite3.OperationalError):
            raise ProjectError(_damaged(str(error)), path=path) from error
        raise


@cache
def _own_parts() -> frozenset[tuple[str, str, str]]:
    """List the tables, indexes and views of a project: kind, name, and CREATE statement."""
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
