"""Read the numerals and letters that distinguish members of a series: "type II", "factor V", "4p".

Words for numbers and letters, by language, are in ``data/numerals.tsv``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from nymlink.core.computing import remember
from nymlink.core.language_codes import UNKNOWN_LANGUAGE
from nymlink.text.word_tables import read_rows, split_cell

_TABLE: Final = Path(__file__).parent / "data" / "numerals.tsv"

_RUNS: Final = re.compile(r"\d+|[^\W\d_]+")
_ROMAN: Final = re.compile(r"(?P<roman>x{0,3}(?:ix|iv|v?i{0,3}))(?P<letter>[a-h]?)")
_ROMAN_DIGITS: Final = {"i": 1, "v": 5, "x": 10}
_KARYOTYPES: Final = ("xx", "xy", "xxx", "xxy", "xyy", "xo")
_NO_LETTER: Final = ("s",)
"""The "s" of a genitive ("Crohn's"), which is no letter of a series."""
_ELIDED: Final = frozenset("acdejlmnouy")
"""Single letters that are articles or prepositions in Romance languages ("l'artère", "d'orteil", "e", "o")."""


@lru_cache(maxsize=1 << 16)
def numerals(text: str, *, language: str | None = None) -> Counter[str]:
    """Find the numerals and single letters of a text, in a standard form.

    Numerals are Arabic or Roman ("type II", "type 2"), words or ordinals, alone or within a word ("CD4", "4p",
    "IIIb"); Greek letters become Latin ones. An ``i``, ``v`` or ``x`` may be a numeral or a letter: both are
    counted, and :func:`missing` treats them as one.

    Args:
        text: words separated by single spaces, from :func:`~nymlink.text.normalise.normalise`.
        language: code of its language, whose words for numbers count; ``None`` if unknown.
    """
    words, table = text.split(" "), _words(language)
    elided = _ELIDED if not table.articles.isdisjoint(words) else frozenset[str]()
    counts: Counter[str] = Counter()
    for place, word in enumerate(words):
        if len(word) == 1 and (word in elided or (place == 0 and word == "a" and len(words) > 1)):
            continue
        counts.update(numerals_of_word(word, language))
    return counts


def missing(query: Counter[str], name: Counter[str]) -> Counter[str]:
    """Find the numerals and letters of a query that a name lacks.

    Args:
        query: numerals of the query, from :func:`numerals`.
        name: numerals of the name. If it has "1" or the letter "i", it does not lack an "i"; likewise for "v" and
            "x".
    """
    left = query - name
    for letter in left.keys() & _ROMAN_DIGITS.keys():
        value = str(_ROMAN_DIGITS[letter])
        left[letter] = min(left[letter], left[value])
        left[value] -= left[letter]
    return +left


_LONG: Final = 100
"""Digits of numbers that are compared as they are written."""


@remember(1 << 15)
def numerals_of_word(word: str, language: str | None) -> frozenset[str]:
    """Find the numerals and single letters of a word, in the standard form of :func:`numerals`."""
    return frozenset(_values(word, _words(language)))


def _values(word: str, table: _Words) -> set[str]:
    numbers, letters, _ = table
    if word in numbers:
        return {numbers[word]}
    if word in letters:
        return {letters[word]}
    if word in _KARYOTYPES:
        return {word}
    if word.isalpha():
        return set() if word in _NO_LETTER else _roman(word) | ({word} if len(word) == 1 else set())
    values = set()
    for run in _RUNS.findall(word):
        if run.isdecimal():
            # Python refuses to read numbers of thousands of digits.
            values.add(str(int(run)) if len(run) < _LONG else run)
        elif run in letters:
            values.add(letters[run])
        elif len(run) == 1:
            values.add(run)
        else:
            values |= _roman(run)
    return values


class _Words(NamedTuple):
    """Words of a language, and words that mean the same in all languages.

    Attributes:
        numbers: word for a number → Arabic numeral.
        letters: Greek letter, or its name → standard form.
        articles: words by which a Romance language is recognised.
    """

    numbers: Mapping[str, str]
    letters: Mapping[str, str]
    articles: frozenset[str]


@cache
def _words(language: str | None) -> _Words:
    kinds: dict[str, dict[str, str]] = {"number": {}}
    for row in read_rows(_TABLE):
        if row["language"] in (UNKNOWN_LANGUAGE, language):
            kinds.setdefault(row["kind"], {}).update(dict.fromkeys(split_cell(row["words"]), row["read_as"]))
    return _Words(kinds["number"], kinds["letter"], frozenset(kinds["article"]))


def _roman(word: str) -> set[str]:
    """Read a word that is a Roman numeral, with or without a letter after it.

    Returns:
        The Arabic numeral, and the letter if there is one; empty if the word is no Roman numeral.
    """
    match = _ROMAN.fullmatch(word)
    if match is None or not match["roman"] or word == "via":
        return set()
    digits = [_ROMAN_DIGITS[letter] for letter in match["roman"]]
    value = sum(-digit if digit < after else digit for digit, after in zip(digits, [*digits[1:], 0], strict=True))
    return {str(value)} | ({match["letter"]} if match["letter"] else set())
