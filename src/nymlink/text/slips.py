"""Tell misspelt words from other words."""

from __future__ import annotations

from typing import Final

_SHORTEST: Final = 6
"""Letters of words that may be misspelt: shorter ones are too like each other ("nitro", "nigro")."""


def may_be_misspelt(word: str) -> bool:
    """Whether a word is long enough to tell a misspelling, and of letters that have upper and lower case.

    In scripts without case one letter says too much: it is a syllable, a root's consonant, or a word.
    """
    return len(word) >= _SHORTEST and word.isalpha() and all(map(str.islower, word))


def is_slip(wrong: str, right: str) -> bool:
    """Whether two words are one edit apart, so that the wrong one is a slip.

    A slip is a letter too many, one too few, another one, or two neighbours in each other's place (Damerau, "A
    technique for computer detection and correction of spelling errors", 1964). The first letter is right, and the
    last alone is not wrong: that is another word ("ethanol", "methanol") or ending ("thrombi", "thrombin").
    """
    same = (letter == meant for letter, meant in zip(wrong, right, strict=False))
    start = next((place for place, equal in enumerate(same) if not equal), min(len(wrong), len(right)))
    if start == 0 or start >= max(len(wrong), len(right)) - 1:
        return False
    rest, meant = wrong[start:], right[start:]
    swapped = rest[:2] == meant[1::-1] and rest[2:] == meant[2:]
    return swapped or rest[1:] in (meant, meant[1:]) or rest == meant[1:]
