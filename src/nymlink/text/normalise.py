"""The normal form of names, used for look-up."""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from anyascii import anyascii

from nymlink.core.computing import remember

LATIN: Final = "Latin"
HAN: Final = "Han"
"""Chinese characters, used in Chinese, Japanese and Korean."""

KANA: Final = frozenset({"Hiragana", "Katakana"})
"""The two syllabic scripts of Japanese."""

UNSPACED: Final = KANA | frozenset({HAN, "Thai", "Lao", "Khmer", "Myanmar"})
"""Scripts that write no space between words."""

_SCRIPTS: Final = {"Cjk": HAN, "Ideographic": HAN, "Katakana-Hiragana": "Katakana"}
"""First word of a Unicode name → script, if the word is not the name of the script."""


@lru_cache(maxsize=1 << 16)
def script_of(char: str) -> str | None:
    """Look up the script of a letter or mark by its Unicode name: "Latin", "Cyrillic", "Han".

    Returns:
        Name of the script; ``None`` for digits, punctuation, symbols, spaces, and marks used in several scripts.
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


_SIMPLIFIED: Final = Path(__file__).parent / "data" / "simplified_characters.txt"

_MARKED: Final = frozenset({"Latin", "Greek", "Cyrillic", "Arabic", "Hebrew"})
"""Scripts whose marks may be left out; in other scripts a mark is as important as a letter."""

_BREVE: Final = "\u0306"
"""A Cyrillic и with this mark is another letter (й)."""

# Letters that Unicode does not decompose into a letter and a mark.
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
    """Remove accents and other differences in spelling from a normal form, letter by letter.

    - Latin, Greek, Cyrillic, Arabic and Hebrew letters lose their marks ("cardíaco", "ё"; but not й), strokes and
      dots ("ł", "ı").
    - Arabic letters that keyboards confuse become the same letter.
    - Digits of any script become ASCII digits.
    - Katakana become hiragana, and small kana become large.
    - Traditional Chinese characters become simplified ones (OpenCC).
    - Spaces beside letters of scripts without spaces ("２ 型 糖尿病") are removed, and so are joiners.

    Args:
        text: text from :func:`~nymlink.text.normalise.normalise`.

    Returns:
        The folded form; ASCII text is returned unchanged. Applying it twice changes nothing.
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


def romanise(text: str) -> str:
    """Romanise a normal form, to ASCII letters and digits: "инсулин" → "insulin", "インスリン" → "insurin".

    The package anyascii romanises each character of the folded form alone. It does not know the language, and
    reads all Chinese characters as in Mandarin. For names of phenotypes in ten languages, uroman (Hermjakob et al.
    2018) gave no better results and took longer.

    Args:
        text: text from :func:`~nymlink.text.normalise.normalise`.

    Returns:
        Lower-case words with single spaces; ASCII text is returned unchanged. Empty if no character can be
        romanised.
    """
    if text.isascii():
        return text
    letters = "".join([char for char in anyascii(fold(text)).lower() if char.isalnum() or char == " "])
    return " ".join(letters.split())


_SPACES: Final = " " * len(string.punctuation)
_PUNCTUATION: Final = str.maketrans(string.punctuation, _SPACES)
# Invisible characters from typesetting and exports, without meaning in any script. The joiners U+200C and U+200D
# are kept, because Persian and Indic spelling uses them.
_INVISIBLE: Final = dict.fromkeys(map(ord, "\u00ad\u200b\u2060\ufeff"))
_DIRECTIONS: Final = dict.fromkeys([0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)])
# It only stretches an Arabic word.
_TATWEEL: Final = {0x0640: None}
# Mentions omit trade marks; the compatibility form of "™" would add two letters to the name.
_TRADE_MARKS: Final = dict.fromkeys(map(ord, "®™℠"), " ")
_DROPPED: Final = {**_INVISIBLE, **_DIRECTIONS, **_TATWEEL, **_TRADE_MARKS}

# Unicode folds the Turkish capital İ to an i with a second dot, which nobody writes.
_DOTTED_I: Final = "i\u0307"


# A link needs the normal forms of the same few texts many times.
@remember(1 << 14)
def normalise(text: str) -> str:
    """Write a text in its normal form.

    The text gets Unicode's form NFKC, and its case is folded. Punctuation and trade marks become spaces, and
    several spaces become one. Punctuation is ``string.punctuation`` and every character of a Unicode category
    ``P*``. Invisible characters (zero width, direction of writing) and Arabic tatweel are removed. All other
    symbols, letters, marks and digits stay. :func:`fold` removes more. On ASCII text, the result equals the
    preparation of BioSyn (Sung et al. 2020: lower-case, ASCII punctuation → space). A second application changes
    nothing.

    Args:
        text: a name or mention.

    Returns:
        The normal form. It is empty only for a blank text: text of punctuation alone ("+++") is kept.
    """
    if text.isascii():
        folded = text.lower()
        return " ".join(folded.translate(_PUNCTUATION).split()) or " ".join(folded.split())
    folded = _fold(text)
    kept = "".join([" " if _is_punctuation(char) else char for char in folded])
    return " ".join(kept.split()) or " ".join(folded.split())


def _fold(text: str) -> str:
    visible = text.translate(_DROPPED)
    if not visible.strip():
        return text
    folded = unicodedata.normalize("NFKC", visible).casefold().replace(_DOTTED_I, "i")
    return unicodedata.normalize("NFKC", folded)


def _is_punctuation(char: str) -> bool:
    return ord(char) in _PUNCTUATION if char < "\x80" else unicodedata.category(char)[0] == "P"
