"""Normalise names: two names are equal if their normal forms are."""

from __future__ import annotations

import string
import unicodedata
from typing import Final

_SPACES: Final = " " * len(string.punctuation)
_PUNCTUATION: Final = str.maketrans(string.punctuation, _SPACES)
# Left behind by typesetting and exports; they show nothing and mean nothing in any script. The joiners U+200C and
# U+200D stay: Persian and Indic spelling uses them.
_INVISIBLE: Final = dict.fromkeys(map(ord, "\u00ad\u200b\u2060\ufeff"))
_DIRECTIONS: Final = dict.fromkeys([0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)])
# It only makes an Arabic word longer.
_TATWEEL: Final = {0x0640: None}
# Nobody says them; the compatibility form of "™" would be two letters of the name.
_TRADE_MARKS: Final = dict.fromkeys(map(ord, "®™℠"), " ")
_DROPPED: Final = {**_INVISIBLE, **_DIRECTIONS, **_TATWEEL, **_TRADE_MARKS}

# Unicode folds the Turkish capital İ to an i with a second dot, which no one writes.
_DOTTED_I: Final = "i\u0307"


def normalise(text: str) -> str:
    """Compatibility-compose (NFKC), fold case, turn punctuation and trade marks into spaces, fold white space.

    Punctuation is all of ASCII's (``string.punctuation``) and every Unicode category ``P*``. Marks that show
    nothing (zero width, direction of writing, Arabic tatweel) are left out. Other symbols, letters, marks and
    digits stay, so names of any script survive; :func:`~nymlink.text.normalisation.folding.fold` leaves out more.
    On ASCII text
    this is the preparation of BioSyn (Sung et al. 2020: lower-case, ASCII punctuation → space). Applying it twice
    changes nothing.

    Args:
        text: a name or mention.

    Returns:
        The normal form. It is empty only for a blank text: where punctuation is all there is ("+++"), it stays.
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
