"""Add links to data frames of pandas or polars, without importing either."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, Final, TypeVar

from nymlink.core.errors import InputError
from nymlink.linking.link import Link
from nymlink.linking.links import CANDIDATE, CONFIDENCE, NOTE, SPLIT, rows
from nymlink.linking.writers.link_columns import added_names

Frame = TypeVar("Frame")

_LIBRARIES: Final = ("pandas", "polars")
_COLUMNS: Final = (*CANDIDATE, CONFIDENCE, NOTE)


def is_frame(what: Any) -> bool:
    """Whether this is a data frame of pandas or polars."""
    return any(
        isinstance(what, library.DataFrame)
        for name in _LIBRARIES
        if (library := sys.modules.get(name)) is not None
    )


def frame_column(frame: Any, column: str | None) -> list[Any]:
    """Read a column of mentions.

    Raises:
        InputError: no column is named, or the frame has no column of this name, or several.
    """
    names = list(frame.columns)
    known = ", ".join(map(str, names))
    if column is None:
        raise InputError(f"say which column of the data frame holds the mentions: column= (it has: {known})")
    if names.count(column) != 1:
        raise InputError(f"the data frame has {names.count(column)} columns {column!r} (it has: {known})")
    return list(frame[column])


def with_links(frame: Any, links: Sequence[Link]) -> Any:
    """Add the columns of links to a data frame; a row with several candidates is repeated.

    Returns:
        A new data frame of the same kind. If it has a column "score" already, the new one is ``nymlink_score``.
    """
    found = [rows(link) for link in links]
    places = [place for place, candidates in enumerate(found) for _ in candidates]
    added = (*_COLUMNS[:-1], *(SPLIT if any(link.parts for link in links) else ()), NOTE)
    names = added_names(added, list(map(str, frame.columns)))
    columns = {
        name: [values[column] for candidates in found for values in candidates]
        for name, column in zip(names, added, strict=True)
    }
    if hasattr(frame, "iloc"):
        pandas = sys.modules["pandas"]
        # A plain integer column would become floats because of missing ranks.
        columns[names[0]] = pandas.array(columns[names[0]], dtype="Int64")
        return frame.iloc[places].assign(**columns)
    polars = sys.modules["polars"]
    return frame[places].with_columns(
        polars.Series(name, values, strict=False) for name, values in columns.items()
    )
