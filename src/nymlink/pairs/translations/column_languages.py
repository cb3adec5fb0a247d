"""Check the languages and the order of the two columns of translation pairs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Final, NamedTuple

from nymlink.core.language_codes import normalise_language
from nymlink.text.normalisation.scripts import HAN, LATIN, scripts_of

_CODES: Final = re.compile(r"([a-z]{2,3})-([a-z]{2,3})", re.IGNORECASE)
_CODES_IN_NAME: Final = re.compile(r"(?<![a-z])([a-z]{2}-[a-z]{2})(?![a-z])", re.IGNORECASE)

_LANGUAGES_OF: Final = {
    "Arabic": "ar fa ps ug ur",
    "Armenian": "hy",
    "Bengali": "as bn",
    HAN: "ja zh",
    "Cyrillic": "be bg kk ky mk mn ru tg uk",
    "Devanagari": "hi mr ne",
    "Ethiopic": "am ti",
    "Georgian": "ka",
    "Greek": "el",
    "Gujarati": "gu",
    "Gurmukhi": "pa",
    "Hangul": "ko",
    "Hebrew": "he yi",
    "Hiragana": "ja",
    "Kannada": "kn",
    "Katakana": "ja",
    "Khmer": "km",
    "Lao": "lo",
    "Malayalam": "ml",
    "Myanmar": "my",
    "Sinhala": "si",
    "Tamil": "ta",
    "Telugu": "te",
    "Thai": "th",
}
"""Script → languages written in it; all others are taken to be written in Latin letters."""

_ENGLISH: Final = frozenset(
    "before being between both could does during each from into its other our should that the their them "
    "then there these they this those through until were what when where which while whose with without "
    "would your".split()
)
"""Words that are frequent in English, and rare in the other languages written in Latin letters."""

_LEAST_ROWS: Final = 3
"""Rows that must speak for an exchange where letters and English words, not scripts, are the evidence."""


class ColumnLanguages(NamedTuple):
    """The languages of the left and the right column, as codes: ``en``, ``tr``."""

    left: str
    right: str

    def __str__(self) -> str:
        return f"{self.left}-{self.right}"


def parse_languages(code: str) -> ColumnLanguages:
    """Read the languages of two columns, for example ``en-tr``.

    Raises:
        ValueError: the text is not two different language codes.
    """
    match = _CODES.fullmatch(code.strip())
    left, right = (None, None) if match is None else map(normalise_language, match.groups())
    if left is None or right is None or left == right:
        raise ValueError(
            f"two different language codes, the first column's first, for example en-tr, not {code!r}"
        )
    return ColumnLanguages(left, right)


def languages_in_name(name: str) -> ColumnLanguages | None:
    """Find the languages in the name of a file, for example of ``en-tr.txt`` or ``titles.de-en.tsv``."""
    match = _CODES_IN_NAME.search(name)
    try:
        return match and parse_languages(match[1])
    except ValueError:
        return None


def find_exchange(rows: Iterable[tuple[int, str, str]], languages: ColumnLanguages) -> int | None:
    """Find rows that show that two columns are exchanged: in the opposite order of the given languages.

    Where the languages have different scripts, the rows in which a word is in the other column's script are
    counted. Where one is English and both have Latin letters, words that only English has, and letters that it has
    not, tell the columns apart. Of other languages nothing is known.

    Args:
        rows: line number, left and right word.
        languages: the languages that the columns are said to have.

    Returns:
        The line of the first row that speaks for an exchange, where most of those that tell do; else ``None``.
    """
    left, right = map(_scripts, languages)
    if left != right:
        marked, least = (left - right, right - left), 1
        votes = [(line, _vote(scripts_of(x), scripts_of(y), marked)) for line, x, y in rows]
    elif "en" in languages and left == {LATIN}:
        least = _LEAST_ROWS
        sign = 1 if languages.left == "en" else -1
        votes = [(line, sign * (_englishness(x) - _englishness(y))) for line, x, y in rows]
    else:
        return None
    exchanged = [line for line, vote in votes if vote < 0]
    as_given = sum(vote > 0 for _, vote in votes)
    return exchanged[0] if len(exchanged) > max(as_given, least - 1) else None


def _vote(left: frozenset[str], right: frozenset[str], marked: tuple[frozenset[str], frozenset[str]]) -> int:
    """Compare the scripts of two words: above 0 for the given order, below 0 for the opposite one.

    Latin letters tell nothing: they are in words of every language.
    """
    first, second = (scripts - {LATIN} for scripts in marked)
    as_given = bool(left & first) + bool(right & second)
    exchanged = bool(right & first) + bool(left & second)
    return as_given - exchanged


def _englishness(text: str) -> int:
    """Weigh a text of Latin letters: 1 for a word of English, −1 for letters that English has not, or both."""
    has_english_word = not _ENGLISH.isdisjoint(text.lower().split())
    has_other_letter = any(letter.isalpha() and not letter.isascii() for letter in text)
    return has_english_word - has_other_letter


@cache
def _scripts(language: str) -> frozenset[str]:
    """Look up the scripts that a language is written in."""
    found = {script for script, languages in _LANGUAGES_OF.items() if language in languages.split()}
    return frozenset(found or {LATIN})
