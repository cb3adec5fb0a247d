"""Decode the bytes of a text into lines, in a given or detected encoding."""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nymlink.core.encodings import UTF_8, UTF_16, WINDOWS_1252, detect_utf16, encoding_of
from nymlink.core.errors import InputError
from nymlink.core.files import read_batches
from nymlink.core.problems import Problems

ENCODINGS: Final = (
    *("utf-8", "utf-16", "utf-16-le", "utf-16-be", "windows-1252", "iso-8859-1", "iso-8859-15"),
    *("windows-1250", "windows-1251", "windows-1253", "windows-1254", "windows-1255", "windows-1256"),
    *("windows-1257", "windows-1258", "iso-8859-2", "iso-8859-5", "iso-8859-7", "koi8-r", "mac-roman", "cp437"),
    *("cp850", "gb18030", "big5", "shift_jis", "euc-jp", "euc-kr"),
)
"""Encodings that can be given."""

_GUESSES: Final = {
    UTF_8: "UTF-8",
    UTF_16: "UTF-16, as every other byte or its mark says",
    WINDOWS_1252: "Windows-1252, as it is not UTF-8",
}
"""Descriptions of detected encodings."""

_GZIP: Final = b"\x1f\x8b"
_MOST: Final = 256 << 20
"""Most bytes of a compressed file, uncompressed."""
_PIECE: Final = 1 << 20

ClaimMemory = Callable[[int], object]
"""Called with the number of bytes of memory to be used; may raise an error."""

OF_ROW: Final = 600
OF_CELL: Final = 90
_OF_BYTE: Final = 20
_OF_WIDE_BYTE: Final = 32
"""Most bytes of memory per row, cell and byte of text until they are in a project, as measured."""
_WIDE: Final = re.compile(b"[\xf0-\xf4]")
"""Bytes of characters that make Python store a text in four bytes per character."""
_SIGNS: Final = b",;\t|"
"""Known delimiters of cells."""


@dataclass(frozen=True, slots=True)
class DecodedText:
    """Numbered lines of a text.

    Attributes:
        lines: number, and the line without its end.
        encoding: the encoding used.
        guessed: what was guessed, in words.
    """

    lines: list[tuple[int, str]]
    encoding: str
    guessed: tuple[str, ...]


def nothing_to_claim(_: int) -> None:
    """Accept any use of memory."""


def decode(
    raw: bytes,
    path: Path,
    problems: Problems,
    *,
    encoding: str | None = None,
    claim: ClaimMemory = nothing_to_claim,
) -> DecodedText:
    """Decode a text.

    Args:
        raw: its bytes, plain or compressed with gzip.
        path: name of the file, for messages.
        problems: receives lines that are too long or in another encoding than the rest.
        encoding: one of :data:`ENCODINGS`; ``None`` to detect it: by its mark, else UTF-8, else Windows-1252.
        claim: called with the memory of the text as a table.

    Raises:
        InputError: there is no such encoding, it is binary, or its compression is damaged.
    """
    raw = _unpacked(raw, path, claim)
    claim(_memory_of(raw))
    guessed: tuple[str, ...] = ()
    found = encoding_of(raw) if encoding is None else encoding.lower()
    if encoding is not None:
        if found not in ENCODINGS:
            raise InputError(f"unknown encoding {encoding[:40]!r}: one of {', '.join(ENCODINGS)}", path=path)
        text = raw.decode(found, errors="replace").removeprefix("\ufeff")
        if "\ufffd" in text:
            problems.repair(path, None, f"some characters are not {found}: they were replaced")
        raw = text.encode("utf-8", "replace")
    mended = Problems(keep=len(raw))
    lines = [line for batch in read_batches(io.BytesIO(raw), path, mended) for line in batch]
    others = {problem.line for problem in mended.first if not problem.rejected}
    if found == WINDOWS_1252 and any(not line.isascii() for number, line in lines if number not in others):
        # Files joined from several may have lines in both encodings.
        found = UTF_8
    for problem in mended.first:
        if problem.rejected:
            problems.reject(path, problem.line, problem.message)
        elif found == UTF_8:
            problems.repair(path, problem.line, problem.message)
    if encoding is None:
        guessed = (f"encoding: {_GUESSES[found]}",)
        found = detect_utf16(raw) or found.lower()
    if any("\0" in line for _, line in lines):
        raise InputError(
            "this is a binary file, or text in another encoding: save it as CSV UTF-8, or give its encoding",
            path=path,
        )
    return DecodedText(lines, found, guessed)


def _memory_of(text: bytes) -> int:
    """Estimate the memory of a text as a table: long texts by their bytes, short cells by their number."""
    rows = max(text.count(b"\n"), text.count(b"\r")) + 1
    cells = rows + sum(text.count(sign) for sign in _SIGNS)
    of_byte = _OF_WIDE_BYTE if _WIDE.search(text) else _OF_BYTE
    return max(of_byte * len(text), OF_ROW * rows + OF_CELL * cells)


def _unpacked(raw: bytes, path: Path, claim: ClaimMemory) -> bytes:
    if not raw.startswith(_GZIP):
        return raw
    unpacked = bytearray()
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(raw)) as file:
            while len(unpacked) <= _MOST and (piece := file.read(_PIECE)):
                # Twice: as a growing buffer, and as the returned bytes.
                claim(2 * len(piece))
                unpacked += piece
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"the compressed file is damaged ({error}): send it again", path=path) from error
    if len(unpacked) > _MOST:
        raise InputError(f"more than {_MOST >> 20} MB, unpacked: send it in parts", path=path)
    return bytes(unpacked)
