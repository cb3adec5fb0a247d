"""Tell the scripts of letters, and which of them write words without spaces between them."""

from __future__ import annotations

import unicodedata
from collections import Counter
from functools import lru_cache
from typing import Final

LATIN: Final = "Latin"
HAN: Final = "Han"
"""Chinese characters, of Chinese, Japanese and Korean."""

KANA: Final = frozenset({"Hiragana", "Katakana"})
"""The two scripts of Japanese syllables."""

UNSPACED: Final = KANA | frozenset({HAN, "Thai", "Lao", "Khmer", "Myanmar"})
"""Scripts that write no space between words."""

_SCRIPTS: Final = {"Cjk": HAN, "Ideographic": HAN, "Katakana-Hiragana": "Katakana"}
"""First words of Unicode names that are not the name of the script, and that name."""


@lru_cache(maxsize=1 << 16)
def script_of(char: str) -> str | None:
    """Look up the script of a letter or mark, as its Unicode name begins: "Latin", "Cyrillic", "Han".

    Returns:
        The name of the script; ``None`` for digits, punctuation, symbols, spaces, and marks of no one script.
    """
    if unicodedata.category(char)[0] not in "LM":
        return None
    first = unicodedata.name(char, "").partition(" ")[0].title()
    return None if first in ("", "Combining", "Modifier") else _SCRIPTS.get(first, first)


def scripts_of(text: str) -> frozenset[str]:
    """Collect the scripts of the letters of a text."""
    if text.isascii():
        return frozenset({LATIN}) if any(map(str.isalpha, text)) else frozenset()
    return frozenset(script for char in text if (script := script_of(char)) is not None)


def main_script(text: str) -> str | None:
    """Find the script of most letters of a text; ``None`` for a text without letters."""
    if text.isascii():
        return LATIN if any(map(str.isalpha, text)) else None
    scripts = Counter(script for char in text if (script := script_of(char)) is not None)
    return scripts.most_common(1)[0][0] if scripts else None
