"""Rows of files, and shards: parts of files for separate processing."""

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
        number: 1-based number of its first line in a text file; 1-based row of Parquet.
        id: its identifier, if it has one.
        text: a mention, a name or a text.
        language: code of the language of a mention, if a column has it.
        mentions: mentions in the text; ``None`` if the row comes from a table.
        error: why the row cannot be used; ``None`` if it can.
        problem: why a part of it cannot be used; ``None`` if all can.
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
    """The columns read from a table.

    Attributes:
        text: the column of mentions, names or texts.
        id: the column of identifiers; ``None`` for none.
        language: the column of language codes; ``None`` for none.
    """

    text: str
    id: str | None = None
    language: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, without repetition."""
        return tuple(dict.fromkeys(name for name in (self.text, self.id, self.language) if name is not None))


@dataclass(frozen=True, slots=True)
class Source:
    """A file of rows.

    Attributes:
        name: its name as given, written to the output.
        path: its absolute path.
        format: the name of its format.
        columns: the columns to read; ``None`` for a corpus.
        header: the columns of delimited text, in order.
        delimiter: the character between fields of delimited text.
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
        start: the first byte of a text file, uncompressed; the first row in the row group of Parquet.
        stop: one past the last byte or row.
        line: 1-based number of its first line in a text file; 1-based row of Parquet.
        rows: number of rows, including blank and broken ones.
        digest: of its bytes; for Parquet, of the file's footer, which changes with the file.
        group: the row group of Parquet.
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
        """Return the identity of the shard as JSON values, without the path of its file."""
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
        names: the columns found, in order.
        delimiter: the character between fields of delimited text.
        fixed: whether each row has exactly these columns.
    """

    names: tuple[str, ...] = ()
    delimiter: str = ""
    fixed: bool = True


@dataclass(frozen=True, slots=True)
class RowFormat:
    """A format of rows.

    Attributes:
        name: as given to ``--input-format``.
        recognises: whether a file is of this format, by its path and the beginning of its text (empty for a binary
            file).
        headers: reads the columns of a file; a corpus has none.
        cut: cuts a file into shards of at most so many rows, numbered from 0.
        read: reads the rows of a shard.
    """

    name: str
    recognises: Callable[[Path, str], bool]
    headers: Callable[[Path], Headers]
    cut: Callable[[Source, int], Iterator[Shard]]
    read: Callable[[Shard], Iterator[Row]]
