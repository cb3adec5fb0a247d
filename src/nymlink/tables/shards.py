"""Parts of tables that are read by themselves: delimited text, JSON lines, Parquet and workbooks in shards.

A compressed file is cut where it would be uncompressed: a worker reads over what is before its shard, some
hundreds of megabytes a second.
"""

from __future__ import annotations

import io
import os
import struct
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any, Final

import pyarrow as pa
import xxhash

from nymlink.core.errors import InputError
from nymlink.core.files import open_buffered, open_lines, read_batches, read_lines, sha256
from nymlink.core.problems import Problems
from nymlink.core.store.digests import digest, json_digest
from nymlink.tables.delimited import open_table_lines, parse_records, restore_cell
from nymlink.tables.objects import NOT_AN_OBJECT, json_object, object_keys
from nymlink.tables.parquet import MAGIC, is_parquet, opened_parquet, python_rows
from nymlink.tables.workbooks import is_workbook, xlsx_rows


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
        source = self.source
        return {
            "source": source.name,
            "columns": json_digest([source.header, source.columns and source.columns.names, source.delimiter]),
            "start": self.start,
            "stop": self.stop,
            "line": self.line,
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


Content = Any
"""What a row has: column → cell; a message, if it cannot be used; or what else a format has, a document."""


@dataclass(frozen=True, slots=True)
class ShardFormat:
    """A format of rows that is cut into shards.

    Attributes:
        name: as given to ``--input-format``.
        recognises: tells whether a file is of this format, by its path and the beginning of its text (empty for a
            binary file).
        headers: reads the columns of a file; a corpus has none.
        cut: cuts a file into shards of at most so many rows, numbered from 0.
        read: reads the rows of a shard, each with its number.
    """

    name: str
    recognises: Callable[[Path, str], bool]
    headers: Callable[[Path], Headers]
    cut: Callable[[Source, int], Iterator[Shard]]
    read: Callable[[Shard], Iterator[tuple[int, Content]]]


Record = tuple[int, bytes]
"""The 1-based line that a record begins in, and its bytes with all that follows up to the next record."""

_BLOCK: Final = 1 << 20
"""Bytes that are read over at a time."""


def cut_records(source: Source, records: Iterable[Record], rows: int) -> Iterator[Shard]:
    """Cut a file into shards of so many records; what is before the first record is of none.

    Args:
        source: the file.
        records: all of it, in order; a first one of line 0 is what is before the others, a header.
        rows: records of a shard.
    """
    number, start, offset, line, count = 0, 0, 0, 1, 0
    hasher = xxhash.xxh3_128()
    for first, content in records:
        if first == 0:
            start = offset = len(content)
            continue
        if count == rows:
            yield Shard(number, source, start, offset, line, count, hasher.hexdigest())
            number, start, count = number + 1, offset, 0
            hasher.reset()
        if count == 0:
            line = first
        hasher.update(content)
        offset += len(content)
        count += 1
    if count:
        yield Shard(number, source, start, offset, line, count, hasher.hexdigest())


def cutter(
    records: Callable[[Source, IO[bytes]], Iterable[Record]],
) -> Callable[[Source, int], Iterator[Shard]]:
    """Make a function that cuts a text file into shards, of one that divides it into records."""

    def cut(source: Source, rows: int) -> Iterator[Shard]:
        with open_lines(Path(source.path), Problems()) as file:
            yield from cut_records(source, records(source, file), rows)

    return cut


def shard_bytes(shard: Shard) -> bytes:
    """Read the bytes of a shard.

    Raises:
        InputError: the file cannot be read, or is not what it was when it was cut.
    """
    path = Path(shard.source.path)
    with open_lines(path, Problems()) as file:
        ahead = shard.start
        if file.seekable():
            file.seek(ahead, os.SEEK_CUR)
            ahead = 0
        while ahead > 0 and (read := len(file.read(min(ahead, _BLOCK)))):
            ahead -= read
        content = file.read(shard.stop - shard.start)
    if digest(content).hex() != shard.digest:
        raise InputError("has changed since the job began: give --restart to begin anew", path=path)
    return content


def shard_lines(shard: Shard, problems: Problems) -> Iterator[tuple[int, str]]:
    """Yield the lines of a shard with their numbers in the file; in ``problems`` they are others."""
    path = Path(shard.source.path)
    # With an empty line before: a shard without a line feed would be taken for lines that end at carriage returns.
    for batch in read_batches(io.BytesIO(b"\n" + shard_bytes(shard)), path, problems):
        for number, line in batch:
            if number > 1:
                yield number + shard.line - 2, line


def shard_problems(shard: Shard) -> Problems:
    """Make a list of problems of a shard that keeps all of them: each becomes a row."""
    return Problems(keep=shard.stop - shard.start)


def rejected_rows(shard: Shard, problems: Problems) -> Iterator[tuple[int, str]]:
    """Yield a row for each line of a shard that was rejected; an empty line was read before the shard."""
    for problem in problems.first:
        if problem.rejected:
            yield (problem.line or 1) + shard.line - 2, problem.message


def _delimited_headers(path: Path) -> Headers:
    table = open_table_lines(read_lines(path, Problems()))
    if table.header is None:
        raise InputError("the table is empty", path=path)
    names = [restore_cell(name).strip() for name in table.header.fields]
    return Headers(tuple(names), table.delimiter)


def _delimited_records(source: Source, file: IO[bytes]) -> Iterator[Record]:
    """Yield the header as line 0, then the records, which quoted fields may make longer than a line."""
    unused: deque[bytes] = deque()

    def lines() -> Iterator[tuple[int, str]]:
        for number, line in enumerate(file, 1):
            unused.append(line)
            yield number, line.decode("utf-8", "replace").rstrip("\r\n")

    before, at = 0, 1
    # The header, and what is before it.
    for record in open_table_lines(lines(), source.delimiter).records:
        yield before, b"".join(unused.popleft() for _ in range(at, record.line))
        before = at = record.line
    if unused:
        yield before, b"".join(unused)


def _read_delimited(shard: Shard) -> Iterator[tuple[int, Content]]:
    header = shard.source.header
    problems = shard_problems(shard)
    for record in parse_records(shard_lines(shard, problems), shard.source.delimiter):
        if len(record.fields) != len(header):
            yield record.line, f"{len(record.fields)} fields instead of {len(header)}"
            continue
        cells = map(restore_cell, record.fields)
        yield record.line, dict(zip(header, cells, strict=True))
    yield from rejected_rows(shard, problems)


DELIMITED: Final = ShardFormat(
    "table", lambda _, head: bool(head.strip()), _delimited_headers, cutter(_delimited_records), _read_delimited
)


_LOOKED_AT: Final = 50
"""First lines by which it is told which members objects have."""


def _recognises_jsonl(_: Path, head: str) -> bool:
    return head.lstrip().startswith("{")


def _jsonl_headers(path: Path) -> Headers:
    lines = islice(read_lines(path, Problems()), _LOOKED_AT)
    names = object_keys(filter(None, (json_object(line) for _, line in lines)))
    if not names:
        raise InputError(f"none of the first {_LOOKED_AT} lines is a JSON object", path=path)
    return Headers(tuple(names), fixed=False)


def _read_jsonl(shard: Shard) -> Iterator[tuple[int, Content]]:
    problems = shard_problems(shard)
    for number, line in shard_lines(shard, problems):
        values = json_object(line) if line.strip() else None
        if values is not None:
            yield number, values
        elif line.strip():
            yield number, NOT_AN_OBJECT
    yield from rejected_rows(shard, problems)


JSONL: Final = ShardFormat(
    "jsonl", _recognises_jsonl, _jsonl_headers, cutter(lambda _, lines: enumerate(lines, 1)), _read_jsonl
)


_TAIL: Final = 8
"""Bytes at the end of a file: the length of its footer, and the magic."""


def _parquet_headers(path: Path) -> Headers:
    with opened_parquet(path) as file:
        return Headers(tuple(file.schema_arrow.names))


def _cut_parquet(source: Source, rows: int) -> Iterator[Shard]:
    path = Path(source.path)
    footer = _footer_digest(path)
    number = before = 0
    with opened_parquet(path) as file:
        counts = [file.metadata.row_group(group).num_rows for group in range(file.metadata.num_row_groups)]
    for group, count in enumerate(counts):
        for start in range(0, count, rows):
            stop = min(start + rows, count)
            yield Shard(number, source, start, stop, before + start + 1, stop - start, footer, group)
            number += 1
        before += count


def _read_parquet(shard: Shard) -> Iterator[tuple[int, Content]]:
    columns, path = shard.source.columns, Path(shard.source.path)
    assert columns is not None, "a table has columns"
    if _footer_digest(path) != shard.digest:
        raise InputError("has changed since the job began: give --restart to begin anew", path=path)
    with opened_parquet(path) as file:
        names = [name for name in columns.names if name in file.schema_arrow.names]
        try:
            batches = file.iter_batches(batch_size=max(shard.rows, 1), row_groups=[shard.group], columns=names)
            values = _slice(batches, shard.start, shard.stop)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            # What cannot be decoded takes its shard with it, row by row, and nothing else.
            message = f"damaged ({str(error).partition(chr(10))[0][:100]})"
            yield from ((shard.line + place, message) for place in range(shard.rows))
            return
    for place, row in enumerate(values):
        yield shard.line + place, row


def _slice(batches: Iterator[pa.RecordBatch], start: int, stop: int) -> list[dict[str, Any]]:
    """Return the rows from ``start`` to ``stop`` of all batches."""
    rows: list[dict[str, Any]] = []
    before = 0
    for batch in batches:
        first, last = max(start - before, 0), min(stop - before, batch.num_rows)
        if first < last:
            rows += python_rows(batch.slice(first, last - first))
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
        if len(tail) < _TAIL or not tail.endswith(MAGIC):
            raise InputError("the Parquet file is damaged or none: write or download it again", path=path)
        file.seek(max(size - _TAIL - struct.unpack("<I", tail[:4])[0], 0))
        return digest(file.read()).hex()


PARQUET: Final = ShardFormat(
    "parquet", lambda path, _: is_parquet(path), _parquet_headers, _cut_parquet, _read_parquet
)


def _xlsx_headers(path: Path) -> Headers:
    _, header = next(xlsx_rows(path, Problems()))
    return Headers(tuple(header))


def _cut_xlsx(source: Source, rows: int) -> Iterator[Shard]:
    path = Path(source.path)
    whole = sha256(path)
    count = sum(1 for _ in xlsx_rows(path, Problems())) - 1
    for number, start in enumerate(range(0, count, rows)):
        stop = min(start + rows, count)
        yield Shard(number, source, start, stop, start + 1, stop - start, whole)


def _read_xlsx(shard: Shard) -> Iterator[tuple[int, Content]]:
    path = Path(shard.source.path)
    if sha256(path) != shard.digest:
        raise InputError("has changed since the job began: give --restart to begin anew", path=path)
    rows = islice(xlsx_rows(path, Problems()), shard.start + 1, shard.stop + 1)
    for number, cells in rows:
        yield number, dict(zip(shard.source.header, cells, strict=True))


XLSX: Final = ShardFormat("xlsx", lambda path, _: is_workbook(path), _xlsx_headers, _cut_xlsx, _read_xlsx)
