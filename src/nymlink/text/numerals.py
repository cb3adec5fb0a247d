"""Read the numerals and letters that tell members of a series apart: "type II", "factor V", "4p"."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import Final

_RUNS: Final = re.compile(r"\d+|[^\W\d_]+")
_ROMAN: Final = re.compile(r"(?P<roman>x{0,3}(?:ix|iv|v?i{0,3}))(?P<letter>[a-h]?)")
_ROMAN_DIGITS: Final = {"i": 1, "v": 5, "x": 10}
_ORDINAL_ENDS: Final = ("st", "nd", "rd", "th")
_LATIN: Final = "a b g d e z eta theta k lambda sigma tau omega".split()
_GREEK: Final = {
    **dict(
        zip(
            "alpha beta gamma delta epsilon zeta eta theta kappa lambda sigma tau omega".split(),
            _LATIN,
            strict=True,
        )
    ),
    **dict(zip("αβγδεζηθκλστω", _LATIN, strict=True)),
}
_WORDS: Final = {
    word: str(number)
    for words in (
        "one two three four five six seven eight nine ten",
        "first second third fourth fifth sixth seventh eighth ninth tenth",
    )
    for number, word in enumerate(words.split(), start=1)
}
_KARYOTYPES: Final = ("xx", "xy", "xxx", "xxy", "xyy", "xo")
_NO_LETTER: Final = ("s",)
"""Left of a genitive."""
_ROMANCE: Final = frozenset("da de del della des di do du el et il la las le les los un una une".split())
"""Words of languages in which a single letter is an article or a preposition ("l'artère", "d'orteil", "e",
"o")."""
_ELIDED: Final = frozenset("acdejlmnouy")


@lru_cache(maxsize=1 << 16)
def numerals(text: str) -> Counter[str]:
    """Find the numerals and single letters of a text, written in one way.

    Numerals are Arabic or Roman ("type II", "type 2"), also as words and ordinals, alone or within a word ("CD4",
    "4p", "IIIb"); Greek letters are Latin ones. An ``i``, ``v`` or ``x`` is a numeral, and also a letter: both are
    counted, and :func:`missing` takes them for one.

    Args:
        text: words with single spaces between them, as :func:`~nymlink.text.normalise.normalise` gives them.
    """
    words = text.split(" ")
    elided = _ELIDED if not _ROMANCE.isdisjoint(words) else frozenset[str]()
    counts: Counter[str] = Counter()
    for place, word in enumerate(words):
        if len(word) == 1 and (word in elided or (place == 0 and word == "a" and len(words) > 1)):
            continue
        counts.update(_read(word))
    return counts


def missing(query: Counter[str], name: Counter[str]) -> Counter[str]:
    """Find the numerals and letters of a query that a name lacks.

    Args:
        query: those of the query, see :func:`numerals`.
        name: those of the name. It has an ``i`` where it has either reading of it.
    """
    left = query - name
    for letter in left.keys() & _ROMAN_DIGITS.keys():
        value = str(_ROMAN_DIGITS[letter])
        left[letter] = min(left[letter], left[value])
        left[value] -= left[letter]
    return +left


def _read(word: str) -> set[str]:
    """Find the numerals and single letters of a word."""
    if word in _WORDS:
        return {_WORDS[word]}
    if word in _GREEK:
        return {_GREEK[word]}
    if word in _KARYOTYPES:
        return {word}
    if word.isalpha():
        return set() if word in _NO_LETTER else _roman(word) | ({word} if len(word) == 1 else set())
    values = set()
    for run in _RUNS.findall(word):
        if run.isdecimal():
            values.add(str(int(run)))
        elif run in _GREEK:
            values.add(_GREEK[run])
        elif len(run) == 1:
            values.add(run)
        elif run not in _ORDINAL_ENDS:
            values |= _roman(run)
    return values


def _roman(word: str) -> set[str]:
    """Read a Roman numeral and the letter after it, if any; nothing where the word is none."""
    match = _ROMAN.fullmatch(word)
    if match is None or not match["roman"] or word == "via":
        return set()
    digits = [_ROMAN_DIGITS[letter] for letter in match["roman"]]
    value = sum(-digit if digit < after else digit for digit, after in zip(digits, [*digits[1:], 0], strict=True))
    return {str(value)} | ({match["letter"]} if match["letter"] else set())
