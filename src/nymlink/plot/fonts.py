"""Find fonts for names in any script, and romanise what none of them has the letters of."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Final

from nymlink.text.normalisation.normalise import normalise
from nymlink.text.normalisation.romanise import romanise

_FAMILIES: Final = (
    "DejaVu Sans",
    *("Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans SC", "Noto Sans JP", "Noto Sans KR", "PingFang SC"),
    *("Hiragino Sans", "Apple SD Gothic Neo", "Microsoft YaHei", "Yu Gothic", "Malgun Gothic", "IPAGothic"),
    *("WenQuanYi Zen Hei", "Source Han Sans SC", "Droid Sans Fallback", "Arial Unicode MS"),
    *("Noto Sans Thai", "Noto Sans Devanagari", "Noto Sans Bengali", "Noto Sans Tamil", "Noto Sans Arabic"),
    *("Noto Sans Hebrew", "Thonburi", "Leelawadee UI", "Nirmala UI"),
)
"""The font that comes with matplotlib, and common ones for scripts that it does not have."""


@cache
def font_families() -> tuple[str, ...]:
    """List the installed ones of the known font families, in the order in which letters are looked for."""
    from matplotlib.font_manager import fontManager

    installed = set(fontManager.get_font_names())
    return tuple(family for family in _FAMILIES if family in installed)


def readable(text: str) -> str:
    """Romanise a text that the fonts of pictures have no letters for; other texts stay as they are.

    Returns:
        The text, or its romanised form; empty where nothing of it can be written.
    """
    return text if all(map(_is_drawn, text)) else romanise(normalise(text))


@cache
def _is_drawn(char: str) -> bool:
    if not _shapes() and unicodedata.bidirectional(char) in ("R", "AL"):
        # They would be drawn from left to right, as letters that do not join.
        return False
    return char.isspace() or ord(char) in _letters()


@cache
def _letters() -> frozenset[int]:
    """Collect the characters that some font has both in regular and in bold."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    drawn: set[int] = set()
    for family in font_families():
        styles = [findfont(FontProperties(family=[family], weight=weight)) for weight in ("normal", "bold")]
        drawn |= set.intersection(*(set(get_font(path).get_charmap()) for path in styles))
    return frozenset(drawn)


def _shapes() -> bool:
    """Whether matplotlib shapes text, as it does from 3.11 on."""
    from matplotlib import ft2font

    return hasattr(ft2font, "__libraqm_version__")
