"""Read text from plain or compressed files, with a limit on the length of lines."""

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
from typing import IO, Any, Final, cast

from nymlink.core.encodings import as_utf8, detect_utf16, peek
from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.core.terminal import open_raw

MAX_LINE: Final = 4 << 20
"""Most bytes in a line. Without a limit, a file without line ends would fill the memory."""
LINE_TOO_LONG: Final = f"a line of more than {MAX_LINE >> 20} MB, which is the limit: divide it"

_MARKS: Final = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_GZIP_MAGIC: Final = b"\x1f\x8b"
# zip, 7-zip, xz, zstd and bzip2
_UNSUPPORTED_MAGIC: Final = re.compile(rb"PK\x03\x04|7z\xbc\xaf\x27|\xfd7zXZ|\x28\xb5\x2f\xfd|BZh[1-9]1AY&")
_OLD_OFFICE_MAGIC: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_HTML: Final = re.compile(rb"\s*+<(?:!doctype\s+html|html)[\s>]", re.IGNORECASE)
_LFS_POINTER: Final = b"version https://git-lfs.github.com/spec/"
_SIGN_BYTES: Final = 200
_HEAD_BYTES: Final = 8192
_BATCH_BYTES: Final = 1 << 16
_PART: Final = re.compile(r"(.*\.xls[xm])#(.+)", re.IGNORECASE | re.DOTALL)


@contextlib.contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """Open a plain or gzip-compressed file. Compression is detected from the content, not from the name.

    Raises:
        InputError: the file is missing, is a directory, may not be read, is compressed in another way, or its
            compression is damaged; or a download gave something else instead of the file, such as an HTML page or
            a pointer.
    """
    with open_buffered(path) as raw:
        # Peek instead of seek, because a pipe cannot seek.
        head = raw.peek(_SIGN_BYTES)[:_SIGN_BYTES]
        if head.startswith(_OLD_OFFICE_MAGIC):
            raise InputError(
                "a workbook or document of Office before 2007 (.xls, .doc): save it as .xlsx or as CSV UTF-8",
                path=path,
            )
        if _UNSUPPORTED_MAGIC.match(head):
            raise InputError(
                "this is an archive, or compressed otherwise than with gzip: unpack it first (save a spreadsheet "
                "as CSV UTF-8)",
                path=path,
            )
        if _HTML.match(head):
            raise InputError(
                "this is an HTML page, not the file itself: log in at its site if it asks for that, and download "
                "the file again",
                path=path,
            )
        if head.startswith(_LFS_POINTER):
            raise InputError(
                "this is a pointer of Git LFS, not the file itself: run `git lfs pull` in its repository",
                path=path,
            )
        compressed = head.startswith(_GZIP_MAGIC)
        # Catch only errors of decompression. Other errors come from the caller's code in the with block.
        try:
            yield cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if compressed else raw
        except EOFError as error:
            raise InputError("the compressed file is truncated: download it again", path=path) from error
        except (gzip.BadGzipFile, zlib.error) as error:
            raise InputError(f"the compressed file is damaged ({error}): download it again", path=path) from error


def split_part(path: Path) -> tuple[Path, str]:
    """Divide a path such as ``visits.xlsx#Sheet2`` into the file and the part.

    For a whole file, the part is empty.

    An existing file whose own name has this form is a whole file.
    """
    match = _PART.fullmatch(path.name)
    return (path, "") if match is None or path.exists() else (path.with_name(match[1]), match[2])


def open_buffered(path: Path) -> io.BufferedReader:
    """Open a file for reading its bytes as they are. For a part (:func:`split_part`), open the whole file.

    Raises:
        InputError: the file is missing, is a directory, or may not be read.
    """
    try:
        return io.BufferedReader(open_raw(split_part(path)[0]))
    except FileNotFoundError as error:
        raise InputError("no such file", path=path) from error
    except IsADirectoryError as error:
        raise InputError("this is a directory, not a file", path=path) from error
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be opened: {getattr(error, 'strerror', None) or error}", path=path) from error


def read_head(path: Path, size: int = _HEAD_BYTES) -> str:
    """Return the first ``size`` bytes of a plain or gzip file as text, from which its format can be recognised.

    White space at the beginning does not count for ``size``, and blocks of nothing but white space are skipped.
    UTF-16 is decoded, and bytes that are not UTF-8 are replaced. Line ends are those of :func:`whole_lines`.
    """
    with open_bytes(path) as file:
        head = file.read(size)
        encoding = detect_utf16(head) or "utf-8"
        head = head.removeprefix(codecs.BOM_UTF8)
        while head.isspace():
            head = file.read(size)
        head += file.read(len(head) - len(head.lstrip()))
    text = head.decode(encoding, errors="replace")
    return text.replace("\r", "\n") if _ends_at_returns(head) else text


def read_lines(path: Path, problems: Problems) -> Iterator[tuple[int, str]]:
    """Yield ``(line number, line without its end)`` of a plain or gzip text file.

    Line ends are those of :func:`whole_lines`; a carriage return before a line feed is removed. UTF-16 is decoded.
    A line that is not UTF-8 is decoded as Windows-1252. Both are reported as repaired. A line of more than
    :data:`MAX_LINE` bytes is rejected.

    Raises:
        InputError: see :func:`open_bytes`.
    """
    with open_bytes(path) as file:
        for batch in read_batches(file, path, problems):
            yield from batch


@contextlib.contextmanager
def open_lines(path: Path, problems: Problems) -> Iterator[IO[bytes]]:
    """Open a plain or gzip text file as UTF-8 bytes without a byte order mark, with line feeds as line ends.

    UTF-16 is converted during reading, and so are carriage returns that are line ends. The file cannot seek.

    Raises:
        InputError: see :func:`open_bytes`.
    """
    with open_bytes(path) as file:
        text = cast(io.BufferedReader, as_utf8(file, path, problems))
        head = text.peek(_HEAD_BYTES)[:_HEAD_BYTES]
        if head.startswith(codecs.BOM_UTF8):
            text.read(len(codecs.BOM_UTF8))
        yield io.BufferedReader(_ReturnsAsFeeds(text)) if _ends_at_returns(head) else text


class _ReturnsAsFeeds(io.RawIOBase):
    """A file with its carriage returns replaced by line feeds."""

    def __init__(self, file: io.BufferedReader) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        piece = self._file.read1(len(view)).replace(b"\r", b"\n")
        view[: len(piece)] = piece
        return len(piece)


def read_batches(file: IO[bytes], path: Path, problems: Problems) -> Iterator[list[tuple[int, str]]]:
    """Yield the lines of an open file like :func:`read_lines`, in batches.

    A batch has all lines that are available now, at least one.

    A slow pipe yields its lines as they arrive. A file yields some tens of kilobytes at a time.
    """
    number = 1
    for block in whole_lines(_available_chunks(as_utf8(file, path, problems))):
        if batch := _decoded(block.removesuffix(b"\n"), number, path, problems):
            yield batch
        number += block.removesuffix(b"\n").count(b"\n") + 1


def has_bom(file: IO[bytes]) -> bool:
    """Whether an unread file begins with a byte order mark."""
    return peek(file).startswith(_MARKS)


def whole_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Regroup the bytes of a text file into blocks of whole lines. The byte order mark is removed.

    Lines end at line feeds. If the beginning of the file has carriage returns and no line feed (classic
    Macintosh), its carriage returns are replaced by line feeds. A line of more than :data:`MAX_LINE` bytes is cut.
    It stays longer than the limit, so that the caller recognises it.

    Args:
        chunks: the bytes of the file in pieces of any size.
    """
    open_line: list[bytes] = []
    length = 0
    is_first = True
    for chunk in _with_line_feeds(chunks):
        lines, line_feed, rest = chunk.rpartition(b"\n")
        if line_feed:
            block = b"".join([*open_line, lines, line_feed])
            yield block.removeprefix(codecs.BOM_UTF8) if is_first else block
            open_line, length, is_first = [], 0, False
        if length <= MAX_LINE:
            open_line.append(rest)
            length += len(rest)
    if last := b"".join(open_line):
        yield last.removeprefix(codecs.BOM_UTF8) if is_first else last


def _with_line_feeds(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """If lines end with a carriage return and no line feed, replace the carriage returns by line feeds."""
    chunks = iter(chunks)
    head = b""
    # Wait only for the first line, so that a slow pipe yields its lines as they arrive.
    while b"\n" not in head and len(head) < _HEAD_BYTES and (chunk := next(chunks, b"")):
        head += chunk
    if not _ends_at_returns(head[:_HEAD_BYTES]):
        yield head
        yield from chunks
        return
    for chunk in chain([head], chunks):
        yield chunk.replace(b"\r", b"\n")


def _ends_at_returns(head: bytes) -> bool:
    """Whether lines end with a carriage return and no line feed.

    A carriage return at the very end does not count, because a line feed may follow.
    """
    return b"\r" in head[:-1] and b"\n" not in head


def _available_chunks(file: IO[bytes]) -> Iterator[bytes]:
    return iter(partial(cast(io.BufferedReader, file).read1, _BATCH_BYTES), b"")


def _decoded(block: bytes, first: int, path: Path, problems: Problems) -> list[tuple[int, str]]:
    """Decode whole lines, and number them from ``first``."""
    if len(block) <= MAX_LINE:
        # Nearly all files are UTF-8: decode all lines together.
        with contextlib.suppress(UnicodeDecodeError):
            text = block.decode("utf-8")
            lines = text.split("\n")
            return list(enumerate([line.rstrip("\r") for line in lines] if "\r" in text else lines, first))
    found = []
    for number, raw in enumerate(block.split(b"\n"), first):
        if len(raw) > MAX_LINE:
            problems.reject(path, number, LINE_TOO_LONG)
        else:
            found.append((number, decode_line(raw, path, number, problems).rstrip("\r")))
    return found


def decoded_name(path: Path) -> str:
    """Return the name of a file in printable form. Bytes that are not UTF-8 are replaced."""
    return os.fsencode(path.name).decode("utf-8", errors="replace")


def sha256(path: Path) -> str:
    """Compute the SHA-256 digest of a file's bytes on disk, as 64 hex digits."""
    with open(split_part(path)[0], "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


_BLOCK_BYTES: Final = 1 << 16
_LINE_BYTES: Final = 1 << 20
_FIRST_OF_A_CHARACTER: Final = 0xC0


def read_text_blocks(path: Path, problems: Problems) -> Iterator[str]:
    """Yield the text of a plain or gzip file in blocks of some hundred kilobytes, cut at line ends if possible.

    UTF-16 is decoded. A line that is not UTF-8 is decoded as Windows-1252. Both are reported as repaired.

    Raises:
        InputError: see :func:`nymlink.core.files.open_bytes`.
    """
    number = 1
    with open_bytes(path) as file:
        for place, block in enumerate(_blocks(as_utf8(file, path, problems))):
            if place == 0:
                block = block.removeprefix(codecs.BOM_UTF8)
            try:
                yield block.decode("utf-8")
            except UnicodeDecodeError:
                lines = enumerate(block.split(b"\n"), number)
                yield "\n".join(decode_line(line, path, at, problems) for at, line in lines)
            number += block.count(b"\n")


def _blocks(file: IO[bytes]) -> Iterator[bytes]:
    carried = b""
    while block := file.read(_BLOCK_BYTES):
        block = carried + block + file.readline(_LINE_BYTES)
        carried = b""
        if not block.endswith(b"\n"):
            # A line of a megabyte may be cut within a character. The first bytes of the character then move to the
            # next block.
            for place in range(len(block) - 1, max(len(block) - 4, 0), -1):
                if block[place] >= _FIRST_OF_A_CHARACTER:
                    block, carried = block[:place], block[place:]
                    break
        yield block
    if carried:
        yield carried


def decode_line(raw: bytes, path: Path, number: int, problems: Problems) -> str:
    """Decode a line as UTF-8. If that fails, decode it as Windows-1252, and report this."""
    line, mended = decode_bytes(raw)
    if mended is not None:
        problems.repair(path, number, mended)
    return line


def decode_bytes(raw: bytes) -> tuple[str, str | None]:
    """Decode bytes as UTF-8, or if that fails as Windows-1252.

    Returns:
        The text, and what was repaired; ``None`` if nothing was.
    """
    try:
        return raw.decode("utf-8"), None
    except UnicodeDecodeError:
        return raw.decode("cp1252", errors="replace"), "not UTF-8; read as Windows-1252"
