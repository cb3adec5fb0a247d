"""Write links as further columns of the user's table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Final, TextIO

from nymlink.core.delimited import Record, format_record
from nymlink.linking.link_rows import rows
from nymlink.linking.model import Link
from nymlink.linking.writers.columns import cell, link_columns
from nymlink.linking.writers.writer import LinkFormat, LinksInfo, LinkWriter, UserTable

_MARK: Final = "\ufeff"
"""The byte-order mark by which spreadsheets know UTF-8."""


class CsvWriter(LinkWriter):
    """Writes the user's table with the columns of the links added; a row is repeated for each candidate.

    Rows stay as they were written, unless the delimiter is another one than the table's. A column whose name the
    table has already gets another one ("nymlink_score").

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
        # Spreadsheets and databases do not tell small letters from capitals.
        existing = {name.strip().casefold() for name in table.header.fields}
        added = [next(name for name in _names(column) if name not in existing) for column in self._columns]
        if table.header.text.startswith(_MARK) and not self._keeps_text:
            out.write(_MARK)
        self._write_line(table.header, added)

    def write(self, link: Link, row: Record | None = None) -> None:
        if row is None:
            raise TypeError("the links of a table are written with their rows")
        for values in rows(link):
            self._write_line(row, [cell(values, column) for column in self._columns])

    def _write_line(self, row: Record, cells: Sequence[str]) -> None:
        text = row.text if self._keeps_text else format_record(row.fields, self._delimiter)
        self._out.write(f"{text}{self._delimiter}{format_record(cells, self._delimiter)}\n")


def _names(column: str) -> Iterator[str]:
    """Yield the names that an added column may have, the first choice first."""
    yield column
    yield f"nymlink_{column}"
    yield from (f"nymlink_{column}_{number}" for number in count(2))


def _open(out: TextIO, info: LinksInfo) -> LinkWriter:
    assert info.table is not None, "the format needs a table"
    # A semicolon stays: that is what spreadsheets write where the comma is the decimal mark.
    delimiter = "," if info.table.delimiter == "\t" else info.table.delimiter
    return CsvWriter(out, info.table, delimiter, link_columns(info))


FORMAT = LinkFormat(
    name="csv",
    description="your table as it is, with columns of the links added",
    open=_open,
    endings=(".csv",),
    needs=frozenset({"table"}),
    keeps_table=True,
)
