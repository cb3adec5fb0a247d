"""Define a format of rows: how its files are recognised, cut into shards, and read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from nymlink.bulk.rows.row import Row, Shard, Source


@dataclass(frozen=True, slots=True)
class Headers:
    """The columns of a file.

    Attributes:
        names: the columns that were found, in order.
        delimiter: of delimited text, the character between fields.
        fixed: whether each row has these columns, and no others.
    """

    names: tuple[str, ...] = ()
    delimiter: str = ""
    fixed: bool = True


@dataclass(frozen=True, slots=True)
class RowFormat:
    """A format of rows.

    Attributes:
        name: as given to ``--input-format``.
        recognises: tells whether a file is of this format, by its path and the beginning of its text (empty for a
            binary file).
        headers: reads the columns of a file; a corpus has none.
        cut: cuts a file into shards of at most so many rows, numbered from 0.
        read: reads the rows of a shard.
    """

    name: str
    recognises: Callable[[Path, str], bool]
    headers: Callable[[Path], Headers]
    cut: Callable[[Source, int], Iterator[Shard]]
    read: Callable[[Shard], Iterator[Row]]
