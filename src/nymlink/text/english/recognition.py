"""Tell whether a text of unknown language is English."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from nymlink.text.english.known_words import common_words, foreign_words, known_words
from nymlink.text.english.stop_words import stop_words

_SYMBOL: Final = re.compile(r"(?=.*[a-z])(?=.*[α-ω])[a-zα-ω0-9]+")
"""A word of Latin and Greek letters, which is of no language: "tnfα"."""

_SHORT: Final = 2
"""Most letters of words that do not speak for English: other languages have them, too ("no", "me")."""


def is_english(text: str) -> bool:
    """Whether fewer words of a text speak against English than for it, or none speaks against it.

    Against it speak words in other letters than Latin ones, words of other languages (also those that look like
    misspelt English: "artritis"), and accented words that are none of English without their accents. For it speak
    longer words of English and of its medical names. What speaks for neither (misspelt words, numerals, Greek
    letters) is taken to be English: of "siezures" nothing says that it is not.

    Args:
        text: words with single spaces between them, as :func:`~nymlink.text.normalisation.normalise.normalise`
            gives them.
    """
    words = text.split(" ")
    foreign = sum(map(_is_foreign, words))
    # Most texts end here, before the long lists of English are read.
    return foreign == 0 or foreign < sum(len(word) > _SHORT and _is_english(word) for word in words)


def without_accents(word: str) -> str:
    """Strip the accents (combining marks) from a word: é becomes e."""
    if word.isascii():
        return word
    return "".join(char for char in unicodedata.normalize("NFD", word) if not unicodedata.combining(char))


def _is_foreign(word: str) -> bool:
    if _SYMBOL.fullmatch(word):
        return False
    plain = without_accents(word)
    if plain in foreign_words():
        return True
    if word.isascii() or len(plain) == 1 or not plain.isalpha():
        return False
    return not plain.isascii() or not _is_english(plain)


def _is_english(word: str) -> bool:
    lists = (common_words, known_words, stop_words)
    return word.isascii() and word not in foreign_words() and any(word in words() for words in lists)
