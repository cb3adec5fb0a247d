"""Write links as lines of cells, one for each candidate, under a header: for TSV and CSV."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TextIO

from nymlink.core.delimited import Record, format_record
from nymlink.linking.link_rows import rows
from nymlink.linking.model import Link
from nymlink.linking.writers.columns import CellGuard, cell, link_columns, mention_columns
from nymlink.linking.writers.writer import LinksInfo, LinkWriter

_VERBATIM: Final = frozenset({"document_id", "concept_id"})
"""Columns of ids, which are never changed."""


class LineWriter(LinkWriter):
    """Writes a line for each candidate; a mention without candidates has one line with empty cells.

    Mentions and names have one blank for any white space, so that each candidate is one line. Ids are quoted where
    they hold the delimiter or a line's end. A cell that a spreadsheet would run gets an apostrophe before it.
    Columns of documents and offsets come first, where mentions have them.

    Args:
        out: text stream.
        info: what is known of the links.
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
        """Quote a cell that would be read as several cells or lines; in TSV quotation marks are ordinary."""
        marks = "\t\r\n" if self._delimiter == "\t" else f'{self._delimiter}"\r\n'
        return format_record([text], self._delimiter) if any(mark in text for mark in marks) else text
