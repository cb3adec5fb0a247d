"""Tell which texts can be abbreviations, and list the characters that their long forms must account for."""

from __future__ import annotations

import re
from typing import Final

from nymlink.text.brackets import is_balanced
from nymlink.text.english.stop_words import stop_words

_MOST: Final = 10
"""Characters of a short form, by Schwartz & Hearst."""

_MOST_WITH_SIGNS: Final = 15
"""Characters of one that is not letters only: "5alpha-red-IR", "Fru-2,6-P(2)"."""

_NEVER: Final = re.compile(r"[=<>{}]|\s[(\[]|(?<!/)-$|^(?:i+|i\.e|e\.g|cf|vs|pH)\.?$")
"""What no short form has: signs of comparison, brackets after a blank, a hyphen at its end; and what looks like
one: "(ii)", "(e.g.)", "(pH 7)"."""

_DOTTED: Final = re.compile(r"(?:[^\W\d_]\.){2,}|(?:[^\W\d_]\.)+[^\W\d_]")
_GREEK: Final = str.maketrans("αβγδεζηθικλμνξοπρσςτυφχψω", "abgdezhtiklmnxoprsstufcpo")


def is_short(text: str) -> bool:
    """Whether a text can be an abbreviation: a capital letter, or 2 to 15 characters in at most two words.

    It begins with a letter or digit and has a letter. Lower-case ones are one word of letters ("aku", "kb"), with
    dots or without ("i.v."), and no function word; of two words the first must show a capital or a digit, which
    "type II" does not.
    """
    words = text.split()
    if not words or not text[0].isalnum() or _NEVER.search(text) or not is_balanced(text):
        return False
    if len(text) == 1:
        return text.isalpha() and text.isupper()
    if len(words) > 2 or len(text) > (_MOST if text.isalpha() else _MOST_WITH_SIGNS):
        return False
    if text.islower() and not any(char.isdigit() for char in text):
        return bool(text.isalpha() and text not in stop_words()) or _DOTTED.fullmatch(text) is not None
    return any(char.isalpha() for char in text) and any(char.isupper() or char.isdigit() for char in words[0])


def letters_of(short: str) -> str:
    """List the characters that a long form must account for, in lower case, Greek letters as Latin ones."""
    return "".join(char for char in fold(short) if char.isalnum())


def fold(text: str) -> str:
    """Lower-case character by character, Greek letters as Latin ones, so that offsets stay."""
    lowered = text.lower()
    if len(lowered) != len(text):  # a few capitals become two characters
        lowered = "".join(low if len(low := char.lower()) == 1 else char for char in text)
    return lowered.translate(_GREEK)
