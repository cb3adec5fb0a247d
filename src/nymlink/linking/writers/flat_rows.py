"""Make rows of links for tables with typed columns: those of the user first, then those of each candidate."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, Final

from nymlink.core.delimited import Record, restore_cell
from nymlink.linking.link_rows import CANDIDATE, CONFIDENCE, NOTE, PLACE, rows
from nymlink.linking.model import FLAGS, Link
from nymlink.linking.writers.columns import added_names, flag_columns, review_columns
from nymlink.linking.writers.writer import LinksInfo, LinkWriter

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
