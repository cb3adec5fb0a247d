"""Formats of rows, cut into shards: tables, JSON lines, Parquet, PubTator.

The places of cuts in a compressed file are those of its uncompressed content: a worker skips everything before its
shard, at some hundred megabytes per second.
"""

from __future__ import annotations

import io
import os
import re
import struct
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import IO, Any, Final

import pyarrow as pa
import xxhash

from nymlink.bulk.row import Headers, Row, RowColumns, RowFormat, Shard, Source
from nymlink.core.errors import InputError
from nymlink.core.files import open_buffered, open_lines, read_batches, read_lines, sha256
from nymlink.core.problems import Problems
from nymlink.core.store.digests import digest
from nymlink.corpus.readers import CORPUS_FORMATS
from nymlink.corpus.readers.common import CorpusOptions
from nymlink.tables.cells import cell_text, is_text, language_fault
from nymlink.tables.delimited import guess_delimiter, parse_records, restore_cell
from nymlink.tables.objects import NOT_AN_OBJECT, json_object, object_keys
from nymlink.tables.parquet import MAGIC, is_parquet, opened_parquet, python_rows
from nymlink.tables.workbooks import is_workbook, xlsx_rows

Record = tuple[int, bytes]
"""The 1-based first line of a record, and its bytes up to the next record."""

_BLOCK: Final = 1 << 20
"""Bytes skipped at a time."""


def cut_records(source: Source, records: Iterable[Record], rows: int) -> Iterator[Shard]:
    """Cut a file into shards of so many records; bytes before the first record belong to no shard.

    Args:
        source: the file.
        records: all records, in order; a first one with line 0 is the header.
        rows: records per shard.
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


def _cutter(
    records: Callable[[Source, IO[bytes]], Iterable[Record]],
) -> Callable[[Source, int], Iterator[Shard]]:
    """Make a function that cuts text files into shards from one that divides them into records."""

    def cut(source: Source, rows: int) -> Iterator[Shard]:
        with open_lines(Path(source.path), Problems()) as file:
            yield from cut_records(source, records(source, file), rows)

    return cut


def shard_bytes(shard: Shard) -> bytes:
    """Read the bytes of a shard.

    Raises:
        InputError: the file cannot be read, or was changed since it was cut.
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
    """Yield the lines of a shard with their numbers in the file; ``problems`` have numbers in the shard."""
    path = Path(shard.source.path)
    # Without the empty first line, a shard without a line feed would seem to have carriage returns as line ends.
    for batch in read_batches(io.BytesIO(b"\n" + shard_bytes(shard)), path, problems):
        for number, line in batch:
            if number > 1:
                yield number + shard.line - 2, line


def shard_problems(shard: Shard) -> Problems:
    """Make a collector that keeps all problems of a shard: each becomes a row."""
    return Problems(keep=shard.stop - shard.start)


def rejected_rows(shard: Shard, problems: Problems) -> Iterator[Row]:
    """Yield a row for each rejected line of a shard; numbers are shifted by the empty line before the shard."""
    for problem in problems.first:
        if problem.rejected:
            yield Row((problem.line or 1) + shard.line - 2, error=problem.message)


_LONGEST: Final = 1 << 22
"""Most characters of a text; a longer one is no single document."""


def row_of(number: int, values: Mapping[str, Any], columns: RowColumns) -> Row:
    """Make a row from the cells of a table, with an error if it has no usable text.

    Args:
        number: of the row.
        values: column → cell.
        columns: the columns to read.
    """
    id = None if columns.id is None else _text(values.get(columns.id)) or None
    language = "" if columns.language is None else _text(values.get(columns.language))
    cell = values.get(columns.text)
    if cell is None or not is_text(cell):
        return Row(number, id, error=f"no text in {columns.text!r}")
    # Texts over the limit are not copied: a small file can have a thousand such cells.
    text = cell if isinstance(cell, str) and len(cell) > _LONGEST else _text(cell)
    if len(text) > _LONGEST:
        return Row(number, id, error=f"{len(text):,} characters are too many for a text")
    if (fault := language_fault(language)) is not None:
        return Row(number, id, text, problem=fault)
    return Row(number, id, text, language.strip() or None)


def _text(value: Any) -> str:
    # NUL characters mark binary data.
    return cell_text(value).replace("\0", " ")


def _delimited_headers(path: Path) -> Headers:
    first = next((line for _, line in read_lines(path, Problems()) if line.strip()), "")
    delimiter = guess_delimiter(first)
    header = next(parse_records(read_lines(path, Problems()), delimiter), None)
    if header is None:
        raise InputError("the table is empty", path=path)
    names = [restore_cell(name).strip() for name in header.fields]
    return Headers(tuple(names), delimiter)


def _delimited_records(source: Source, file: IO[bytes]) -> Iterator[Record]:
    """Yield the header as line 0, then the records; quoted fields may contain line breaks."""
    unused: deque[bytes] = deque()

    def lines() -> Iterator[tuple[int, str]]:
        for number, line in enumerate(file, 1):
            unused.append(line)
            yield number, line.decode("utf-8", "replace").rstrip("\r\n")

    before, at = None, 1
    for record in parse_records(lines(), source.delimiter):
        if before is not None:
            yield before, b"".join(unused.popleft() for _ in range(at, record.line))
            at = record.line
        before = 0 if before is None else record.line
    if before is not None:
        yield before, b"".join(unused)


def _read_delimited(shard: Shard) -> Iterator[Row]:
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


DELIMITED: Final = RowFormat(
    "table", lambda _, head: bool(head.strip()), _delimited_headers, _cutter(_delimited_records), _read_delimited
)


_LOOKED_AT: Final = 50
"""Number of first lines read for the members of objects."""


def _recognises_jsonl(_: Path, head: str) -> bool:
    return head.lstrip().startswith("{")


def _jsonl_headers(path: Path) -> Headers:
    lines = islice(read_lines(path, Problems()), _LOOKED_AT)
    names = object_keys(filter(None, (json_object(line) for _, line in lines)))
    if not names:
        raise InputError(f"none of the first {_LOOKED_AT} lines is a JSON object", path=path)
    return Headers(tuple(names), fixed=False)


def _read_jsonl(shard: Shard) -> Iterator[Row]:
    columns = shard.source.columns
    assert columns is not None, "JSON lines have columns"
    problems = shard_problems(shard)
    for number, line in shard_lines(shard, problems):
        values = json_object(line) if line.strip() else None
        if values is not None:
            yield row_of(number, values, columns)
        elif line.strip():
            yield Row(number, error=NOT_AN_OBJECT)
    yield from rejected_rows(shard, problems)


JSONL: Final = RowFormat(
    "jsonl", _recognises_jsonl, _jsonl_headers, _cutter(lambda _, lines: enumerate(lines, 1)), _read_jsonl
)


_TAIL: Final = 8
"""Bytes at the end of a file: the length of its footer, and the magic number."""


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


def _read_parquet(shard: Shard) -> Iterator[Row]:
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
            # Undecodable values cost only the rows of this shard, each with an error.
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
            rows += python_rows(batch.slice(first, last - first))
        before += batch.num_rows
        if before >= stop:
            break
    return list(islice(rows, stop - start))


def _footer_digest(path: Path) -> str:
    """Compute the digest of the footer of a file, which has places and sizes of all columns."""
    with open_buffered(path) as file:
        size = file.seek(0, 2)
        file.seek(max(size - _TAIL, 0))
        tail = file.read(_TAIL)
        if len(tail) < _TAIL or not tail.endswith(MAGIC):
            raise InputError("the Parquet file is damaged or none: write or download it again", path=path)
        file.seek(max(size - _TAIL - struct.unpack("<I", tail[:4])[0], 0))
        return digest(file.read()).hex()


PARQUET: Final = RowFormat(
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


def _read_xlsx(shard: Shard) -> Iterator[Row]:
    columns, path = shard.source.columns, Path(shard.source.path)
    assert columns is not None, "a table has columns"
    if sha256(path) != shard.digest:
        raise InputError("has changed since the job began: give --restart to begin anew", path=path)
    rows = islice(xlsx_rows(path, Problems()), shard.start + 1, shard.stop + 1)
    for number, cells in rows:
        yield row_of(number, dict(zip(shard.source.header, cells, strict=True)), columns)


XLSX: Final = RowFormat("xlsx", lambda path, _: is_workbook(path), _xlsx_headers, _cut_xlsx, _read_xlsx)


_PUBTATOR: Final = "pubtator"
_TITLE: Final = re.compile(rb"\s*([^|\s][^|\t\n]*)\|t\|")


def _recognises_pubtator(path: Path, head: str) -> bool:
    return CORPUS_FORMATS.get(_PUBTATOR).recognises(path, head)


def _pubtator_records(_: Source, file: IO[bytes]) -> Iterator[Record]:
    first, lines = 1, list[bytes]()
    begun = False
    for number, line in enumerate(file, 1):
        if _TITLE.match(line):
            if begun:
                yield first, b"".join(lines)
                first, lines = number, []
            begun = True
        lines.append(line)
    if lines:
        yield first, b"".join(lines)


def _read_pubtator(shard: Shard) -> Iterator[Row]:
    content = shard_bytes(shard)
    line_of = {
        match[1].decode("utf-8", "replace").strip(): shard.line + place
        for place, line in reversed(list(enumerate(content.split(b"\n"))))
        if (match := _TITLE.match(line))
    }
    problems = shard_problems(shard)
    with tempfile.TemporaryDirectory(prefix="nymlink-") as folder:
        # The reader needs a file.
        path = Path(folder) / "shard"
        path.write_bytes(b"\n" + content)
        try:
            for document in CORPUS_FORMATS.get(_PUBTATOR).read(path, options=CorpusOptions(), problems=problems):
                number = line_of.get(document.id, shard.line)
                yield Row(number, document.id, document.text, mentions=document.mentions)
        except InputError as error:
            # Every document of the shard is unusable: the problems name the reasons.
            if not problems.rejected:
                problems.reject(path, 1, error.message)
    yield from rejected_rows(shard, problems)


PUBTATOR: Final = RowFormat(
    _PUBTATOR, _recognises_pubtator, lambda _: Headers(), _cutter(_pubtator_records), _read_pubtator
)
