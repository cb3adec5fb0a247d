"""Find abbreviations by the algorithm of Schwartz & Hearst, as they published it: a baseline.

"A simple algorithm for identifying abbreviation definitions in biomedical text", Pacific Symposium on Biocomputing
2003, pp. 451-462: candidates of section 3.1, long forms of section 3.2 and figure 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+(?=[A-Z(\[])|\n")
_BRACKET: Final = re.compile(r"\s\(([^()]*(?:\([^()]*\)[^()]*)*)\)")


def definitions(text: str) -> set[tuple[str, str]]:
    """Find pairs of a short form and its long form."""
    return {
        (short, long)
        for sentence in _SENTENCE_END.split(text)
        for short, candidate in _candidates(sentence)
        if (long := _best_long_form(short, candidate)) is not None and _is_right(short, long)
    }


def _candidates(sentence: str) -> Iterator[tuple[str, str]]:
    """Yield short forms with the words in which their long form may be."""
    for bracket in _BRACKET.finditer(sentence):
        inside = re.split(r"; |, ", bracket[1])[0].strip()
        before = sentence[: bracket.start()].split()
        if _is_short(inside):
            yield inside, " ".join(before[-_most_words(inside) :])
        elif len(inside.split()) > 2 and before and _is_short(before[-1]):
            yield before[-1], " ".join(bracket[1].split()[-_most_words(before[-1]) :])


def _is_short(text: str) -> bool:
    return (
        2 <= len(text) <= 10
        and len(text.split()) <= 2
        and any(char.isalpha() for char in text)
        and text[0].isalnum()
    )


def _most_words(short: str) -> int:
    return min(len(short) + 5, 2 * len(short))


def _best_long_form(short: str, candidate: str) -> str | None:
    """Match the characters from right to left, the first one at the beginning of a word."""
    place = len(candidate)
    for index in range(len(short) - 1, -1, -1):
        char = short[index].lower()
        if not char.isalnum():
            continue
        place -= 1
        while place >= 0 and (
            candidate[place].lower() != char or (index == 0 and place > 0 and candidate[place - 1].isalnum())
        ):
            place -= 1
        if place < 0:
            return None
    return candidate[candidate.rfind(" ", 0, place + 1) + 1 :]


def _is_right(short: str, long: str) -> bool:
    return len(long) > len(short) and short not in long.split() and long.count("(") == long.count(")")
