"""Read a file as a table with a header, in any format, encoding and delimiter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final, Literal, TypedDict

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.tables.cells import Cells, cell_text, is_text
from nymlink.tables.columns import USAGI, is_mention
from nymlink.tables.decoding import OF_CELL, OF_ROW, ClaimMemory, decode, nothing_to_claim
from nymlink.tables.delimited import (
    DELIMITER_NAMES,
    DELIMITERS,
    Record,
    format_record,
    is_sssom,
    open_table_lines,
    restore_cell,
)
from nymlink.tables.foreign_formats import describe_format
from nymlink.tables.objects import numbered_objects, object_keys
from nymlink.tables.parquet import is_parquet
from nymlink.tables.workbooks import sheet_titles, table_cells

SheetFormat = Literal["table", "lines", "usagi", "sssom"]

LINES: Final = "none"
"""Name of the delimiter of plain lines."""

_NAMES: Final = {"tab": "\t", "comma": ",", "semicolon": ";", "bar": "|"}
_GENERAL: Final = "General"
"""The number format of cells that have none."""
_ZIP: Final = b"PK\x03\x04"
_LOOKED_AT: Final = 50
"""Lines by which a table is told from plain lines."""
_MOST_COLUMNS: Final = 1000
_LONGEST_NAME: Final = 200
_OF_EMPTY: Final = 16
_OF_CHARACTER: Final = 8
"""Bytes of memory per empty cell and per character, until they are in a project."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table, read.

    Attributes:
        name: name of the file.
        format: kind of the table.
        encoding: of a text; empty for a workbook and the like.
        delimiter: the character between cells; empty if there is none.
        header: names of its columns.
        rows: number of each row in the file, and its cells, one per column.
        ragged: numbers of rows that had more or fewer cells.
        preamble: lines before the header that are no rows (metadata of SSSOM).
        guessed: what was guessed, in words.
        nested: number of the row and place of each cell with a list or an object, which is no mention.
        header_row: number of the row or line of the header.
        sheets: titles of the sheets of a workbook.
        title: title of the sheet that is read.
        types: number of the row → place of a cell that is no text, or has a number format → its value and format.
    """

    name: str
    format: SheetFormat
    encoding: str
    delimiter: str
    header: list[str]
    rows: list[tuple[int, list[str]]]
    ragged: frozenset[int]
    preamble: str
    guessed: tuple[str, ...]
    nested: frozenset[tuple[int, int]] = frozenset()
    header_row: int = 1
    sheets: tuple[str, ...] = ()
    title: str = ""
    types: Mapping[int, Mapping[int, tuple[Any, str | None]]] = field(default_factory=dict)


class Reading(TypedDict, total=False):
    """How :func:`read_sheet` reads a file. What is left out is detected."""

    encoding: str | None
    delimiter: str | None
    sheet: str
    header_row: int | None
    claim: ClaimMemory


def read_sheet(
    raw: bytes,
    name: str,
    problems: Problems,
    *,
    encoding: str | None = None,
    delimiter: str | None = None,
    sheet: str = "",
    header_row: int | None = None,
    claim: ClaimMemory = nothing_to_claim,
) -> Sheet:
    """Read a table: CSV, TSV, a workbook, Parquet, JSON lines, plain lines, a review of Usagi, or SSSOM.

    Args:
        raw: the bytes of the file.
        name: its name; only the ending matters.
        problems: receives damaged rows, with their numbers.
        encoding: of a text; ``None`` to detect it.
        delimiter: a character, or ``tab``, ``comma``, ``semicolon``, ``bar``, or ``none`` for plain lines;
            ``None`` to detect it.
        sheet: title of a sheet of a workbook; empty for the one that looks most like a table, with those that
            continue it.
        header_row: number of the row or line of the header; lines before it are left out. ``None`` to find it in a
            workbook, and for the first line of a text that is not blank.
        claim: called with the memory of the table before it is used; its errors are raised.

    Raises:
        InputError: it is empty, binary, of a format that is no table, or nothing in it can be used.
        MissingExtraError: openpyxl is not installed, and this is a workbook.
    """
    path = Path(_plain_name(name))
    if not raw.strip():
        raise InputError("the file is empty", path=path)
    if raw.startswith(_ZIP) or is_parquet(path, raw):
        return _cells(raw, path, problems, claim, sheet, header_row)
    text = decode(raw, path, problems, encoding=encoding, claim=claim)
    head = "\n".join(line for _, line in text.lines[:_LOOKED_AT])
    if (foreign := describe_format(head, may_be_objects=True)) is not None:
        raise InputError(f"no table: {foreign}", path=path)
    lines = [(number, line) for number, line in text.lines if number >= (header_row or 1)]
    if head.lstrip().startswith('{"'):
        header, rows, nested = _objects(lines, path, problems, claim)
        return Sheet(str(path), "table", text.encoding, "", header, rows, frozenset(), "", text.guessed, nested)
    found, why = _delimiter(lines, path, delimiter)
    guessed = (*text.guessed, *why)
    if not found:
        return _plain(lines, path, text.encoding, guessed)
    table = open_table_lines(lines, found)
    records, first = table.records, table.header
    if first is None:
        raise InputError("there is no header in it", path=path)
    header = [restore_cell(cell).strip() for cell in first.fields]
    if len(header) > _MOST_COLUMNS:
        raise InputError(f"{len(header):,} columns; {_MOST_COLUMNS:,} at most are read", path=path)
    rows, ragged = _fitted(records, header, found, path, problems, claim)
    return Sheet(
        str(path),
        _format(header),
        text.encoding,
        found,
        header,
        rows,
        ragged,
        "\n".join(table.preamble),
        guessed,
        header_row=first.line,
    )


def _plain_name(name: str) -> str:
    """Write the name of a file without folders, and as text that can be shown and kept."""
    last = Path(name.replace("\\", "/")).name.encode("utf-8", "replace").decode()
    return "".join(filter(str.isprintable, last))[-_LONGEST_NAME:] or "file"


def _format(header: list[str]) -> SheetFormat:
    if set(header) >= set(USAGI):
        return "usagi"
    return "sssom" if is_sssom(header) else "table"


def _delimiter(lines: list[tuple[int, str]], path: Path, said: str | None) -> tuple[str, tuple[str, ...]]:
    """Detect the delimiter, empty for plain lines, and describe the guess."""
    if said is not None:
        if said == LINES:
            return "", ()
        character = _NAMES.get(said, said)
        if character not in tuple(DELIMITERS):
            raise InputError(f"a delimiter is one of {', '.join(_NAMES)} or {LINES}, not {said[:20]!r}", path=path)
        return character, ()
    if not any(line.strip() for _, line in lines):
        raise InputError("there are only blank lines in it", path=path)
    table = open_table_lines(lines)
    delimiter = table.delimiter
    if table.header is None:
        raise InputError("there is no header in it: the first lines have no value", path=path)
    records = [table.header, *islice(table.records, _LOOKED_AT)]
    if table.stated or is_sssom(records[0].fields):
        return delimiter, (f"delimiter: {DELIMITER_NAMES[delimiter]}",)
    widths = Counter(len(record.fields) for record in records)
    width = len(records[0].fields)
    header = [cell.strip() for cell in records[0].fields]
    usual = widths.most_common(1)[0][0]
    is_prose = f"{delimiter} " in records[0].text and not any(map(is_mention, header))
    is_table = width > 1 and (usual == width or any(map(is_mention, header))) and not is_prose
    if is_table:
        return delimiter, (f"delimiter: {DELIMITER_NAMES[delimiter]}",)
    is_column = is_mention(header[0]) or path.name.lower().removesuffix(".gz").endswith((".csv", ".tsv"))
    if width == 1 and is_column:
        return ("\t" if ".tsv" in path.name.lower() else ","), ("one column, under its header",)
    return "", ("a term a line, without a header",)


def _plain(lines: list[tuple[int, str]], path: Path, encoding: str, guessed: tuple[str, ...]) -> Sheet:
    rows = [(number, [line]) for number, line in lines if line.strip()]
    if not rows:
        raise InputError("there are only blank lines in it", path=path)
    return Sheet(str(path), "lines", encoding, "", ["term"], rows, frozenset(), "", guessed)


def _fitted(
    records: Iterator[Record],
    header: list[str],
    delimiter: str,
    path: Path,
    problems: Problems,
    claim: ClaimMemory,
) -> tuple[list[tuple[int, list[str]]], frozenset[int]]:
    """Give all rows as many cells as the header has: missing ones are empty, the last takes all beyond it."""
    rows, ragged = [], set()
    for record in records:
        cells = list(map(restore_cell, record.fields))
        if record.literal_quotes:
            problems.repair(path, record.line, "an unbalanced quotation mark: read as an ordinary character")
        if len(cells) != len(header):
            what = f"{len(cells)} columns instead of {len(header)}"
            problems.reject(path, record.line, what, outcome="kept, not linked")
            ragged.add(record.line)
            beyond = cells[len(header) - 1 :]
            if len(beyond) > 1:
                cells = [*cells[: len(header) - 1], format_record(beyond, delimiter)]
            claim(_OF_EMPTY * (len(header) - len(cells)))
            cells += [""] * (len(header) - len(cells))
        rows.append((record.line, cells))
    return rows, frozenset(ragged)


def _cells(
    raw: bytes, path: Path, problems: Problems, claim: ClaimMemory, sheet: str, header_row: int | None
) -> Sheet:
    """Read a workbook or Parquet."""
    part = f"{sheet}!{header_row}" if header_row else sheet
    name = path.name if path.name.lower().endswith(".xlsx") else f"{path.name}.xlsx"
    cells = table_cells(path.with_name(f"{name}#{part}") if part else path, problems, raw)
    if cells is None:
        raise InputError("this is an archive, and no workbook: unpack it first", path=path)
    nested: set[tuple[int, int]] = set()
    types: dict[int, dict[int, tuple[Any, str | None]]] = {}
    titled = next(cells)
    title = titled[1].sheet
    (top, header), *rows = _texts(chain([titled], cells), claim, nested, types)
    header = [name.strip() for name in header[:_MOST_COLUMNS]]
    fitted = [(number, row[: len(header)]) for number, row in rows]
    sheets = () if is_parquet(path, raw) else sheet_titles(raw)
    guessed = [f"sheet: {title!r}"] if len(sheets) > 1 and not sheet else []
    if top > 1 and header_row is None:
        guessed.append(f"header: row {top}")
    return Sheet(
        *(str(path), _format(header), "", "", header, fitted, frozenset(), "", tuple(guessed), frozenset(nested)),
        header_row=top,
        sheets=sheets,
        title=title,
        types=types,
    )


def _texts(
    cells: Iterator[tuple[int, Cells]],
    claim: ClaimMemory,
    nested: set[tuple[int, int]],
    types: dict[int, dict[int, tuple[Any, str | None]]],
) -> Iterator[tuple[int, list[str]]]:
    """Write the cells of a workbook and the like as texts.

    Args:
        cells: number of each row, and its cells.
        claim: as of :func:`read_sheet`.
        nested: gets the places of lists and objects.
        types: gets the values and number formats of cells that are no plain texts.
    """
    for number, row in cells:
        nested.update((number, place) for place, value in enumerate(row) if not is_text(value))
        formats = row.formats or [None] * len(row)
        typed = {
            place: (value, None if format == _GENERAL else format)
            for place, (value, format) in enumerate(zip(row, formats, strict=True))
            if value is not None and is_text(value) and not (isinstance(value, str) and format in (None, _GENERAL))
        }
        if typed:
            types[number] = typed
        texts = list(map(cell_text, row))
        filled = list(filter(None, texts))
        of_texts = OF_CELL * len(filled) + _OF_CHARACTER * sum(map(len, filled))
        claim(OF_ROW + _OF_EMPTY * (len(texts) - len(filled)) + of_texts)
        yield number, texts


def _objects(
    lines: list[tuple[int, str]], path: Path, problems: Problems, claim: ClaimMemory
) -> tuple[list[str], list[tuple[int, list[str]]], frozenset[tuple[int, int]]]:
    """Read JSON lines: a column for each key; and the places of lists and objects."""
    objects = list(numbered_objects(lines, path, problems))
    header = object_keys(value for _, value in objects)
    if not objects or len(header) > _MOST_COLUMNS:
        raise InputError("nothing in it can be used: no line is a JSON object with a few keys", path=path)
    claim(_OF_EMPTY * sum(len(header) - len(value) for _, value in objects))
    rows = [(number, [cell_text(value.get(key)) for key in header]) for number, value in objects]
    places = {key: place for place, key in enumerate(header)}
    nested = ((number, places[key]) for number, row in objects for key, value in row.items() if not is_text(value))
    return header, rows, frozenset(nested)
