"""Parse and write records of delimited text (CSV, TSV), tolerating stray quotation marks."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Final

from nymlink.core.errors import InputError
from nymlink.core.files import MAX_LINE, read_lines
from nymlink.core.problems import Problems
from nymlink.tables.cells import Cells

DELIMITER_NAMES: Final = {"\t": "tabs", ",": "commas", ";": "semicolons", "|": "vertical bars"}
DELIMITERS: Final = "".join(DELIMITER_NAMES)

_USUAL_DELIMITERS: Final = {".csv": ",", ".tsv": "\t"}

_RUN: Final = re.compile(r"'*[=+\-@\t\r]")
"""Beginnings of cells that a spreadsheet reads as a formula, also after leading apostrophes."""
_NO_FORMULA: Final = re.compile(r"[+-]([0-9]+([.,][0-9]+)*([eE][+-]?[0-9]+)?)?")

_QUOTED: Final = re.compile(r'"[^"]*"')
"""A quoted field; its commas are no delimiters."""

_STATED: Final = re.compile(f'"?sep=([{DELIMITERS}])"?', re.IGNORECASE)
"""A first line by which Excel is told what separates fields."""
_MOST_METADATA: Final = 10_000
_MOST_HEADER_LINES: Final = 100

_LINE_END: Final = "\r\n"

_LISTED: Final = 40
"""The most headers in a message, and the most characters of each."""
_SHOWN: Final = 3
"""The most places of one header in a message."""

# Allow a cell as long as a line: clinical notes exceed the csv module's default of 128 KB.
csv.field_size_limit(max(csv.field_size_limit(), MAX_LINE))


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a table.

    Attributes:
        line: 1-based number of its first line.
        fields: its values.
        text: its lines, unparsed, without the last line's end.
        literal_quotes: whether its quotation marks were unbalanced and therefore read as ordinary characters.
            Always false for tab-separated text, where most writers quote nothing.
        cells: its values with their types, of a table that has types; ``None`` for text.
    """

    line: int
    fields: list[str]
    text: str = ""
    literal_quotes: bool = False
    cells: Cells | None = None


def guess_delimiter(line: str) -> str:
    """Return the likeliest delimiter of a table: a tab if its first line has one, else the most frequent.

    Text between quotation marks does not count.
    """
    bare = _QUOTED.sub("", line)
    return "\t" if "\t" in bare else max(DELIMITERS, key=bare.count)


def delimiter_guess(path: Path, delimiter: str, header: Sequence[str]) -> str | None:
    """Describe the delimiter if it is not the one of the file's name ending; else ``None``.

    A single column has no delimiter.
    """
    usual = _USUAL_DELIMITERS.get(Path(path.name.lower().removesuffix(".gz")).suffix)
    if usual in (None, delimiter) or len(header) < 2:
        return None
    return (
        f"its first line tells that fields are separated by {DELIMITER_NAMES[delimiter]}, not by "
        f"{DELIMITER_NAMES[usual]} as its name says: so it is read"
    )


def say_delimiter(path: Path, delimiter: str, header: Sequence[str]) -> None:
    """Warn if the delimiter is not the one of the file's name ending."""
    if (guess := delimiter_guess(path, delimiter, header)) is not None:
        warnings.warn(f"{path}: {guess}", stacklevel=2)


@dataclass(frozen=True, slots=True)
class DelimitedTable:
    """A table of text whose header was read.

    Attributes:
        delimiter: the character between fields.
        header: its first record; ``None`` for an empty table.
        records: the records after it.
        preamble: lines before the header that are no rows: Excel's ``sep=;``, metadata of SSSOM.
        stated: whether the file states its delimiter.
    """

    delimiter: str
    header: Record | None
    records: Iterator[Record]
    preamble: tuple[str, ...] = ()
    stated: bool = False


def open_table_lines(
    lines: Iterable[tuple[int, str]], delimiter: str | None = None, *, keep_blank: bool = False
) -> DelimitedTable:
    """Read the lines before the header of a table, and its header, which may have line breaks in quoted cells.

    Args:
        lines: (line number, line without its end).
        delimiter: the character between fields; ``None`` to find it.
        keep_blank: see :func:`parse_records`.
    """
    source = iter(lines)
    first = next((line for line in source if line[1].strip()), (1, ""))
    preamble: list[str] = []
    if (match := _STATED.fullmatch(first[1].strip())) is not None:
        preamble.append(first[1])
        delimiter = delimiter or match[1]
        first = next((line for line in source if line[1].strip()), (first[0] + 1, ""))
    head = [first]
    if first[1].startswith("#"):
        while head[-1][1].startswith("#") and len(head) < _MOST_METADATA and (line := next(source, None)):
            head.append(line)
        if is_sssom(head[-1][1].split("\t")):
            preamble += [line for _, line in head[:-1]]
            head = head[-1:]
    if delimiter is None:
        # A line break in a quoted cell continues the header on the next line.
        begun = [head[0]]
        rest = iter([*head[1:]])
        while sum(line.count('"') for _, line in begun) % 2 and len(begun) < _MOST_HEADER_LINES:
            if (line := next(rest, None) or next(source, None)) is None:
                break
            begun.append(line)
        whole = "\n".join(line for _, line in begun)
        delimiter = guess_delimiter(head[0][1] if whole.count('"') % 2 else whole)
        head = [*begun, *rest]
    records = parse_records(chain(head, source), delimiter, keep_blank=keep_blank)
    return DelimitedTable(delimiter, next(records, None), records, tuple(preamble), stated=match is not None)


def is_sssom(header: Collection[str]) -> bool:
    """Whether these are columns of SSSOM; of a literal, the subject or object has a label and no id."""
    return "predicate_id" in header and all(
        {f"{side}_id", f"{side}_label"} & {*header} for side in ("subject", "object")
    )


def header_cells(lines: Sequence[str]) -> list[str]:
    """Read the likely header of a table in its first lines, to recognise it."""
    header = open_table_lines(enumerate(lines, 1)).header
    return [] if header is None else [cell.strip().strip('"') for cell in header.fields]


def parse_records(
    lines: Iterable[tuple[int, str]], delimiter: str, *, keep_blank: bool = False
) -> Iterator[Record]:
    """Parse numbered lines into records, skipping empty lines and records without any value.

    A quoted field may hold line breaks. A quotation mark is an ordinary character if it is not closed within
    :data:`~nymlink.core.files.MAX_LINE` characters, is not followed by a delimiter, or would enclose rows of a
    tab-separated table: its line is split at the delimiters alone, and parsing continues on the next line.

    Args:
        lines: (line number, line without its end).
        delimiter: the character between fields.
        keep_blank: whether to yield empty lines and records without any value (",,") too.
    """
    source = iter(lines)
    unread: deque[tuple[int, str]] = deque()
    record_lines: list[tuple[int, str]] = []

    def feed() -> Iterator[str]:
        size = 0
        while True:
            yield record_lines[-1][1] + "\n"
            size += len(record_lines[-1][1]) + 1
            # The unread lines were already searched for the end of an earlier quote, so this one is never closed.
            line = None if unread or size > MAX_LINE else next(source, None)
            if line is None:
                return
            record_lines.append(line)
            if delimiter == "\t" and "\t" in line[1].partition('"')[0]:
                return

    while (first := unread.popleft() if unread else next(source, None)) is not None:
        record_lines[:] = [first]
        try:
            # The csv module asks for another line only while a quoted field is open.
            fields = next(csv.reader(feed(), delimiter=delimiter, skipinitialspace=True, strict=True))
            quoted = True
        except csv.Error:
            unread.extend(record_lines[1:])
            fields, quoted = first[1].split(delimiter), False
        if keep_blank or any(map(str.strip, fields)):
            text = "\n".join(line for _, line in record_lines) if quoted else first[1]
            # The csv module gives an empty line no field.
            yield Record(first[0], fields or [""], text, literal_quotes=not quoted and delimiter != "\t")


def delimited_rows(
    path: Path, problems: Problems, header: Sequence[str] | None = None
) -> tuple[int, list[str], Iterator[tuple[int, dict[str, str]]]]:
    """Read a table of text.

    Args:
        path: a plain or gzip file.
        problems: receives repairs, and rows left out because they have more or fewer fields than the header.
        header: names of the columns, of a file that has no header.

    Returns:
        The line of the header, its names, and the rows: line, and name → cell.

    Raises:
        InputError: the table is empty, or cannot be read.
    """
    lines = read_lines(path, problems)
    table = open_table_lines(lines)
    found = table.header
    if found is None:
        raise InputError("the table is empty", path=path)
    records = table.records
    if header is None:
        header = [restore_cell(cell).strip() for cell in found.fields]
    else:
        records = chain([found], records)
    names = list(header)

    def rows() -> Iterator[tuple[int, dict[str, str]]]:
        if not table.stated:
            say_delimiter(path, table.delimiter, names)
        for record in records:
            if len(record.fields) != len(names):
                problems.reject(path, record.line, f"{len(record.fields)} columns instead of {len(names)}")
                continue
            if record.literal_quotes:
                problems.repair(path, record.line, "an unbalanced quotation mark: read as an ordinary character")
            yield record.line, dict(zip(names, map(restore_cell, record.fields), strict=True))

    return found.line, names, rows()


def format_record(fields: Sequence[str], delimiter: str) -> str:
    """Format a record as spreadsheets do, with quotes where necessary and without a line end."""
    line = io.StringIO(newline="")
    # Before Python 3.13 a cell with a line break is quoted only if the line end contains that break.
    csv.writer(line, delimiter=delimiter, lineterminator=_LINE_END).writerow(fields)
    return line.getvalue().removesuffix(_LINE_END)


def tab_line(cells: Iterable[str]) -> str:
    """Write cells separated by tabs; white space inside a cell becomes single blanks."""
    return "\t".join(" ".join(cell.split()) for cell in cells)


def protect_cell(cell: str) -> str:
    """Convert a cell so that spreadsheets show it as text, never as a formula.

    A cell that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return, and is neither a number nor a
    lone sign, gets an apostrophe before it; so does one with apostrophes before such a character, so that
    :func:`restore_cell` returns every cell unchanged.
    """
    return f"'{cell}" if _RUN.match(cell) and not _NO_FORMULA.fullmatch(cell) else cell


def restore_cell(cell: str) -> str:
    """Remove the apostrophe added by :func:`protect_cell`."""
    return cell[1:] if cell.startswith("'") and _RUN.match(cell) else cell


def list_headers(headers: Sequence[str]) -> str:
    """Join the first headers of a table for a message."""
    shown = ", ".join(header[:_LISTED] for header in headers[:_LISTED])
    return shown + (", …" if len(headers) > _LISTED else "")


def list_numbers(places: Sequence[str]) -> str:
    """List the numbers of columns, at most three of them."""
    return " and ".join([*places[:_SHOWN], *["others"] * (len(places) > _SHOWN)])


def require_distinct(headers: Sequence[str], wanted: Collection[str], path: Path, line: int) -> None:
    """Check that each wanted header names only one column.

    Raises:
        InputError: a wanted header names several columns.
    """
    counts = Counter(headers)
    for header in wanted:
        if counts[header] > 1:
            places = [str(place) for place, other in enumerate(headers, start=1) if other == header]
            numbers = list_numbers(places)
            raise InputError(
                f"columns {numbers} have the same name, {header[:_LISTED]!r}: rename all but one of them",
                path=path,
                line=line,
            )
