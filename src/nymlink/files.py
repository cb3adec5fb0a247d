"""Reading files as they come: plain or compressed, whole or from a pipe, in whatever encoding."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

from nymlink.errors import InputError
from nymlink.problems import Problems

_GZIP_MAGIC = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"
_BATCH_BYTES = 1 << 16


@contextlib.contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """Open a plain or gzip-compressed file for reading; which of the two is told by content, not by name.

    Raises:
        InputError: the file is missing, is a directory, may not be read, or its compression is damaged.
    """
    with _opened(path) as raw:
        # Not read and sought back: a pipe cannot be.
        compressed = raw.peek(2)[:2] == _GZIP_MAGIC
        # Only what decompression raises is caught: other errors come from what the caller does meanwhile.
        try:
            yield cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if compressed else raw
        except EOFError as error:
            raise InputError("the compressed file is truncated: fetch it again", path=path) from error
        except (gzip.BadGzipFile, zlib.error) as error:
            raise InputError(f"the compressed file is damaged ({error}): fetch it again", path=path) from error


def _opened(path: Path) -> io.BufferedReader:
    try:
        return open(path, "rb")
    except FileNotFoundError as error:
        raise InputError("no such file", path=path) from error
    except IsADirectoryError as error:
        raise InputError("this is a directory, not a file", path=path) from error
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be opened: {getattr(error, 'strerror', None) or error}", path=path) from error


def read_head(path: Path, size: int = 8192) -> str:
    """The first ``size`` bytes of a plain or gzip file as text, for telling its format.

    Bytes that are not UTF-8 are replaced.
    """
    with open_bytes(path) as file:
        return file.read(size).removeprefix(_BOM).decode("utf-8", errors="replace")


def read_lines(path: Path, problems: Problems) -> Iterator[tuple[int, str]]:
    """Yield ``(line number, line without its end)`` of a plain or gzip text file.

    Lines end at a line feed and nothing else; carriage returns before it are dropped. A line that is not UTF-8 is
    read as Windows-1252 and reported as repaired.

    Raises:
        InputError: see :func:`open_bytes`.
    """
    with open_bytes(path) as file:
        for number, raw in enumerate(file, start=1):
            yield number, _decode(raw, path, number, problems)


def read_batches(file: IO[bytes], path: Path, problems: Problems) -> Iterator[list[tuple[int, str]]]:
    """Like :func:`read_lines` of an open file, but in batches of what there is to read just now.

    A slow pipe gives its lines as they come, a file gives some hundred kilobytes at a time.
    """
    if not isinstance(file, (io.BufferedReader, io.BytesIO, gzip.GzipFile)):
        raise TypeError("batches can only be read from a buffered file")
    number = 1
    begun: list[bytes] = []
    while chunk := file.read1(_BATCH_BYTES):
        ends, line_feed, rest = chunk.rpartition(b"\n")
        if line_feed:
            lines = b"".join([*begun, ends]).split(b"\n")
            yield [(at, _decode(raw, path, at, problems)) for at, raw in enumerate(lines, number)]
            number += len(lines)
            begun.clear()
        begun.append(rest)
    if last := b"".join(begun):
        yield [(number, _decode(last, path, number, problems))]


def _decode(raw: bytes, path: Path, number: int, problems: Problems) -> str:
    if number == 1:
        raw = raw.removeprefix(_BOM)
    try:
        line = raw.decode("utf-8")
    except UnicodeDecodeError:
        line = raw.decode("cp1252", errors="replace")
        problems.repair(path, number, "not UTF-8; read as Windows-1252")
    return line.rstrip("\r\n")


def sha256(path: Path) -> str:
    """Hex digest of a file's bytes as they lie on disk."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
