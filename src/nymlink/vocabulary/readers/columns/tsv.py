"""Read chosen columns of a large tab-separated file whose first line names its columns."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import chain
from pathlib import Path

import pyarrow as pa

from nymlink.core.errors import InputError
from nymlink.core.files import LINE_TOO_LONG, MAX_LINE, open_bytes
from nymlink.core.problems import Problems
from nymlink.vocabulary.readers.columns.delimited import Block, RowFormat, read_blocks, read_columns


def read_tsv(
    path: Path, wanted: Mapping[str, pa.DataType], *, required: Collection[str] = (), problems: Problems
) -> Iterator[pa.Table]:
    """Yield the good rows, some hundred thousand at a time, each column in one chunk.

    Args:
        path: a plain or gzip file; its first line names its columns, in any case.
        wanted: columns to read, lower case, with their types: see
            :class:`~nymlink.vocabulary.readers.columns.delimited.RowFormat`.
        required: columns of text that may not be blank.
        problems: receives each row that is rejected or repaired, with its line number.

    Raises:
        InputError: a column is missing, or the file cannot be read (:func:`nymlink.core.files.open_bytes`).
    """
    with open_bytes(path) as file:
        blocks = read_blocks(file, path, problems)
        first = next(filter(None, map(_without_blank_lines, blocks)), Block(path, 1, b""))
        header, _, rest = first.data.partition(b"\n")
        if len(header) > MAX_LINE:
            raise InputError(LINE_TOO_LONG, path=path, line=first.line)
        names = header.decode("utf-8", errors="replace").split("\t")
        layout = RowFormat(tuple(name.strip().lower() for name in names), wanted, required, delimiter="\t")
        for name in wanted:
            if name not in layout.columns:
                message = f"no column {name!r}: the first line must name it"
                raise InputError(message, path=path, line=first.line)
        yield from read_columns(chain([Block(path, first.line + 1, rest)], blocks), layout, problems)


def _without_blank_lines(block: Block) -> Block | None:
    """Strip leading blank lines from a block; ``None`` if nothing is left."""
    data = block.data.lstrip(b"\r\n")
    blank = block.data.count(b"\n") - data.count(b"\n")
    return Block(block.path, block.line + blank, data) if data else None
