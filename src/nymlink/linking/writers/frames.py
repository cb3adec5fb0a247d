"""Add links to tables of other libraries (pandas, polars, all that give Arrow data), which are not imported."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from typing import Any, Final, TypeVar

import pyarrow as pa

from nymlink.core.errors import InputError
from nymlink.linking.inputs import is_missing
from nymlink.linking.link import DOMAIN, Link
from nymlink.linking.links import CANDIDATE, CONFIDENCE, LINK_SCHEMA, NOTE, SPLIT, rows
from nymlink.linking.writers.link_columns import added_names
from nymlink.tables.arrow import arrow_table, pandas_table, python_values
from nymlink.tables.cells import NO_TEXT, cell_text, mention_fault
from nymlink.tables.delimited import list_headers

Frame = TypeVar("Frame")

_STREAMS: Final = ("__arrow_c_stream__", "__arrow_c_array__")
"""Methods of objects that give Arrow data (https://arrow.apache.org/docs/format/CDataInterface)."""


def is_table(what: Any) -> bool:
    """Whether this is a table: a data frame, or an object that gives Arrow data and has columns."""
    gives_arrow = any(hasattr(what, method) for method in _STREAMS)
    has_columns = hasattr(what, "columns") or hasattr(what, "schema")
    return _library(what) in ("pandas", "polars") or (gives_arrow and has_columns)


def _library(what: Any) -> str | None:
    """Name the library whose data frame or relation this is."""
    for name, kind in (("pandas", "DataFrame"), ("polars", "DataFrame"), ("duckdb", "DuckDBPyRelation")):
        if (library := sys.modules.get(name)) is not None and isinstance(what, getattr(library, kind)):
            return name
    return None


class LinkableTable:
    """A table whose mentions are linked.

    Args:
        what: a data frame of pandas or polars, or an object that gives Arrow data: an Arrow table, a relation of
            DuckDB.
        column: name of the column of mentions.

    Attributes:
        mentions: the mentions; ``None`` for a missing one. Numbers and the like are read as text. A cell with a
            list or an object is no mention; a warning counts them.

    Raises:
        InputError: no column is named, or the table has no column of this name, or several; or the column holds
            lists or objects.
    """

    def __init__(self, what: Any, column: str | None, *, stacklevel: int) -> None:
        self._given = what
        self._library = _library(what)
        self._table = what if self._library in ("pandas", "polars") else pa.table(what)
        names = list(self._table.columns if self._library in ("pandas", "polars") else self._table.column_names)
        self._names = list(map(str, names))
        known = list_headers(self._names)
        if column is None:
            raise InputError(f"say which column of the table holds the mentions: column= (it has: {known})")
        if names.count(column) != 1:
            raise InputError(f"the table has {names.count(column)} columns {column!r} (it has: {known})")
        cells = self._table[column]
        values = list(cells) if self._library in ("pandas", "polars") else python_values(cells)
        faults = [None if is_missing(value) else _fault(value) for value in values]
        wrong = [fault for fault in faults if fault is not None]
        if wrong and len(wrong) == sum(not is_missing(value) for value in values):
            raise InputError(f"column {column!r}: {wrong[0]}: name a column of text")
        if wrong:
            warnings.warn(
                f"column {column!r}: {len(wrong):,} of {len(values):,} cells are no mentions ({wrong[0]}): their "
                "links are empty",
                stacklevel=stacklevel + 1,
            )
        self.mentions = [
            None if fault is not None or is_missing(value) else cell_text(value)
            for value, fault in zip(values, faults, strict=True)
        ]

    def with_links(self, links: Sequence[Link], *, several: bool = False, split: bool = False) -> Any:
        """Add the columns of links; a row with several candidates is repeated.

        Args:
            links: a link for each row.
            several: whether to add the columns of domains.
            split: whether to add the columns of parts.

        Returns:
            A new table of the same kind: of pandas, polars or DuckDB, else of Arrow. The types of the new columns
            are those of :data:`~nymlink.linking.links.LINK_SCHEMA`. If the table has a column "score" already, the
            new one is ``nymlink_score``.
        """
        found = [rows(link) for link in links]
        places = [place for place, candidates in enumerate(found) for _ in candidates]
        columns = (*CANDIDATE, CONFIDENCE, *(DOMAIN if several else ()), *(SPLIT if split else ()), NOTE)
        names = added_names(columns, self._names)
        schema = pa.schema(
            [(name, LINK_SCHEMA.field(column).type) for name, column in zip(names, columns, strict=True)]
        )
        added = arrow_table(
            [[values[column] for column in columns] for candidates in found for values in candidates], schema
        )
        if self._library == "pandas":
            arrays = {name: column.array for name, column in pandas_table(added).items()}
            return self._table.iloc[places].assign(**arrays)
        if self._library == "polars":
            polars = sys.modules["polars"]
            return self._table[places].hstack(polars.DataFrame(added))
        nymlink_linked_rows = self._table.take(pa.array(places, pa.int64()))
        for field, values in zip(schema, added.columns, strict=True):
            nymlink_linked_rows = nymlink_linked_rows.append_column(field, values)
        if self._library != "duckdb":
            return nymlink_linked_rows
        # DuckDB finds a variable by its name if no table has it, and keeps the connection of the relation.
        return self._given.query("nymlink_given_rows", "SELECT * FROM nymlink_linked_rows")


def _fault(value: Any) -> str | None:
    """Say why a cell is no mention; ``None`` if it is one."""
    if hasattr(value, "__len__") and not isinstance(value, str | bytes | bytearray):
        return f"{NO_TEXT} ({' '.join(repr(value).split())[:40]})"
    return mention_fault(cell_text(value))
