"""Read text in blocks of bounded size, for formats whose lines may be of any length."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

from nymlink.core.encodings import as_utf8
from nymlink.core.files import open_bytes
from nymlink.core.problems import Problems

_BLOCK_BYTES: Final = 1 << 16
_LINE_BYTES: Final = 1 << 20
_FIRST_OF_A_CHARACTER: Final = 0xC0


def read_text_blocks(path: Path, problems: Problems) -> Iterator[str]:
    """Yield the text of a plain or gzip file, some hundred kilobytes at a time, cut at line ends if there are any.

    UTF-16 is read as such, a line of other text that is not UTF-8 as Windows-1252; both are reported as repaired.

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
                yield "\n".join(_decoded(line, path, at, problems) for at, line in lines)
            number += block.count(b"\n")


def _blocks(file: IO[bytes]) -> Iterator[bytes]:
    carried = b""
    while block := file.read(_BLOCK_BYTES):
        block = carried + block + file.readline(_LINE_BYTES)
        carried = b""
        if not block.endswith(b"\n"):
            # A line of a megabyte may be cut within a character, which then goes with what follows.
            for place in range(len(block) - 1, max(len(block) - 4, 0), -1):
                if block[place] >= _FIRST_OF_A_CHARACTER:
                    block, carried = block[:place], block[place:]
                    break
        yield block
    if carried:
        yield carried


def _decoded(raw: bytes, path: Path, number: int, problems: Problems) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        problems.repair(path, number, "not UTF-8; read as Windows-1252")
        return raw.decode("cp1252", errors="replace")
