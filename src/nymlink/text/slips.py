"""Telling a misspelt word from another word."""

from __future__ import annotations

from typing import Final

_SHORTEST: Final = 6
"""Letters of words that may be misspelt: shorter ones are too like each other ("nitro", "nigro")."""


def may_be_misspelt(word: str) -> bool:
    """Whether this is long enough, and of letters that have upper and lower case.

    In scripts without these one letter says too much: it is a syllable, a root's consonant, or a word.
    """
    return len(word) >= _SHORTEST and word.isalpha() and all(map(str.islower, word))


def is_slip(wrong: str, right: str) -> bool:
    """Whether one slip makes the wrong word of the right one.

    A slip is a letter too many, one too few, another one, or two neighbours in each other's place (Damerau, "A
    technique for computer detection and correction of spelling errors", 1964). The first letter is right, and the
    last alone is not wrong: that is another word ("ethanol", "methanol") or ending ("thrombi", "thrombin").
    """
    same = (one == other for one, other in zip(wrong, right, strict=False))
    start = next((place for place, equal in enumerate(same) if not equal), min(len(wrong), len(right)))
    if start == 0 or start >= max(len(wrong), len(right)) - 1:
        return False
    one, other = wrong[start:], right[start:]
    swapped = one[:2] == other[1::-1] and one[2:] == other[2:]
    return swapped or one[1:] in (other, other[1:]) or one == other[1:]
