"""Any delimited table with a header: CSV from spreadsheets, tab-separated, or separated by ``;`` or ``|``.

Columns are found by their headers, or mapped by ``ReadOptions.columns``. Rows with the same id add names to one
concept; its first name in a language is preferred unless the table states the kind of the name.
"""

from __future__ import annotations

import re
import shlex
import warnings
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

from nymlink.core.errors import InputError
from nymlink.core.files import read_lines
from nymlink.core.problems import Problems
from nymlink.core.registry import Format
from nymlink.tables.delimited import Record, list_headers, parse_records
from nymlink.vocabulary.concepts import KINDS, ReadOptions
from nymlink.vocabulary.readers import VocabularyFormat
from nymlink.vocabulary.readers.language_filter import LanguageFilter
from nymlink.vocabulary.readers.tables.header_rows import NamesBuilder
from nymlink.vocabulary.readers.tables.layout import Layout, check_layout, find_layout
from nymlink.vocabulary.tables import Tables

_TRUE: Final = frozenset({"true", "t", "yes", "y", "1", "obsolete", "deprecated"})
_SUFFIXES: Final = (".csv", ".tsv")
_UNCLEAR_KIND: Final = "related"
_KINDS_BY_WORD: Final = {kind: kind for kind in KINDS} | {
    "": "exact",
    "label": "preferred",
    "preflabel": "preferred",
    "preferredlabel": "preferred",
    "preferredname": "preferred",
    "altlabel": "exact",
    "acronym": "abbreviation",
    "brandname": "tradename",
}


class _Rows:
    """Collects the concepts of one table."""

    def __init__(self, layout: Layout, path: Path, options: ReadOptions, problems: Problems) -> None:
        self.builder = NamesBuilder(path, problems)
        self._width = len(layout.headers)
        self._places = list(layout.columns.items())
        self._path = path
        self._problems = problems
        self._languages = LanguageFilter(options)
        self._named: set[tuple[str, str]] = set()

    def add(self, record: Record) -> None:
        """Add the concept and the names of a record, or report why it cannot be used."""
        fields = [field.strip() for field in record.fields]
        row = {column: fields[place] for column, place in self._places if place < len(fields) and fields[place]}
        obsolete = row.get("obsolete", "").lower() in _TRUE
        if any(fields[self._width :]):
            self._reject(record, f"{len(fields)} fields where the header has {self._width}")
            return
        if "id" not in row:
            self._reject(record, "no id")
            return
        # Lists of retired ids often have no names.
        if not obsolete and row.keys().isdisjoint(("name", "synonyms", "replaced_by")):
            self._reject(record, "no name")
            return
        if record.literal_quotes:
            self._repair(record, "an unbalanced quotation mark: read as an ordinary character")
        elif len(fields) < self._width:
            self._repair(
                record, f"{len(fields)} fields where the header has {self._width}: the others taken as empty"
            )
        id_ = row["id"]
        self.builder.concept(
            id_,
            definition=row.get("definition"),
            semantic_types=_split(row.get("semantic_type"), "|"),
            xrefs=_split(row.get("xrefs")),
            parents=_split(row.get("parents")),
            obsolete=obsolete,
            replaced_by=_split(row.get("replaced_by")),
        )
        lang = self._languages.normalise(row.get("lang", ""), self._path, record.line, self._problems)
        if self._languages.wants(lang):
            if "name" in row:
                kind = self._kind(record, row.get("kind"), first=(id_, lang) not in self._named)
                self.builder.name(id_, row["name"], lang=lang, kind=kind)
                self._named.add((id_, lang))
            for synonym in _split(row.get("synonyms")):
                self.builder.name(id_, synonym, lang=lang, kind="exact")

    def _kind(self, record: Record, stated: str | None, *, first: bool) -> str:
        if stated is None:
            return "preferred" if first else "exact"
        kind = kind_of(stated)
        if kind is None:
            kind = _UNCLEAR_KIND
            self._repair(record, f"unknown kind {stated[:40]!r} (known: {', '.join(KINDS)}): taken as {kind!r}")
        return kind

    def _reject(self, record: Record, message: str) -> None:
        self._problems.reject(self._path, record.line, message)

    def _repair(self, record: Record, message: str) -> None:
        self._problems.repair(self._path, record.line, message)


@lru_cache(maxsize=1024)
def kind_of(stated: str) -> str | None:
    """Map a stated kind to one of :data:`KINDS`: ``hasExactSynonym@fr`` → ``exact``."""
    word = re.split("[#/:]", stated)[-1].partition("@")[0].lower()
    return _KINDS_BY_WORD.get(re.sub(r"[\s_-]", "", word).removeprefix("has").removesuffix("synonym"))


def _split(joined: str | None, separator: str | None = None) -> list[str]:
    """Split a field of values joined by ``|`` or, if it has none, by ``;``."""
    if joined is None:
        return []
    separator = separator or ("|" if "|" in joined else ";")
    return [value for part in joined.split(separator) if (value := part.strip())]


def _header(lines: Iterator[tuple[int, str]], options: ReadOptions) -> tuple[int, Layout] | None:
    """Find the header: the first line that is neither blank nor a comment; a header may begin with ``#``, too."""
    for number, line in lines:
        if line.strip():
            layout = find_layout(line.lstrip("# "), options.columns)
            if layout.is_complete or not line.startswith("#"):
                return number, layout
    return None


def _recognises(path: Path, head: str) -> bool:
    header = _header(enumerate(head.splitlines(), start=1), ReadOptions())
    # Without known headers, the file ending decides: as a table, the error message asks for its columns.
    is_table = path.name.lower().removesuffix(".gz").endswith(_SUFFIXES) and "\0" not in head
    return header is not None and (header[1].is_complete or is_table)


def _read(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
    lines = read_lines(path, problems)
    header = _header(lines, options)
    if header is None:
        raise InputError("no header: the first line must name the columns", path=path)
    number, layout = header
    check_layout(layout, options.columns, path, number)
    rows = _Rows(layout, path, options, problems)
    for record in parse_records(lines, layout.delimiter):
        rows.add(record)
    if not len(rows.builder):
        raise InputError("no row that could be used", path=path)
    if layout.unread:
        # Suggest a column of synonyms, the most common omission.
        likeliest = max(layout.unread, key=lambda header: header.casefold().startswith("syn"))
        warnings.warn(
            f"{path}: columns that are not read: {list_headers(layout.unread)}; to read one, map it, "
            f"for example --map-column {shlex.quote(f'synonyms={list_headers([likeliest])}')}",
            stacklevel=2,
        )
    return rows.builder.build()


FORMAT: Final[VocabularyFormat] = Format(
    name="table",
    description="any CSV or TSV with a header that names a column of ids and one of names",
    recognises=_recognises,
    read=_read,
    options=frozenset({"columns"}),
    priority=100,
)
