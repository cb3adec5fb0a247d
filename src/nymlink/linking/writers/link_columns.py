"""Make the columns that describe a link, the same for TSV, workbooks and the user's tables."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import count
from typing import Any

import pyarrow as pa

from nymlink.linking.link import DOMAIN, FLAGS, REVIEW, Link
from nymlink.linking.links import (
    CANDIDATE,
    CONFIDENCE,
    LANGUAGE,
    LINK_SCHEMA,
    NOTE,
    PLACE,
    REVIEW_SCHEMA,
    SPLIT,
    rows,
)
from nymlink.linking.writers.writer import LinksInfo, LinkWriter
from nymlink.tables.cells import Cells
from nymlink.tables.delimited import Record, protect_cell, restore_cell


def link_columns(info: LinksInfo) -> tuple[str, ...]:
    """List the columns of a link: confidence, domain, flags, decision, each only if the links have it."""
    candidate = CANDIDATE if info.multilingual else tuple(name for name in CANDIDATE if name != LANGUAGE)
    confidence = (CONFIDENCE,) if info.confident else ()
    return (*candidate, *confidence, *domain_columns(info), *said_columns(info), NOTE, *review_columns(info))


def domain_columns(info: LinksInfo) -> tuple[str, ...]:
    """List the columns of domains; none if the vocabulary is a single one."""
    return DOMAIN if info.several else ()


def flag_columns(info: LinksInfo) -> tuple[str, ...]:
    """List the columns of context flags; none if the mentions were given rather than found."""
    return FLAGS if info.annotated else ()


def said_columns(info: LinksInfo) -> tuple[str, ...]:
    """List the columns of flags and parts, each only if the links have it."""
    split = [name for name in SPLIT if name not in flag_columns(info)] if info.split else []
    return (*flag_columns(info), *split)


def review_columns(info: LinksInfo) -> tuple[str, ...]:
    """List the columns of decisions; none if nobody decided anything."""
    return REVIEW if info.reviewed else ()


def mention_columns(info: LinksInfo) -> tuple[str, ...]:
    """List the columns that identify the mention of a link; none if the mentions come from a table."""
    return (*(PLACE if info.located else ()), "mention")


def added_names(columns: Collection[str], header: Collection[str]) -> list[str]:
    """Name the columns added to a table; "score" becomes ``nymlink_score`` if the table has that name already.

    Args:
        columns: columns to add.
        header: columns of the table.
    """
    # Spreadsheets and databases ignore capitals in column names.
    existing = {name.strip().casefold() for name in header}
    return [next(name for name in _names(column) if name.casefold() not in existing) for column in columns]


def _names(column: str) -> Iterator[str]:
    """Yield the names to try for an added column, in order."""
    yield column
    yield f"nymlink_{column}"
    yield from (f"nymlink_{column}_{number}" for number in count(2))


def cell(row: Mapping[str, Any], column: str) -> str:
    """Write a value of a row of :func:`nymlink.linking.links.rows` as text; flags as true or false."""
    value = row[column]
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.4f}" if isinstance(value, float) else str(value)


class CellGuard:
    """Writes cells that no spreadsheet runs as formulas, and counts the cells that it changed."""

    def __init__(self) -> None:
        self._changed = 0

    def protect(self, text: str) -> str:
        """Add an apostrophe to a cell that looks like a formula; a cell that has one stays unchanged."""
        protected = protect_cell(restore_cell(text))
        self._changed += protected != text
        return protected

    def warn(self) -> None:
        """Warn of the number of changed cells, if there are any."""
        if self._changed:
            warnings.warn(
                f"{self._changed:,} cells that a spreadsheet would run as formulas got an apostrophe before them; "
                "nymlink removes it when it reads them",
                stacklevel=3,
            )


class RowWriter(LinkWriter):
    """Writes the rows of links with their types, after those of the user's table.

    Args:
        info: information on the links.
        columns: columns of the links, if they come from no table.

    Attributes:
        own: names of the columns of the user's table.
        added: the columns of the links.
    """

    def __init__(self, info: LinksInfo, columns: Sequence[str]) -> None:
        table = info.table
        if table is not None:
            columns = (*CANDIDATE, CONFIDENCE, *domain_columns(info), *said_columns(info), NOTE)
        self._columns = (*columns, *review_columns(info))
        self.own = [] if table is None else _distinct([restore_cell(name) for name in table.header.fields])
        types = pa.unify_schemas([LINK_SCHEMA, REVIEW_SCHEMA])
        names = added_names(self._columns, self.own)
        self.added = pa.schema(
            [(name, types.field(column).type) for name, column in zip(names, self._columns, strict=True)]
        )

    def write(self, link: Link, row: Record | None = None) -> None:
        own = Cells(())
        if row is not None:
            own = Cells(map(restore_cell, row.fields)) if row.cells is None else row.cells
        for values in rows(link):
            self.add(own, [values[column] for column in self._columns])

    @abstractmethod
    def add(self, own: Cells, values: Sequence[Any]) -> None:
        """Write a row.

        Args:
            own: cells of the user's table.
            values: those of the link.
        """


def _distinct(names: list[str]) -> list[str]:
    """Give unique names to columns with the same name or without a name."""
    given: list[str] = []
    for place, name in enumerate(names, start=1):
        base = name or f"column_{place}"
        given.append(base if base not in given else added_names([f"{base}_{place}"], given)[0])
    return given
