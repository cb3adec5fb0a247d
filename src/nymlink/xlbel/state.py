"""Store the progress of a build in a file beside its output, so that a build that was stopped can go on."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from nymlink.core.errors import OutputError, StoreError

_TABLES: Final = """
CREATE TABLE IF NOT EXISTS kept (key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE IF NOT EXISTS redirects (source TEXT PRIMARY KEY, target TEXT);
CREATE TABLE IF NOT EXISTS examples (form TEXT PRIMARY KEY, example TEXT);
"""
_SETTINGS: Final = "settings"


class BuildState:
    """Progress of a build, in an SQLite file.

    Args:
        path: its file, which is made where there is none.
        settings: settings of the build, as JSON values.

    Raises:
        StoreError: the file is of a build with other settings, is damaged, or another process uses it.
        OutputError: it cannot be written.
    """

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        self._path = path
        with self._errors():
            self._database = sqlite3.connect(path, timeout=0)
            self._database.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._database.executescript(f"BEGIN EXCLUSIVE;{_TABLES}COMMIT;")
        earlier = self.get(_SETTINGS, settings)
        if different := [name for name in settings if earlier.get(name) != settings[name]]:
            self.close()
            raise StoreError(
                f"this is the state of an unfinished build with another {' and '.join(different)}: delete it to "
                "begin again, or give the output another name",
                path=path,
            )
        self.put({_SETTINGS: settings})

    def get(self, key: str, default: Any) -> Any:
        """Return a value, or a default."""
        with self._errors():
            row = self._database.execute("SELECT value FROM kept WHERE key = ?", [key]).fetchone()
            return default if row is None else json.loads(row[0])

    def put(
        self,
        values: Mapping[str, Any],
        *,
        redirects: Iterable[tuple[str, str]] = (),
        examples: Iterable[tuple[str, str]] | None = None,
    ) -> None:
        """Store values, add redirects, and replace the examples, all or nothing."""
        with self._errors(), self._database:
            rows = [(key, json.dumps(value, ensure_ascii=False)) for key, value in values.items()]
            self._database.executemany("INSERT OR REPLACE INTO kept VALUES (?, ?)", rows)
            self._database.executemany("INSERT OR REPLACE INTO redirects VALUES (?, ?)", redirects)
            if examples is not None:
                self._database.execute("DELETE FROM examples")
                self._database.executemany("INSERT INTO examples VALUES (?, ?)", examples)

    def redirects(self) -> dict[str, str]:
        """Return the titles of redirects, each with the title that it leads to."""
        return dict(self._rows("SELECT source, target FROM redirects"))

    def examples(self) -> list[tuple[str, str]]:
        """Return the surface forms, each with its example."""
        return self._rows("SELECT form, example FROM examples")

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def remove(self) -> None:
        """Close and delete the file: the build is done."""
        self.close()
        self._path.unlink(missing_ok=True)

    def _rows(self, query: str) -> list[tuple[str, str]]:
        with self._errors():
            return self._database.execute(query).fetchall()

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.OperationalError, ValueError) as error:
            if "locked" in str(error):
                raise StoreError("another process is building this file: wait for it", path=self._path) from error
            raise OutputError(f"the state of the build cannot be kept: {error}", path=self._path) from error
        except sqlite3.DatabaseError as error:
            raise StoreError(
                f"this is not the state of a build, or is damaged ({error}): delete it to begin again",
                path=self._path,
            ) from error
