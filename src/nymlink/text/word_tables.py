"""Read word lists for review: tab-separated tables with a header, and reasons in their last column."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Final

SEPARATOR: Final = "|"
"""Separates the words, or the groups of words, of a cell."""


def read_rows(path: Path) -> list[dict[str, str]]:
    """Read a table as one dictionary per row, header → cell. Quotation marks have no special meaning."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def read_kinds(path: Path) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Read a table with the columns ``kind`` and ``words``: kind → its rows, each a tuple of words."""
    kinds: dict[str, tuple[tuple[str, ...], ...]] = {}
    for row in read_rows(path):
        kinds[row["kind"]] = (*kinds.get(row["kind"], ()), split_cell(row["words"]))
    return kinds


def split_cell(cell: str) -> tuple[str, ...]:
    """Split the words of a cell at :data:`SEPARATOR`."""
    return tuple(word.strip() for word in cell.split(SEPARATOR))
