"""Write links as further columns of the user's table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TextIO

from nymlink.core.delimited import Record, format_record
from nymlink.linking.link_rows import rows
from nymlink.linking.model import Link
from nymlink.linking.writers.columns import CellGuard, added_names, cell, link_columns
from nymlink.linking.writers.lines import LineWriter
from nymlink.linking.writers.writer import LinkFormat, LinksInfo, LinkWriter, UserTable

_MARK: Final = "\ufeff"
"""The byte-order mark by which spreadsheets know UTF-8."""


class CsvWriter(LinkWriter):
    """Writes the user's table with the columns of the links added; a row is repeated for each candidate.

    Rows stay as they were written, unless the delimiter is another one than the table's, or a cell would be run by
    a spreadsheet. A column whose name the table has already gets another one ("nymlink_score").

    Args:
        out: text stream.
        table: layout of the user's table.
        delimiter: the character between fields in the output.
        columns: the columns of the links.
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


def _open(out: TextIO, info: LinksInfo) -> LinkWriter:
    if info.table is None:
        return LineWriter(out, info, ",")
    # A semicolon stays: that is what spreadsheets write where the comma is the decimal mark.
    delimiter = "," if info.table.delimiter == "\t" else info.table.delimiter
    return CsvWriter(out, info.table, delimiter, link_columns(info))


FORMAT = LinkFormat(
    name="csv",
    description="comma-separated, a line for each candidate; the columns of your table come first",
    open=_open,
    endings=(".csv",),
    keeps_table=True,
    resumable=True,
)
