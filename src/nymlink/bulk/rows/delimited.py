"""Delimited text (CSV, TSV) with a header."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

from nymlink.bulk.rows.cells import row_of
from nymlink.bulk.rows.row import Row, Shard, Source
from nymlink.bulk.rows.row_format import Headers, RowFormat
from nymlink.bulk.rows.text_shards import (
    Record,
    cut_records,
    opened_text,
    rejected_rows,
    shard_lines,
    shard_problems,
)
from nymlink.core.delimited import guess_delimiter, parse_records, restore_cell
from nymlink.core.errors import InputError
from nymlink.core.files import read_lines
from nymlink.core.problems import Problems


def _headers(path: Path) -> Headers:
    first = next((line for _, line in read_lines(path, Problems()) if line.strip()), "")
    delimiter = guess_delimiter(first)
    header = next(parse_records(read_lines(path, Problems()), delimiter), None)
    if header is None:
        raise InputError("the table is empty", path=path)
    return Headers(tuple(name.strip() for name in header.fields), delimiter)


def _cut(source: Source, rows: int) -> Iterator[Shard]:
    with opened_text(source) as file:
        yield from cut_records(source, _records(file, source.delimiter), rows)


def _records(file: IO[bytes], delimiter: str) -> Iterator[Record]:
    """Yield the header as line 0, then the records, which quoted fields may make longer than a line."""
    unused: deque[bytes] = deque()

    def lines() -> Iterator[tuple[int, str]]:
        for number, line in enumerate(file, 1):
            unused.append(line)
            yield number, line.decode("utf-8", "replace").rstrip("\r\n")

    before, at = None, 1
    for record in parse_records(lines(), delimiter):
        if before is not None:
            yield before, b"".join(unused.popleft() for _ in range(at, record.line))
            at = record.line
        before = 0 if before is None else record.line
    if before is not None:
        yield before, b"".join(unused)


def _read(shard: Shard) -> Iterator[Row]:
    columns, header = shard.source.columns, shard.source.header
    assert columns is not None, "a table has columns"
    problems = shard_problems(shard)
    for record in parse_records(shard_lines(shard, problems), shard.source.delimiter):
        if len(record.fields) != len(header):
            yield Row(record.line, error=f"{len(record.fields)} fields instead of {len(header)}")
            continue
        cells = map(restore_cell, record.fields)
        yield row_of(record.line, dict(zip(header, cells, strict=True)), columns)
    yield from rejected_rows(shard, problems)


FORMAT: Final = RowFormat("table", lambda _, head: bool(head.strip()), _headers, _cut, _read)
