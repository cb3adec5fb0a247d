"""Fold names whose spelling differs within a language or between its keyboards to one form."""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from nymlink.text.normalisation.scripts import UNSPACED, script_of

_SIMPLIFIED: Final = Path(__file__).parents[1] / "data" / "simplified_characters.txt"

_MARKED: Final = frozenset({"Latin", "Greek", "Cyrillic", "Arabic", "Hebrew"})
"""Scripts whose marks may be left out; in others a mark is as much as a letter."""

_BREVE: Final = "\u0306"
"""With it, a Cyrillic и is another letter (й)."""

# Letters that Unicode does not take apart into a letter and a mark.
_LETTERS: Final = {
    **{"ı": "i", "ł": "l", "ø": "o", "đ": "d", "ħ": "h", "ŧ": "t", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th"},
    # Arabic and Persian keyboards; tāʾ marbūṭa; alif maqṣūra.
    **{"ى": "ي", "ی": "ي", "ک": "ك", "ة": "ه", "ٱ": "ا"},
    # Small kana, which are often written large: ウィルス, ウイルス.
    **dict(zip("ぁぃぅぇぉっゃゅょゎ", "あいうえおつやゆよわ", strict=True)),
    # Joiners of Persian and Indic words.
    **{"\u200c": "", "\u200d": ""},
}

_KATAKANA: Final = range(0x30A1, 0x30F7)
_TO_HIRAGANA: Final = -0x60

_SPACE_BETWEEN: Final = re.compile(r"(?<=(\S)) (?=(\S))")


def fold(text: str) -> str:
    """Remove from a normal form accents and other differences between spellings, letter by letter.

    - marks of Latin, Greek, Cyrillic, Arabic and Hebrew letters ("cardíaco", "ё"; not й), and letters that differ
      from another by a stroke or a dot ("ł", "ı");
    - Arabic letters that keyboards exchange; digits of any script become ASCII's;
    - katakana become hiragana, small ones large; traditional Chinese characters become simplified (OpenCC);
    - spaces beside letters of scripts that write none ("２ 型 糖尿病"), and joiners.

    Args:
        text: as :func:`~nymlink.text.normalisation.normalise.normalise` gives it.

    Returns:
        The folded form, which is the text itself where it is ASCII; applying it twice changes nothing.
    """
    if text.isascii():
        return text
    letters = "".join([_fold_letter(char) for char in _without_marks(text)])
    return _SPACE_BETWEEN.sub(_space_or_none, unicodedata.normalize("NFC", letters)).strip()


def _without_marks(text: str) -> str:
    """Remove the marks of letters in :data:`_MARKED` scripts."""
    kept: list[str] = []
    base: str | None = None
    for char in unicodedata.normalize("NFD", text):
        if not unicodedata.category(char).startswith("M"):
            base = script_of(char)
        elif base in _MARKED and not (base == "Cyrillic" and char == _BREVE):
            continue
        kept.append(char)
    return unicodedata.normalize("NFC", "".join(kept))


@lru_cache(maxsize=1 << 16)
def _fold_letter(char: str) -> str:
    if char.isascii():
        return char
    if ord(char) in _KATAKANA:
        char = chr(ord(char) + _TO_HIRAGANA)
    digit = unicodedata.decimal(char, None)
    if digit is not None:
        return str(digit)
    return _LETTERS.get(char, _simplified().get(char, char))


@cache
def _simplified() -> dict[str, str]:
    """Read the table of traditional and simplified Chinese characters."""
    return {pair[0]: pair[1] for pair in _SIMPLIFIED.read_text(encoding="utf-8").split()}


def _space_or_none(match: re.Match[str]) -> str:
    return "" if {script_of(match[1]), script_of(match[2])} & UNSPACED else " "
