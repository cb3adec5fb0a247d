"""Detect the encoding of text, and read UTF-16 (which spreadsheets call "Unicode text") as UTF-8."""

from __future__ import annotations

import codecs
import gzip
import io
from pathlib import Path
from typing import IO, Any, Final, cast

from nymlink.core.problems import Problems

UTF_8: Final = "UTF-8"
UTF_16: Final = "UTF-16"
WINDOWS_1252: Final = "Windows-1252"

_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_LOOKED_AT: Final = 64
_SHORTEST: Final = 16
"""Smallest number of bytes from which UTF-16 is guessed without a byte order mark."""
_FEW, _MANY = 0.05, 0.5
"""Shares of NUL bytes: at most ``_FEW`` in the lower bytes, and at least ``_MANY`` in the upper bytes.

In UTF-16, few characters have the lower byte NUL. All Latin letters have the upper byte NUL, but not all
characters of a text.
"""
_PIECE_BYTES: Final = 1 << 16


def detect_utf16(head: bytes) -> str | None:
    """Detect UTF-16 by its byte order mark, or in Latin text because most second bytes are NUL.

    Returns:
        The name of the codec; ``None`` if the text is not UTF-16.
    """
    if head.startswith(_MARKS):
        return "utf-16"
    if len(head) < _SHORTEST:
        return None
    even, odd = (part.count(0) / len(part) for part in (head[:_LOOKED_AT:2], head[1:_LOOKED_AT:2]))
    if even <= _FEW and odd >= _MANY:
        return "utf-16-le"
    return "utf-16-be" if odd <= _FEW and even >= _MANY else None


def encoding_of(head: bytes) -> str:
    """Name the encoding of a text by its first bytes."""
    if detect_utf16(head) is not None:
        return UTF_16
    try:
        # An incremental decoder accepts an incomplete last character.
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return WINDOWS_1252
    return UTF_8


def describe_utf16(head: bytes) -> str:
    """Describe the evidence that a text is UTF-16."""
    return "UTF-16" if head.startswith(_MARKS) else "UTF-16 without a byte order mark, told by its NUL bytes"


def as_utf8(file: IO[bytes], path: Path, problems: Problems) -> IO[bytes]:
    """Return a file whose text is UTF-8.

    For UTF-16, this is a new file with the converted text, and the conversion is reported. Any other unread file
    is returned as it is.

    Invalid UTF-16 (half a character) becomes U+FFFD.
    """
    head = peek(file)
    encoding = detect_utf16(head)
    if encoding is None:
        return file
    problems.repair(path, 1, f"{describe_utf16(head)}: read as such")
    return io.BufferedReader(_InUtf8(file, encoding))


def peek(file: IO[bytes]) -> bytes:
    """Return the first bytes of a file without consuming them. This works even for a pipe, which cannot seek."""
    if isinstance(file, io.BytesIO):
        return file.getvalue()[file.tell() :][:_LOOKED_AT]
    if not isinstance(file, (io.BufferedReader, gzip.GzipFile)):
        raise TypeError("text can only be read from a buffered file")
    return file.peek(_LOOKED_AT)[:_LOOKED_AT]


class _InUtf8(io.RawIOBase):
    """A file in UTF-16 as a raw stream of UTF-8.

    Args:
        file: the file.
        encoding: ``"utf-16"`` if the file has a byte order mark, otherwise a name with the byte order.
    """

    def __init__(self, file: IO[bytes], encoding: str) -> None:
        self._file = cast(io.BufferedReader, file)
        self._decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
        self._waiting = b""
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._waiting and not self._ended:
            piece = self._file.read1(_PIECE_BYTES)
            self._ended = not piece
            self._waiting = self._decoder.decode(piece, final=not piece).encode("utf-8", "replace")
        view = memoryview(buffer).cast("B")
        count = min(len(view), len(self._waiting))
        view[:count] = self._waiting[:count]
        self._waiting = self._waiting[count:]
        return count
