"""The state of a build: concepts, the sample, and the progress."""

from __future__ import annotations

import contextlib
import json
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import xxhash

from nymlink.core.errors import InputError, OutputError, StoreError
from nymlink.core.files import read_lines
from nymlink.core.problems import Problems
from nymlink.tables.delimited import guess_delimiter, parse_records
from nymlink.xlbel.dump import normalise_title


class _Kept(NamedTuple):
    """An example, the hash of its form, and its own hash. The sample keeps the smallest hashes."""

    of_form: int
    of_example: int
    example: str


class FormSample:
    """A random sample of surface forms, with one example of each form.

    It keeps the forms with the smallest hashes, and for each form the example with the smallest hash. Every form
    therefore has the same chance, whatever its frequency. An example that is offered again changes nothing.

    Args:
        size: number of kept forms.
        seed: seed of the hashes.
    """

    def __init__(self, size: int, seed: int) -> None:
        self._size, self._seed = size, seed
        self._kept: dict[str, _Kept] = {}
        self._largest = 1 << 64

    def offer(self, form: str, example: str) -> None:
        """Offer an example of a form."""
        of_form = self._hash(form)
        if of_form > self._largest:
            return
        offered = _Kept(of_form, self._hash(example), example)
        self._kept[form] = min(offered, self._kept.get(form, offered))
        if len(self._kept) >= 2 * self._size:
            self._kept = dict(self.forms())
            self._largest = max(kept.of_form for kept in self._kept.values())

    def forms(self) -> list[tuple[str, _Kept]]:
        """List the forms of the sample with their examples, in the order of their hashes."""
        return sorted(self._kept.items(), key=lambda item: item[1])[: self._size]

    def examples(self) -> list[tuple[str, str]]:
        """List the forms of the sample, each with its example, in random order."""
        return [(form, kept.example) for form, kept in self.forms()]

    def _hash(self, text: str) -> int:
        return xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"), self._seed)


PageConcepts = dict[str, tuple[str, ...]]
"""Page title → ids of its concepts."""

_ITEM: Final = re.compile(r"(?:wikidata:|wd:|https?://www\.wikidata\.org/(?:entity|wiki)/)?(Q[1-9]\d*)", re.I)
_ID: Final = re.compile(r"[^\s|]+")
_HEADERS: Final = frozenset(
    "page title page_title page_name wikipedia item item_id wikidata wikidata_id qid concept_id".split()
)
"""First cells of a header."""


def read_page_concepts(
    path: Path, *, items: Path | None = None, language: str = "", problems: Problems | None = None
) -> PageConcepts:
    """Read a table of two columns: page title → concept id, or Wikidata id → concept id.

    A page in several rows, or with several ids joined by ``|``, has several concepts. A header is not required.

    Args:
        path: the table, TSV or CSV, plain or gzip.
        items: a table of two columns, page title → Wikidata id, if ``path`` has Wikidata ids.
        language: code of the Wikipedia's language.
        problems: receives rows that cannot be used.

    Raises:
        InputError: a table cannot be read, nothing in it can be used, or ``path`` has Wikidata ids and ``items``
            is ``None``.
    """
    problems = Problems() if problems is None else problems
    rows = list(_rows(path, problems))
    is_of_items = bool(rows) and all(_ITEM.fullmatch(key) for _, key, _ in rows)
    if items is None:
        if is_of_items:
            raise InputError(
                "the first column has Wikidata ids, not page titles: give a table of the titles of its pages and "
                "their Wikidata ids, too (--wikidata)",
                path=path,
            )
        keys: Iterable[tuple[str, list[str]]] = ((normalise_title(key, language), ids) for _, key, ids in rows)
    else:
        keys = _by_title(rows, path, _titles_of_items(items, language, problems), problems)
    concepts: dict[str, dict[str, None]] = {}
    for title, ids in keys:
        concepts.setdefault(title, {}).update(dict.fromkeys(ids))
    if not concepts:
        raise InputError("no page has a concept: two columns are needed, page title and concept id", path=path)
    if all(title.isdecimal() for title in concepts):
        raise InputError("the first column has numbers of pages: their titles are needed", path=path)
    return {title: tuple(ids) for title, ids in concepts.items()}


def _rows(path: Path, problems: Problems) -> Iterator[tuple[int, str, list[str]]]:
    """Yield line number, first cell and the ids in the second cell of each usable row."""
    lines = read_lines(path, problems)
    first = next((line for line in lines if line[1].strip()), None)
    if first is None:
        raise InputError("the table is empty", path=path)
    delimiter = guess_delimiter(first[1])
    for record in parse_records((line for part in ([first], lines) for line in part), delimiter):
        if len(record.fields) != 2:
            problems.reject(path, record.line, f"{len(record.fields)} columns instead of 2")
            continue
        key, ids = record.fields[0].strip(), [id_.strip() for id_ in record.fields[1].split("|")]
        if record.line == first[0] and key.casefold() in _HEADERS:
            continue
        if not key or not all(map(_ID.fullmatch, ids)):
            problems.reject(path, record.line, "no page, or no id of a concept (an id has no space in it)")
            continue
        yield record.line, key, ids


def _titles_of_items(path: Path, language: str, problems: Problems) -> dict[str, list[str]]:
    titles: dict[str, list[str]] = {}
    for line, title, ids in _rows(path, problems):
        item = _ITEM.fullmatch(ids[0])
        if item is None or len(ids) > 1:
            problems.reject(path, line, "the second column has no Wikidata id, such as Q12152")
            continue
        titles.setdefault(item[1].upper(), []).append(normalise_title(title, language))
    if not titles:
        raise InputError("no row has a page title and then a Wikidata id: are the columns swapped?", path=path)
    return titles


def _by_title(
    rows: list[tuple[int, str, list[str]]], path: Path, titles: dict[str, list[str]], problems: Problems
) -> Iterator[tuple[str, list[str]]]:
    for line, key, ids in rows:
        item = _ITEM.fullmatch(key)
        if item is None:
            problems.reject(path, line, "the first column has no Wikidata id, such as Q12152")
            continue
        # Most concepts have no page in most languages.
        for title in titles.get(item[1].upper(), ()):
            yield title, ids


_TABLES: Final = """
CREATE TABLE IF NOT EXISTS kept (key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE IF NOT EXISTS redirects (source TEXT PRIMARY KEY, target TEXT);
CREATE TABLE IF NOT EXISTS examples (form TEXT PRIMARY KEY, example TEXT);
"""
_SETTINGS: Final = "settings"


class BuildState:
    """Progress of a build, in an SQLite file.

    Args:
        path: its file, created if it is missing.
        settings: settings of the build, as JSON values.

    Raises:
        StoreError: the file belongs to a build with other settings, is damaged, or another process uses it.
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
        """Store values, add redirects, and replace the examples, in one transaction."""
        with self._errors(), self._database:
            rows = [(key, json.dumps(value, ensure_ascii=False)) for key, value in values.items()]
            self._database.executemany("INSERT OR REPLACE INTO kept VALUES (?, ?)", rows)
            self._database.executemany("INSERT OR REPLACE INTO redirects VALUES (?, ?)", redirects)
            if examples is not None:
                self._database.execute("DELETE FROM examples")
                self._database.executemany("INSERT INTO examples VALUES (?, ?)", examples)

    def redirects(self) -> dict[str, str]:
        """Return the titles of redirects, each with the title of its target."""
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
