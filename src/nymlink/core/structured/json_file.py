"""Read a JSON file that is one value, held in memory as a whole."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

from nymlink.core.errors import InputError
from nymlink.core.files import open_bytes
from nymlink.core.problems import Problems
from nymlink.core.structured.text_blocks import read_text_blocks

_MAX_BYTES: Final = 512 << 20
"""Parsed JSON takes some ten times as much memory."""
_PIECE_BYTES: Final = 1 << 20
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPE: Final = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\."
)


def read_json(path: Path, problems: Problems, *, instead: str) -> Any:
    """Parse a plain or gzip JSON file.

    A line that is not UTF-8 is read as Windows-1252, and half a surrogate pair is replaced; both are reported.

    Args:
        path: the file.
        problems: receives the reports.
        instead: what to do about a file that is too large, for the error.

    Raises:
        InputError: the file is empty, no JSON, nested too deep, or of more than 512 MB; see also
            :func:`nymlink.core.files.open_bytes`.
    """
    _check_size(path, instead)
    text = "".join(read_text_blocks(path, problems))
    if not text.strip():
        raise InputError("the file is empty", path=path)
    try:
        return json.loads(_whole_characters(text, path, problems))
    except json.JSONDecodeError as error:
        raise InputError(f"malformed JSON ({error.msg}): fetch it again", path=path, line=error.lineno) from error
    except RecursionError as error:
        raise InputError("JSON with too many levels of nested brackets", path=path) from error
    except ValueError as error:
        raise InputError(f"JSON that cannot be read ({error})", path=path) from error


def _check_size(path: Path, instead: str) -> None:
    size = 0
    with open_bytes(path) as file:
        while piece := file.read(_PIECE_BYTES):
            size += len(piece)
            if size > _MAX_BYTES:
                raise InputError(
                    f"more than {_MAX_BYTES >> 20} MB of JSON, too large for memory: {instead}", path=path
                )


def _whole_characters(text: str, path: Path, problems: Problems) -> str:
    """Replace escapes of half a surrogate pair, which JSON allows but no Unicode text can contain."""
    line, counted = 1, 0

    def replacement(match: re.Match[str]) -> str:
        nonlocal line, counted
        if match["half"] is None:
            return match[0]
        line += text.count("\n", counted, match.start())
        counted = match.start()
        problems.repair(path, line, f"{match[0]} is half a surrogate pair; replaced")
        return r"\ufffd"

    return _ESCAPE.sub(replacement, text) if _SURROGATE.search(text) else text
