"""Write links as tab-separated text: a line for each candidate, under a header."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TextIO

from nymlink.core.delimited import Record, format_record
from nymlink.linking.link_rows import rows
from nymlink.linking.model import Link
from nymlink.linking.writers.columns import CellGuard, cell, link_columns, mention_columns
from nymlink.linking.writers.csv_table import CsvWriter
from nymlink.linking.writers.writer import LinkFormat, LinksInfo, LinkWriter

_VERBATIM: Final = frozenset({"document_id", "concept_id"})
"""Columns of ids, which are never changed."""


class TsvWriter(LinkWriter):
    """Writes a line for each candidate; a mention without candidates has one line with empty cells.

    Mentions and names have one blank for any white space, so that each candidate is one line. Ids are quoted where
    they hold a tab or a line's end. A cell that a spreadsheet would run gets an apostrophe before it. Columns of
    documents and offsets come first, where mentions have them.
    """

    def __init__(self, out: TextIO, info: LinksInfo) -> None:
        self._out = out
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
        self._out.write("\t".join(_quoted(self._guard.protect(each)) for each in cells) + "\n")


def _quoted(text: str) -> str:
    """Quote a cell that would be read as several cells or lines."""
    return format_record([text], "\t") if any(mark in text for mark in "\t\r\n") else text


def _open(out: TextIO, info: LinksInfo) -> LinkWriter:
    if info.table is not None:
        return CsvWriter(out, info.table, "\t", link_columns(info))
    return TsvWriter(out, info)


FORMAT = LinkFormat(
    name="tsv",
    description="tab-separated, a line for each candidate; the columns of your table come first",
    open=_open,
    endings=(".tsv",),
    keeps_table=True,
)
