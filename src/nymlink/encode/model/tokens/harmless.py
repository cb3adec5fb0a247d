"""What the file of a tokenizer may not ask for: the library ends the process, or takes endless time and memory."""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from nymlink.core.errors import InputError
from nymlink.encode.model.settings import read_json

_GROWTH: Final = 64
"""Characters that all replacements together may make of one; those of published models make at most three."""
_LONGEST_WORD: Final = 1000
"""Characters of a word that is divided into pieces: the time grows with their cube. Published models have 100."""


def require_harmless(path: Path) -> None:
    """Check the file of a tokenizer, before the library reads it.

    Raises:
        InputError: it is no JSON object, or asks for something that harms its reader.
    """
    tokenizer = read_json(path, dict)
    growth = 1
    for part in _parts(tokenizer.get("normalizer")):
        content = part.get("content")
        if isinstance(content, str):
            growth *= max(len(content), 1)
        if "precompiled_charsmap" in part and not _is_whole(part["precompiled_charsmap"]):
            raise InputError("its map of characters is damaged: fetch the model again", path=path)
    if growth > _GROWTH:
        raise InputError(
            f"its replacements make texts up to {growth:,} times as long, and that was refused: at most {_GROWTH}",
            path=path,
        )
    model = tokenizer.get("model")
    longest = model.get("max_input_chars_per_word") if isinstance(model, dict) else None
    if isinstance(longest, int | float) and longest > _LONGEST_WORD:
        raise InputError(
            f"max_input_chars_per_word is {longest:g}, and that was refused: at most {_LONGEST_WORD}", path=path
        )


def _parts(value: Any) -> Iterator[dict[str, Any]]:
    """Yield all objects of a JSON value, at any depth."""
    waiting = [value]
    while waiting:
        match waiting.pop():
            case dict() as members:
                yield members
                waiting += members.values()
            case list() as members:
                waiting += members


def _is_whole(packed: Any) -> bool:
    """Tell whether a map of SentencePiece is whole: the size of its tree in 4 bytes, the tree, texts."""
    try:
        data = base64.b64decode(packed, validate=True)
        (size,) = struct.unpack_from("<I", data)
    except (TypeError, ValueError, struct.error):
        return False
    return size % 4 == 0 and 4 + int(size) <= len(data)
