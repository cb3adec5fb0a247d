"""Rows of files, and shards: parts of files that are done by themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nymlink.corpus.documents import Mention


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table, or a document of a corpus.

    Attributes:
        number: 1-based line of a text file that it begins in; 1-based row of Parquet.
        id: its identifier, where it has one.
        text: what is asked of: a mention, a name, a text.
        language: code of the language of a mention, where a column has it.
        mentions: those in the text; ``None`` if the row comes from a table.
        error: why it cannot be used; ``None`` if it can.
        problem: what of it cannot be used, where the rest can; ``None`` for nothing.
    """

    number: int
    id: str | None = None
    text: str = ""
    language: str | None = None
    mentions: tuple[Mention, ...] | None = None
    error: str | None = None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class RowColumns:
    """The columns of a table that are read.

    Attributes:
        text: the one with what is asked of.
        id: the one with identifiers; ``None`` for none.
        language: the one with codes of languages; ``None`` for none.
    """

    text: str
    id: str | None = None
    language: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, each once."""
        return tuple(dict.fromkeys(name for name in (self.text, self.id, self.language) if name is not None))


@dataclass(frozen=True, slots=True)
class Source:
    """A file of rows.

    Attributes:
        name: as it was given, which says in the output where a row is from.
        path: where it is, absolute.
        format: the name of its format.
        columns: those that are read; ``None`` for a corpus.
        header: of delimited text, its columns in order.
        delimiter: of delimited text, the character between fields.
    """

    name: str
    path: str
    format: str
    columns: RowColumns | None = None
    header: tuple[str, ...] = ()
    delimiter: str = ""


@dataclass(frozen=True, slots=True)
class Shard:
    """A part of a file.

    Attributes:
        number: from 0, over all files.
        source: the file.
        start: of a text file the first byte, uncompressed; of Parquet the first row of the group of rows.
        stop: one past the last of these.
        line: 1-based line of a text file that it begins in; 1-based row of Parquet.
        rows: how many rows it has, blank and broken ones included.
        digest: of its bytes; of Parquet, that of the file's footer, which changes with the file.
        group: of Parquet, the group of rows.
    """

    number: int
    source: Source
    start: int
    stop: int
    line: int
    rows: int
    digest: str
    group: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return what tells the shard from others, as JSON values: not where its file is."""
        return {
            "source": self.source.name,
            "start": self.start,
            "stop": self.stop,
            "rows": self.rows,
            "digest": self.digest,
            "group": self.group,
        }


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
