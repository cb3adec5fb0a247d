"""Write the columns that describe a link, the same in TSV, workbooks and tables of the user."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping
from itertools import count
from typing import Any, Final

from nymlink.linking.link import FLAGS, REVIEW, Link
from nymlink.linking.links import CANDIDATE, CONFIDENCE, LANGUAGE, NOTE, PLACE, rows
from nymlink.linking.writers.writer import LinksInfo, LinkWriter
from nymlink.tables.delimited import Record, protect_cell, restore_cell


def link_columns(info: LinksInfo) -> tuple[str, ...]:
    """List the columns that describe a link: confidences, flags, languages, decisions where there are any."""
    candidate = CANDIDATE if info.multilingual else tuple(name for name in CANDIDATE if name != LANGUAGE)
    confidence = (CONFIDENCE,) if info.confident else ()
    return (*candidate, *confidence, *flag_columns(info), NOTE, *review_columns(info))


def flag_columns(info: LinksInfo) -> tuple[str, ...]:
    """List the columns that say what the sentence of a mention says of it; none for mentions that were given."""
    return FLAGS if info.annotated else ()


def review_columns(info: LinksInfo) -> tuple[str, ...]:
    """List the columns that say what people decided; none where nobody did."""
    return REVIEW if info.reviewed else ()


def mention_columns(info: LinksInfo) -> tuple[str, ...]:
    """List the columns that say which mention a link is of, where it comes from no table."""
    return (*(PLACE if info.located else ()), "mention")


def added_names(columns: Collection[str], header: Collection[str]) -> list[str]:
    """Name columns that are added to a table; one that the table has already is called ``nymlink_score``.

    Args:
        columns: what they are.
        header: the columns of the table.
    """
    # Spreadsheets and databases do not tell small letters from capitals.
    existing = {name.strip().casefold() for name in header}
    return [next(name for name in _names(column) if name.casefold() not in existing) for column in columns]


def _names(column: str) -> Iterator[str]:
    """Yield the names that an added column may have, the first choice first."""
    yield column
    yield f"nymlink_{column}"
    yield from (f"nymlink_{column}_{number}" for number in count(2))


def cell(row: Mapping[str, Any], column: str) -> str:
    """Write a value of :func:`nymlink.linking.links.rows`; flags as true or false."""
    value = row[column]
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.4f}" if isinstance(value, float) else str(value)


class CellGuard:
    """Writes cells so that no spreadsheet runs them, and counts those that it had to change."""

    def __init__(self) -> None:
        self._changed = 0

    def protect(self, text: str) -> str:
        """Write a cell; one that is protected already stays as it is."""
        protected = protect_cell(restore_cell(text))
        self._changed += protected != text
        return protected

    def warn(self) -> None:
        """Say how many cells were changed, if any was."""
        if self._changed:
            warnings.warn(
                f"{self._changed:,} cells that a spreadsheet would take for formulas have an apostrophe before "
                "them, which nymlink takes off again when it reads them",
                stacklevel=3,
            )


COLUMN_TYPES: Final[Mapping[str, type]] = {
    **{"start": int, "end": int, "rank": int, "score": float, CONFIDENCE: float},
    **dict.fromkeys(FLAGS, bool),
}
"""Types of columns that are no text."""


class FlatRows:
    """The rows of links, with the same columns whatever the links are.

    Attributes:
        names: the names of the columns.
        types: their types.
    """

    def __init__(self, info: LinksInfo) -> None:
        self._has_table = info.table is not None
        place = () if info.table is not None else (*PLACE, "mention")
        self._columns = (*place, *CANDIDATE, CONFIDENCE, *flag_columns(info), NOTE, *review_columns(info))
        own = [] if info.table is None else _distinct([restore_cell(name) for name in info.table.header.fields])
        self.names = (*own, *added_names(self._columns, own))
        self.types = (*(str for _ in own), *(COLUMN_TYPES.get(column, str) for column in self._columns))

    def of(self, link: Link, row: Record | None) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a link: one for each candidate, or one without."""
        own = [] if row is None else [restore_cell(field) for field in row.fields]
        for values in rows(link):
            yield (*own, *(values[column] for column in self._columns))


class RowWriter(LinkWriter):
    """Writes the rows of links.

    Attributes:
        rows: makes them.
    """

    def __init__(self, info: LinksInfo) -> None:
        self.rows = FlatRows(info)

    def write(self, link: Link, row: Record | None = None) -> None:
        for values in self.rows.of(link, row):
            self.add(values)

    @abstractmethod
    def add(self, values: tuple[Any, ...]) -> None:
        """Write a row, with a value for each column."""


def _distinct(names: list[str]) -> list[str]:
    """Give columns of the same name, and those of none, names of their own."""
    given: list[str] = []
    for place, name in enumerate(names, start=1):
        base = name or f"column_{place}"
        given.append(base if base not in given else added_names([f"{base}_{place}"], given)[0])
    return given
