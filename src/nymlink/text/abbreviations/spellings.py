"""Ways in which a short form stands for a long one, in the order in which they are tried.

Each takes the short form and the text at whose end its long form may be. The letters in order are the way of
Schwartz & Hearst (2003); Sohn et al., "Abbreviation definition identification based on automatic precision
estimates" (BMC Bioinformatics 2008, 9:402), tell such ways apart by how sure each is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from nymlink.text.abbreviations.locants import widen
from nymlink.text.abbreviations.long_forms import LongForm, best_long_form
from nymlink.text.abbreviations.short_forms import fold, letters_of
from nymlink.text.abbreviations.words import readings_of, words_of

_LAST_WORDS: Final = re.compile(r"(?:(?<![^\s(])([^\W\d_]{4,})\s+)?(?<![^\W\d_])([^\W\d_]{4,})\s*$")
_TWO_WORDS: Final = re.compile(r"(?<![^\s(])([^\W\d_]{4,})\s+([^\W\d_]{4,})\s*$")
_PHRASE: Final = re.compile(r"\s+(?:of|with|in|for|from|by|on|at)\s")
_SYMBOL: Final = re.compile(r"[A-Z](?:[a-z]?\([A-Za-z]{1,4}\)|-?[a-z]{1,5}|[a-z][A-Z]|[A-Z][a-z]|[A-Z]{1,2}\d)")


class Spelling(NamedTuple):
    """A way in which letters stand for words.

    Attributes:
        name: what it is called.
        example: a text with such an abbreviation.
        find: finds the long form of a short form at the end of a text; ``None`` where there is none.
        classic: whether the published queries of BioSyn, which Ab3P expanded, have it.
    """

    name: str
    example: str
    find: Callable[[str, str], LongForm | None]
    classic: bool = False


def _letters(short: str, candidate: str) -> LongForm | None:
    """Match the letters in order."""
    return best_long_form(letters_of(short), candidate) if len(short) > 1 else None


def _plural(short: str, candidate: str) -> LongForm | None:
    """Match the letters before the "s" of a plural, which need not be in the long form."""
    return (
        best_long_form(letters_of(short[:-1]), candidate) if short[-1] == "s" and short[-2:-1].isupper() else None
    )


def _single_letter(short: str, candidate: str) -> LongForm | None:
    """Match the initial of the last word, else of the one before."""
    match = _LAST_WORDS.search(candidate) if len(short) == 1 else None
    if match is None or match[2].lower() in words_of("carrier"):
        return None
    for number in (2, 1):
        if match[number] and fold(match[number][0]) == fold(short):
            start = match.start(number)
            return LongForm(0, False, 0, -1, 3 - number, widen(candidate, start), match.end(2))
    return None


def _before_a_phrase(short: str, candidate: str) -> LongForm | None:
    """Match the initials of three words or more, each of them, with one or two phrases after them."""
    letters = letters_of(short)
    if len(letters) < 3 or not letters.isalpha():
        return None
    for phrase in list(_PHRASE.finditer(candidate))[:-3:-1]:
        found = best_long_form(letters, candidate[: phrase.start()])
        if found is not None and found.skipped_words == 0 and -found.unmatched == len(letters):
            return found
    return None


def _symbol(short: str, candidate: str) -> LongForm | None:
    """Match the beginnings of the last word, a quantity, and of the one before, its kind, which is the index."""
    match = _SYMBOL.fullmatch(short)
    if match is None:
        return None
    symbol = letters_of(short)
    return next(
        (found for place in (1, 2) if (found := _last_two(symbol[place:], symbol[:place], candidate))), None
    )


def _inverted(short: str, candidate: str) -> LongForm | None:
    """Match the initials of the last two words, the last word's first.

    Some short forms keep the word order of another language: "myotonic dystrophy" is *dystrophia myotonica*.
    """
    if len(short) != 2 or not short.isalpha() or not short.isupper():
        return None
    last, first = letters_of(short)[0], letters_of(short)[1]
    return _last_two(first, last, candidate)


def _last_two(first: str, last: str, candidate: str) -> LongForm | None:
    """Find the last two words, if they begin, as they are read, with these letters."""
    match = _TWO_WORDS.search(candidate)
    if match is None or not first:
        return None
    for word, beginning in ((match[1], first), (match[2], last)):
        if not any(reading.startswith(beginning) for reading in readings_of(fold(word))):
            return None
    return LongForm(0, False, 0, -2, 2, match.start(1), match.end(2))


SPELLINGS: Final = (
    Spelling("symbol with an index", "tidal volume (V(T))", _symbol),
    Spelling("letters in order", "Wiskott-Aldrich syndrome (WAS)", _letters, classic=True),
    Spelling("plural", "levodopa-induced dyskinesias (LIDs)", _plural, classic=True),
    Spelling("single letter", "testosterone (T)", _single_letter),
    Spelling("before a phrase", "computed axial tomography with injected contrast medium (CAT)", _before_a_phrase),
    Spelling("inverted", "myotonic dystrophy (DM)", _inverted),
)
