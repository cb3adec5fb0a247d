"""Reading files as they come: plain or compressed, whole or from a pipe, in whatever encoding."""

from __future__ import annotations

import codecs
import contextlib
import gzip
import hashlib
import io
import os
import re
import zlib
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, Final, cast

from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.core.read_progress import open_raw

MAX_LINE: Final = 4 << 20
"""How many bytes a line may have.

No row, name or abstract comes near it, and a file without line ends must not fill the memory.
"""
TOO_LONG: Final = f"a line of more than {MAX_LINE >> 20} MB"

_GZIP_MAGIC: Final = b"\x1f\x8b"
# zip, 7-zip, xz, zstd and bzip2
_PACKED: Final = re.compile(rb"PK\x03\x04|7z\xbc\xaf\x27|\xfd7zXZ|\x28\xb5\x2f\xfd|BZh[1-9]1AY&")
_HEAD_BYTES: Final = 8192
_BATCH_BYTES: Final = 1 << 16
_FEWEST_TO_TELL: Final = 16


@contextlib.contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """Open a plain or gzip-compressed file for reading; which of the two is told by content, not by name.

    Raises:
        InputError: the file is missing, is a directory, may not be read, is compressed in another way, or its
            compression is damaged.
    """
    with _opened(path) as raw:
        # Not read and sought back: a pipe cannot be.
        head = raw.peek(10)
        if _PACKED.match(head):
            raise InputError(
                "an archive, or compressed in another way than gzip: unpack it first (a spreadsheet: save it as "
                "CSV UTF-8)",
                path=path,
            )
        compressed = head.startswith(_GZIP_MAGIC)
        # Only what decompression raises is caught: other errors come from what the caller does meanwhile.
        try:
            yield cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if compressed else raw
        except EOFError as error:
            raise InputError("the compressed file is truncated: fetch it again", path=path) from error
        except (gzip.BadGzipFile, zlib.error) as error:
            raise InputError(f"the compressed file is damaged ({error}): fetch it again", path=path) from error


def _opened(path: Path) -> io.BufferedReader:
    try:
        return io.BufferedReader(open_raw(path))
    except FileNotFoundError as error:
        raise InputError("no such file", path=path) from error
    except IsADirectoryError as error:
        raise InputError("this is a directory, not a file", path=path) from error
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be opened: {getattr(error, 'strerror', None) or error}", path=path) from error


def read_head(path: Path, size: int = _HEAD_BYTES) -> str:
    """The first ``size`` bytes of a plain or gzip file as text, for telling its format.

    Where blank lines go on for that long, what follows them. Bytes that are not UTF-8 are replaced. UTF-16 is
    read, so that a format is recognised and can say that it needs another encoding. Lines end as
    :func:`whole_lines` has them.
    """
    with open_bytes(path) as file:
        head = file.read(size)
        encoding = utf16_of(head) or "utf-8"
        head = head.removeprefix(codecs.BOM_UTF8)
        while head.isspace():
            head = file.read(size)
        head += file.read(len(head) - len(head.lstrip()))
    text = head.decode(encoding, errors="replace")
    return text.replace("\r", "\n") if _ends_at_returns(head) else text


def read_lines(path: Path, problems: Problems) -> Iterator[tuple[int, str]]:
    """Yield ``(line number, line without its end)`` of a plain or gzip text file.

    Lines end as :func:`whole_lines` has them; carriage returns before a line feed are dropped. A line that is not
    UTF-8 is read as Windows-1252 and reported as repaired; one of more than :data:`MAX_LINE` bytes is rejected.

    Raises:
        InputError: the text is UTF-16; see also :func:`open_bytes`.
    """
    with open_bytes(path) as file:
        for lines in _numbered(whole_lines(_as_it_comes(file), path)):
            yield from _decoded(lines, path, problems)


def read_batches(file: IO[bytes], path: Path, problems: Problems) -> Iterator[list[tuple[int, str]]]:
    """Like :func:`read_lines` of an open file, but in batches of what there is to read just now.

    A slow pipe gives its lines as they come, a file gives some hundred kilobytes at a time. No batch is empty.
    """
    for lines in _numbered(whole_lines(_as_it_comes(file), path)):
        if batch := list(_decoded(lines, path, problems)):
            yield batch


def has_mark(file: IO[bytes]) -> bool:
    """Whether a file of which nothing was read yet begins with UTF-8's byte order mark."""
    head = file.getvalue() if isinstance(file, io.BytesIO) else cast(io.BufferedReader, file).peek(3)
    return head.startswith(codecs.BOM_UTF8)


def whole_lines(chunks: Iterable[bytes], path: Path) -> Iterator[bytes]:
    """Join and cut what comes of a text file at line ends; a byte order mark is left out.

    Lines end at a line feed and nothing else. Only in a file that begins with carriage returns and no line feed,
    as was the way of the Macintosh, they end at those too, and have line feeds for them here.

    Of a line of more than :data:`MAX_LINE` bytes only so much is kept that its length tells it is one.

    Args:
        chunks: the bytes of the file in any pieces.
        path: the file, for messages.

    Raises:
        InputError: the text is UTF-16.
    """
    begun: list[bytes] = []
    length = 0
    is_first = True
    for chunk in _with_line_feeds(chunks):
        ends, line_feed, rest = chunk.rpartition(b"\n")
        if line_feed:
            block = b"".join([*begun, ends, line_feed])
            yield _beginning(block, path) if is_first else block
            begun, length, is_first = [], 0, False
        if length <= MAX_LINE:
            begun.append(rest)
            length += len(rest)
    if last := b"".join(begun):
        yield _beginning(last, path) if is_first else last


def refuse_utf16(head: bytes, path: Path) -> None:
    """See that a text does not begin as UTF-16 does.

    Raises:
        InputError: it does.
    """
    if utf16_of(head) is not None:
        raise InputError(
            "the text is UTF-16: write it as UTF-8 (a spreadsheet as CSV UTF-8, else iconv -f UTF-16 -t UTF-8)",
            path=path,
        )


def utf16_of(head: bytes) -> str | None:
    """The codec of a text in UTF-16, told by its mark or, in Latin letters, by every other byte being NUL.

    Args:
        head: its first bytes.

    Returns:
        ``None`` where it is not in UTF-16.
    """
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    even, odd = head[:64:2], head[1:64:2]
    if len(head) < _FEWEST_TO_TELL or any(even) == any(odd):
        return None
    return "utf-16-le" if all(even) else "utf-16-be" if all(odd) else None


def _with_line_feeds(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Pass on the bytes of a file, with line feeds for its carriage returns where its lines end at those alone."""
    chunks = iter(chunks)
    head = b""
    # No more than the first line is waited for, so that a slow pipe gives its lines as they come.
    while b"\n" not in head and len(head) < _HEAD_BYTES and (chunk := next(chunks, b"")):
        head += chunk
    if not _ends_at_returns(head[:_HEAD_BYTES]):
        yield head
        yield from chunks
        return
    for chunk in chain([head], chunks):
        yield chunk.replace(b"\r", b"\n")


def _ends_at_returns(head: bytes) -> bool:
    """Whether lines end at carriage returns alone; one at the end tells nothing, for a line feed may follow."""
    return b"\r" in head[:-1] and b"\n" not in head


def _beginning(block: bytes, path: Path) -> bytes:
    refuse_utf16(block, path)
    return block.removeprefix(codecs.BOM_UTF8)


def _as_it_comes(file: IO[bytes]) -> Iterator[bytes]:
    if not isinstance(file, (io.BufferedReader, io.BytesIO, gzip.GzipFile)):
        raise TypeError("batches can only be read from a buffered file")
    return iter(partial(file.read1, _BATCH_BYTES), b"")


def _numbered(blocks: Iterable[bytes]) -> Iterator[Iterator[tuple[int, bytes]]]:
    number = 1
    for block in blocks:
        lines = block.removesuffix(b"\n").split(b"\n")
        yield enumerate(lines, number)
        number += len(lines)


def _decoded(lines: Iterable[tuple[int, bytes]], path: Path, problems: Problems) -> Iterator[tuple[int, str]]:
    for number, raw in lines:
        if len(raw) > MAX_LINE:
            problems.reject(path, number, TOO_LONG)
            continue
        try:
            line = raw.decode("utf-8")
        except UnicodeDecodeError:
            line = raw.decode("cp1252", errors="replace")
            problems.repair(path, number, "not UTF-8; read as Windows-1252")
        yield number, line.rstrip("\r")


def name_of(path: Path) -> str:
    """The name of a file with what is not UTF-8 in it replaced, so that it can be written down."""
    return os.fsencode(path.name).decode("utf-8", errors="replace")


def sha256(path: Path) -> str:
    """Hex digest of a file's bytes as they lie on disk."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
