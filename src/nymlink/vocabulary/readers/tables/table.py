"""Any delimited table: CSV from spreadsheets, tab-separated, or separated by ``;`` or ``|``.

Columns are found by their headers or a ROBOT template in the second row, or mapped by ``ReadOptions.columns``, by
header or by number. Rows with the same id add names to one concept; its first name in a language is preferred
unless the table states the kind of the name. A line that begins with ``#`` and has fewer fields than the header is
a comment.

A workbook or a Parquet file may hold any format that is a table.
"""

from __future__ import annotations

import re
import shlex
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

from nymlink.core.errors import InputError
from nymlink.core.files import read_lines
from nymlink.core.problems import Problems
from nymlink.core.registry import Format, find_format
from nymlink.tables.cells import cell_text
from nymlink.tables.delimited import Record, format_record, list_headers, parse_records
from nymlink.tables.parquet import is_parquet
from nymlink.tables.workbooks import is_workbook, table_cells
from nymlink.vocabulary.concepts import KINDS, ReadOptions
from nymlink.vocabulary.readers import VOCABULARY_FORMATS, VocabularyFormat
from nymlink.vocabulary.readers.language_filter import LanguageFilter
from nymlink.vocabulary.readers.tables.header_rows import NamesBuilder
from nymlink.vocabulary.readers.tables.layout import (
    SYNONYM_ROLES,
    Layout,
    check_layout,
    column_values,
    find_layout,
    name_score,
    propose,
    with_template,
    without_row_numbers,
)
from nymlink.vocabulary.tables import Tables

_TRUE: Final = frozenset({"true", "t", "yes", "y", "1", "obsolete", "deprecated"})
_SUFFIXES: Final = (".csv", ".tsv")
_SINGLE: Final = frozenset({"id", "name", "lang", "kind", "definition", "obsolete"})
"""Columns with one value a cell."""
_LOOKED_AT: Final = 100
"""Rows by whose content columns are told."""
_LONGEST_NAME: Final = 200
"""Characters of a line that may be a name."""
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
        self._layout = layout
        self._width = len(layout.headers)
        self._separator = options.separator
        self._path = path
        self._problems = problems
        self._languages = LanguageFilter(options)
        self._named: set[tuple[str, str]] = set()

    def add(self, record: Record) -> None:
        """Add the concept and the names of a record, or report why it cannot be used."""
        fields = [field.strip() for field in record.fields]
        if fields[0].startswith("#") and len(fields) < self._width:
            return
        row: dict[str, list[str]] = {}
        for column in self._layout.columns:
            if column.place < len(fields) and fields[column.place]:
                values = self._values(column.role, fields[column.place], column.separator)
                row.setdefault(column.role, []).extend(values)
        obsolete = row.get("obsolete", [""])[0].lower() in _TRUE
        if any(fields[self._width :]):
            self._reject(record, f"{len(fields)} fields where the header has {self._width}")
            return
        if "id" not in row:
            self._reject(record, "no id")
            return
        # Lists of retired ids often have no names.
        if not obsolete and row.keys().isdisjoint({"name", "replaced_by", *SYNONYM_ROLES}):
            self._reject(record, "no name")
            return
        if record.literal_quotes:
            self._repair(record, "an unbalanced quotation mark: read as an ordinary character")
        elif len(fields) < self._width:
            self._repair(
                record, f"{len(fields)} fields where the header has {self._width}: the others taken as empty"
            )
        [id_] = row["id"]
        self.builder.concept(
            id_,
            definition=next(iter(row.get("definition", ())), None),
            semantic_types=row.get("semantic_type", ()),
            xrefs=row.get("xrefs", ()),
            parents=row.get("parents", ()),
            obsolete=obsolete,
            replaced_by=row.get("replaced_by", ()),
        )
        lang = self._languages.normalise(row.get("lang", [""])[0], self._path, record.line, self._problems)
        if self._languages.wants(lang):
            for name in row.get("name", ()):
                kind = self._kind(record, row.get("kind"), first=(id_, lang) not in self._named)
                self.builder.name(id_, name, lang=lang, kind=kind)
                self._named.add((id_, lang))
            for role, values in row.items():
                for synonym in values if role in SYNONYM_ROLES else ():
                    self.builder.name(id_, synonym, lang=lang, kind="exact" if role == "synonyms" else role)

    def _values(self, role: str, cell: str, separator: str | None) -> list[str]:
        """Split a cell where its column may hold several values."""
        if role in _SINGLE:
            return [cell]
        if role == "semantic_type":
            return _split(cell, separator or "|")
        return _split(cell, separator or (self._separator if role in SYNONYM_ROLES else None))

    def _kind(self, record: Record, cells: list[str] | None, *, first: bool) -> str:
        if cells is None:
            return "preferred" if first else "exact"
        [stated] = cells
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


def _split(joined: str, separator: str | None = None) -> list[str]:
    """Split a field of values joined by ``|`` or, if it has none, by ``;``."""
    separator = separator or ("|" if "|" in joined else ";")
    return [value for part in joined.split(separator) if (value := part.strip())]


def _header(lines: Iterator[tuple[int, str]], options: ReadOptions) -> tuple[int, Layout, str] | None:
    """Find the header: the first line that is neither blank nor a comment; a header may begin with ``#``, too."""
    for number, line in lines:
        if line.strip():
            layout = find_layout(line.lstrip("# "), options.columns)
            if (layout.is_complete and layout.has_header) or not line.startswith("#"):
                return number, layout, line
    return None


def _recognises(path: Path, head: str) -> bool:
    lines = enumerate(head.splitlines(), start=1)
    header = _header(lines, ReadOptions())
    if header is None:
        return False
    # Without known headers, the file ending decides: as a table, the error message asks for its columns.
    is_table = path.name.lower().removesuffix(".gz").endswith(_SUFFIXES) and "\0" not in head
    first = next(parse_records(lines, header[1].delimiter), None)
    return header[1].is_complete or is_table or (first is not None and _template(header[1], first) is not None)


def _template(layout: Layout, record: Record, options: ReadOptions | None = None) -> Layout | None:
    return with_template(layout, record.fields, () if options is None else options.columns)


def _read(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
    lines = read_lines(path, problems)
    header = _header(lines, options)
    if header is None:
        raise InputError("no header: the first line must name the columns", path=path)
    number, layout, line = header
    records = parse_records(lines if layout.has_header else chain([(number, line)], lines), layout.delimiter)
    first = [*islice(records, _LOOKED_AT)]
    if first and layout.has_header and (completed := _template(layout, first[0], options)) is not None:
        layout = completed
        del first[0]
    sample = [record.fields for record in first]
    if "id" not in options.columns:
        layout = without_row_numbers(layout, sample)
    check_layout(layout, options.columns, path, number, sample)
    rows = _Rows(layout, path, options, problems)
    for record in chain(first, records):
        rows.add(record)
    if not len(rows.builder):
        raise InputError("no row that could be used", path=path)
    if layout.unread and layout.has_header:
        # Suggest a column of synonyms, the most common omission.
        likeliest = max(layout.unread, key=partial(_likeness, layout, sample))
        warnings.warn(
            f"{path}: columns that are not read: {list_headers(layout.unread)}; to read one, map it, "
            f"for example --map-column {shlex.quote(f'synonyms={list_headers([likeliest])}')}",
            stacklevel=2,
        )
    return rows.builder.build()


def _likeness(layout: Layout, sample: Sequence[Sequence[str]], header: str) -> tuple[bool, float]:
    """Say how much a column looks like one of synonyms."""
    values = column_values(sample, layout.headers.index(header))
    return header.casefold().startswith("syn"), name_score(values)


def describe_table(head: str) -> str | None:
    """Say which options read a table without known headers, from the beginning of its text; ``None`` for none."""
    # The last line may be cut.
    whole = head if head.endswith("\n") else head.rpartition("\n")[0]
    lines = [line for line in whole.splitlines() if line.strip() and not line.startswith("#")][:_LOOKED_AT]
    if not lines or "\0" in head or lines[0].lstrip()[:1] in ("<", "{", "["):
        return None
    for delimiter in "\t|;,":
        rows = [record.fields for record in parse_records(enumerate(lines, start=1), delimiter)]
        widths = {len(fields) for fields in rows}
        if len(rows) > 1 and len(widths) == 1 and widths != {1}:
            headers = rows[0]
            layout = Layout(delimiter, tuple(map(str, range(1, len(headers) + 1))), ())
            options = " ".join(propose(layout, rows[1:]))
            return (
                f"this looks like a table of {len(headers)} columns ({list_headers(headers)}): say by header or "
                f"by number which column holds the ids and which the names, for example {options}"
            )
    if len(lines) > 1 and max(map(len, lines)) <= _LONGEST_NAME:
        return (
            "this looks like a list of names without ids: write the id of its concept before each name, in a "
            "table with the headers id and name"
        )
    return None


FORMAT: Final[VocabularyFormat] = Format(
    name="table",
    description="any CSV or TSV with a column of ids and one of names",
    recognises=_recognises,
    read=_read,
    options=frozenset({"columns", "separator"}),
    priority=100,
)


def _read_binary(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
    """Read a workbook or a Parquet file as the text table that it holds, in any format."""
    rows = table_cells(path, problems)
    if rows is None:
        raise InputError("no workbook and no Parquet file", path=path)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "table.tsv")
        with open(copy, "w", encoding="utf-8", newline="\n") as file:
            # Rows keep their numbers, so that problems name the right ones.
            last = 0
            for number, cells in rows:
                file.write("\n" * (number - last - 1) + format_record([*map(_cell, cells)], "\t") + "\n")
                last = max(number, 1)
        reader = find_format(VOCABULARY_FORMATS, copy, otherwise=FORMAT.name)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                tables = reader.read(copy, options=options, problems=problems.named(path))
            except InputError as error:
                message = error.message.replace(copy.name, path.name)
                raise InputError(message, path=path, line=error.line) from error
    for warning in caught:
        warnings.warn(str(warning.message).replace(str(copy), str(path)), stacklevel=2)
    return tables


def _cell(value: Any) -> str:
    """Write a cell in one line; the values of a list are joined by bars."""
    parts = value if isinstance(value, list) else [value]
    return "|".join(" ".join(cell_text(part).split()) for part in parts)


XLSX: Final[VocabularyFormat] = Format(
    name="xlsx",
    description="a workbook with a table in any of these formats",
    recognises=lambda path, _: is_workbook(path),
    read=_read_binary,
    options=FORMAT.options,
    is_binary=True,
)
PARQUET: Final[VocabularyFormat] = Format(
    name="parquet",
    description="a Parquet file with a table in any of these formats",
    recognises=lambda path, _: is_parquet(path),
    read=_read_binary,
    options=FORMAT.options,
    is_binary=True,
)
