"""Links as text: tables to read, TSV, CSV, JSON lines."""

from __future__ import annotations

import json
import math
import shutil
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate, takewhile
from typing import Any, Final, TextIO

from wcwidth import wcswidth, wcwidth

from nymlink.core.errors import InputError
from nymlink.core.terminal import escape_controls
from nymlink.linking.link import Link
from nymlink.linking.links import CONFIDENCE, PLACE, part_rows, rows
from nymlink.linking.writers.link_columns import CellGuard, added_names, cell, link_columns, mention_columns
from nymlink.linking.writers.writer import LinkFormat, LinksInfo, LinkWriter, UserTable
from nymlink.tables.cells import cell_text
from nymlink.tables.delimited import Record, format_record

_VERBATIM: Final = frozenset({"document_id", "concept_id"})
"""Columns of ids, which are never changed."""


class LineWriter(LinkWriter):
    """Writes a line for each candidate; a mention without candidates has one line with empty cells.

    White space in mentions and names becomes single blanks, to keep each candidate on one line. Ids are quoted if
    they contain the delimiter or a line end. A cell that a spreadsheet would run as a formula gets an apostrophe
    before it. Columns of documents and offsets come first, if mentions have them.

    Args:
        out: text stream.
        info: information on the links.
        delimiter: the character between cells.
    """

    def __init__(self, out: TextIO, info: LinksInfo, delimiter: str) -> None:
        self._out = out
        self._delimiter = delimiter
        self._columns = (*mention_columns(info), *link_columns(info))
        self._guard = CellGuard()
        self._write_line(self._columns)

    def write(self, link: Link, row: Record | None = None) -> None:
        for values in rows(link):
            cells = ((column, cell(values, column)) for column in self._columns)
            self._write_line([text if column in _VERBATIM else " ".join(text.split()) for column, text in cells])

    def close(self) -> None:
        self._guard.warn()

    def _write_line(self, cells: Sequence[str]) -> None:
        self._out.write(self._delimiter.join(self._quoted(self._guard.protect(each)) for each in cells) + "\n")

    def _quoted(self, text: str) -> str:
        """Quote a cell that would be read as several cells or lines; TSV allows quotation marks unquoted."""
        marks = "\t\r\n" if self._delimiter == "\t" else f'{self._delimiter}"\r\n'
        return format_record([text], self._delimiter) if any(mark in text for mark in marks) else text


_MARK: Final = "\ufeff"
"""Byte-order mark; spreadsheets recognise UTF-8 by it."""


class CsvWriter(LinkWriter):
    """Writes the user's table with added columns for the links; a row is repeated for each candidate.

    Rows keep their text, unless the output has another delimiter or a spreadsheet would run a cell as a formula.
    If the table has a column "score" already, the added one is ``nymlink_score``.

    Args:
        out: text stream.
        table: layout of the user's table.
        delimiter: the character between fields in the output.
        columns: columns of the links.
    """

    def __init__(self, out: TextIO, table: UserTable, delimiter: str, columns: Sequence[str]) -> None:
        self._out = out
        self._delimiter = delimiter
        self._keeps_text = delimiter == table.delimiter
        self._columns = columns
        self._guard = CellGuard()
        if table.header.text.startswith(_MARK) and not self._keeps_text:
            out.write(_MARK)
        self._write_line(table.header, added_names(columns, table.header.fields))

    def write(self, link: Link, row: Record | None = None) -> None:
        if row is None:
            raise TypeError("the links of a table are written with their rows")
        for values in rows(link):
            self._write_line(row, [cell(values, column) for column in self._columns])

    def close(self) -> None:
        self._guard.warn()

    def _write_line(self, row: Record, cells: Sequence[str]) -> None:
        fields = list(map(self._guard.protect, row.fields))
        same = self._keeps_text and fields == row.fields
        text = row.text if same else format_record(fields, self._delimiter)
        added = format_record(list(map(self._guard.protect, cells)), self._delimiter)
        self._out.write(f"{text}{self._delimiter}{added}\n")


def _open_csv(out: TextIO, info: LinksInfo) -> LinkWriter:
    if info.table is None:
        return LineWriter(out, info, ",")
    # A semicolon is kept: spreadsheets use it in countries with a decimal comma.
    delimiter = "," if info.table.delimiter == "\t" else info.table.delimiter
    return CsvWriter(out, info.table, delimiter, link_columns(info))


CSV = LinkFormat(
    name="csv",
    description="comma-separated, a line for each candidate; the columns of your table come first",
    open=_open_csv,
    endings=(".csv",),
    keeps_table=True,
)


def _open_csv_excel(out: TextIO, info: LinksInfo) -> LinkWriter:
    if info.table is None or not info.table.header.text.startswith(_MARK):
        out.write(_MARK)
    return _open_csv(out, info)


CSV_EXCEL = LinkFormat(
    name="csv-excel",
    description="csv in UTF-8 with a byte order mark, by which Excel tells its encoding",
    open=_open_csv_excel,
    keeps_table=True,
)


def _open_tsv(out: TextIO, info: LinksInfo) -> LinkWriter:
    if info.table is not None:
        return CsvWriter(out, info.table, "\t", link_columns(info))
    return LineWriter(out, info, "\t")


TSV = LinkFormat(
    name="tsv",
    description="tab-separated, a line for each candidate; the columns of your table come first",
    open=_open_tsv,
    endings=(".tsv",),
    keeps_table=True,
)


class JsonWriter(LinkWriter):
    """Writes :meth:`nymlink.linking.link.Link.to_dict` as one line, with the cells of the user's table in ``row``.

    Raises:
        InputError: two columns of the table have the same name.
    """

    def __init__(self, out: TextIO, info: LinksInfo) -> None:
        self._out = out
        self._header = () if info.table is None else tuple(info.table.header.fields)
        repeated = [name for name, times in Counter(self._header).items() if times > 1]
        if repeated:
            raise InputError(
                f"two columns are called {repeated[0]!r}, but JSON needs distinct names: rename one of them"
            )

    def write(self, link: Link, row: Record | None = None) -> None:
        values = link.to_dict()
        if row is not None:
            cells = row.fields if row.cells is None else map(_json_cell, row.cells)
            values["row"] = dict(zip(self._header, cells, strict=True))
        self._out.write(json.dumps(values, ensure_ascii=False, default=cell_text) + "\n")


def _json_cell(value: Any) -> Any:
    """Return a value that JSON has; it lacks infinite numbers and no number."""
    return value if not isinstance(value, float) or math.isfinite(value) else None


JSONL = LinkFormat(
    name="jsonl",
    description="a JSON object for each mention, with all that is known of its link",
    open=JsonWriter,
    endings=(".jsonl",),
    keeps_table=True,
)


_GAP = 2
"""Blanks between columns."""


class TableWriter(LinkWriter):
    """Writes a line for each candidate, and further lines for the notes of a link."""

    def __init__(self, out: TextIO, info: LinksInfo) -> None:
        self._out = out
        self._located = info.located
        place = (10, 5, 5) if info.located else ()
        scores = (5, len(CONFIDENCE)) if info.confident else (5,)
        fixed = sum(place) + 14 + sum(scores) + _GAP * (3 + len(place) + len(scores))
        free = max(shutil.get_terminal_size((120, 24)).columns - fixed, 21)
        self._widths = (*place, free * 3 // 10, 14, free * 4 // 10, free * 3 // 10, *scores)
        self._width = sum(self._widths) + _GAP * (len(self._widths) - 1)
        headings = ("document", "start", "end") if info.located else ()
        self._write_line(*headings, "mention", "concept", "name", "matched", "score", CONFIDENCE)
        self._out.write("─" * self._width + "\n")

    def write(self, link: Link, row: Record | None = None) -> None:
        columns = (*(PLACE if self._located else ()), "mention")
        for candidates in part_rows(link):
            for place, values in enumerate(candidates):
                mention = ["" if place or values[name] is None else str(values[name]) for name in columns]
                self._write_line(
                    *mention,
                    values["concept_id"] or "–",
                    values["concept_name"] or "",
                    values["matched_name"] or "",
                    _decimals(values["score"]),
                    _decimals(values[CONFIDENCE]),
                )
            note = candidates[0]["note"]
            if note is not None:
                self._out.write(f"  {_fit(f'↳ {note}', self._width - 2)}".rstrip() + "\n")

    def _write_line(self, *cells: str) -> None:
        # Without confidences the last cell has no column.
        padded = [_fit(cell, width) for cell, width in zip(cells, self._widths, strict=False)]
        self._out.write((" " * _GAP).join(padded).rstrip() + "\n")


def _decimals(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _fit(text: str, width: int) -> str:
    """Cut or pad to a width in terminal cells: a wide (CJK) character takes two, a combining character none."""
    shown = escape_controls(" ".join(text.split()))
    if wcswidth(shown) > width:
        # First cut to a number of characters: measuring a long text after removing each character would be slow.
        ends = accumulate(map(wcwidth, shown))
        shown = shown[: sum(1 for _ in takewhile(lambda end: end < width, ends))]
        while wcswidth(shown) > width - 1:
            shown = shown[:-1]
        shown += "…"
    return shown + " " * (width - wcswidth(shown))


TABLE = LinkFormat(name="table", description="for people, as wide as the terminal", open=TableWriter)
