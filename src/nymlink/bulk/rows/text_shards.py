"""Cut text files into shards at the beginnings of records, and read the bytes of a shard again.

A compressed file is cut where it would be uncompressed: a worker reads over what is before its shard, some
hundreds of megabytes a second.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final, cast

import xxhash

from nymlink.bulk.rows.row import Row, Shard, Source
from nymlink.core.encodings import detect_utf16
from nymlink.core.errors import InputError
from nymlink.core.files import open_bytes, read_batches
from nymlink.core.problems import Problems
from nymlink.core.store.digests import digest

Record = tuple[int, bytes]
"""The 1-based line that a record begins in, and its bytes with all that follows up to the next record."""

_HEAD: Final = 1 << 13
"""Bytes by which it is told how lines end."""

_BLOCK: Final = 1 << 20
"""Bytes that are read over at a time."""


@contextmanager
def opened_text(source: Source) -> Iterator[IO[bytes]]:
    """Open a text file whose lines end at line feeds, each a byte.

    Raises:
        InputError: they end at carriage returns alone, it is UTF-16, or it cannot be opened.
    """
    path = Path(source.path)
    with open_bytes(path) as file:
        head = cast(io.BufferedReader, file).peek(_HEAD)
        if detect_utf16(head) is not None:
            raise InputError("the text is UTF-16: convert it, for example iconv -f UTF-16 -t UTF-8", path=path)
        if b"\r" in head[:-1] and b"\n" not in head:
            raise InputError(
                "lines end at carriage returns alone: convert it, for example with mac2unix", path=path
            )
        yield file


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


def shard_bytes(shard: Shard) -> bytes:
    """Read the bytes of a shard.

    Raises:
        InputError: the file cannot be read, or is not what it was when it was cut.
    """
    path = Path(shard.source.path)
    with open_bytes(path) as file:
        ahead = shard.start
        if isinstance(file, io.BufferedReader):
            file.seek(ahead)
        else:
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


def rejected_rows(shard: Shard, problems: Problems) -> Iterator[Row]:
    """Yield a row for each line of a shard that was rejected; an empty line was read before the shard."""
    for problem in problems.first:
        if problem.rejected:
            yield Row((problem.line or 1) + shard.line - 2, error=problem.message)
