"""Parquet: shards are parts of its groups of rows, so that a worker reads no more than it needs."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from nymlink.bulk.rows.cells import row_of
from nymlink.bulk.rows.row import Row, Shard, Source
from nymlink.bulk.rows.row_format import Headers, RowFormat
from nymlink.core.errors import InputError
from nymlink.core.files import open_buffered
from nymlink.core.store.digests import digest

_MAGIC: Final = b"PAR1"
_TAIL: Final = 8
"""Bytes at the end of a file: the length of its footer, and the magic."""


def _recognises(path: Path, _: str) -> bool:
    with open_buffered(path) as file:
        return file.read(len(_MAGIC)) == _MAGIC


def _open(path: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path)
    except FileNotFoundError as error:
        raise InputError("no such file", path=path) from error
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError("the Parquet file is damaged or none: write or download it again", path=path) from error


def _headers(path: Path) -> Headers:
    with _open(path) as file:
        return Headers(tuple(file.schema_arrow.names))


def _cut(source: Source, rows: int) -> Iterator[Shard]:
    path = Path(source.path)
    footer = _footer_digest(path)
    number = before = 0
    with _open(path) as file:
        counts = [file.metadata.row_group(group).num_rows for group in range(file.metadata.num_row_groups)]
    for group, count in enumerate(counts):
        for start in range(0, count, rows):
            stop = min(start + rows, count)
            yield Shard(number, source, start, stop, before + start + 1, stop - start, footer, group)
            number += 1
        before += count


def _read(shard: Shard) -> Iterator[Row]:
    columns, path = shard.source.columns, Path(shard.source.path)
    assert columns is not None, "a table has columns"
    if _footer_digest(path) != shard.digest:
        raise InputError("has changed since the job began: give --restart to begin anew", path=path)
    with _open(path) as file:
        names = [name for name in columns.names if name in file.schema_arrow.names]
        try:
            batches = file.iter_batches(batch_size=max(shard.rows, 1), row_groups=[shard.group], columns=names)
            values = _slice(batches, shard.start, shard.stop)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            # What cannot be decoded takes its shard with it, row by row, and nothing else.
            message = f"damaged ({str(error).partition(chr(10))[0][:100]})"
            yield from (Row(shard.line + place, error=message) for place in range(shard.rows))
            return
    for place, row in enumerate(values):
        yield row_of(shard.line + place, row, columns)


def _slice(batches: Iterator[pa.RecordBatch], start: int, stop: int) -> list[dict[str, Any]]:
    """Return the rows from ``start`` to ``stop`` of all batches."""
    rows: list[dict[str, Any]] = []
    before = 0
    for batch in batches:
        first, last = max(start - before, 0), min(stop - before, batch.num_rows)
        if first < last:
            rows += batch.slice(first, last - first).to_pylist()
        before += batch.num_rows
        if before >= stop:
            break
    return list(islice(rows, stop - start))


def _footer_digest(path: Path) -> str:
    """Digest the footer of a file, which lists where each column is and how large."""
    with open_buffered(path) as file:
        size = file.seek(0, 2)
        file.seek(max(size - _TAIL, 0))
        tail = file.read(_TAIL)
        if len(tail) < _TAIL or not tail.endswith(_MAGIC):
            raise InputError("the Parquet file is damaged or none: write or download it again", path=path)
        file.seek(max(size - _TAIL - struct.unpack("<I", tail[:4])[0], 0))
        return digest(file.read()).hex()


FORMAT: Final = RowFormat("parquet", _recognises, _headers, _cut, _read)
