"""Stem English words: lightly, so that singular and plural are one, or down to what derived words have in common.

The deep stem is that of Porter, "An algorithm for suffix stripping", Program 14 (1980).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from nymlink.text.english.forms import american

_SHORTEST: Final = 4
"""Letters of the shortest word that is stemmed: "als" is no plural."""

_SIBILANT: Final = ("xes", "shes", "ches", "sses", "uses", "ses")
"""Ends of plurals whose last two letters go: "reflexes", "rashes", "metastases"."""

_S_FOR_Z: Final = re.compile(r"(?<=[^aeiou]i)s(e|ed|es|er|ing|ation|ations)$")
"""British endings: "localised"."""

_STEP_2: Final = (
    *(("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize")),
    *(("abli", "able"), ("alli", "al"), ("entli", "ent"), ("ousli", "ous"), ("eli", "e")),
    *(("ization", "ize"), ("ation", "ate"), ("ator", "ate"), ("alism", "al"), ("iveness", "ive")),
    *(("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"), ("iviti", "ive"), ("biliti", "ble")),
)
_STEP_3: Final = (
    *(("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic")),
    *(("ful", ""), ("ness", "")),
)
_STEP_4: Final = tuple("ement ance ence able ible ment ant ent ism ate iti ous ive ize al er ic ou".split())
_MEASURE: Final = re.compile("v+c+")


@lru_cache(maxsize=1 << 17)
def light_stem(word: str) -> str:
    """Stem a word so that its singular and plural, in British and American spelling, are the same.

    Args:
        word: in lower case. A stem need not be a word: "metastasis" and "metastases" are both "metastas".
    """
    if len(word) < _SHORTEST or not word.isalpha():
        return word
    if word.endswith("ae"):
        word = word[:-1]
    word = _S_FOR_Z.sub(r"z\1", american(word))
    if word.endswith("mata"):
        word = word[:-2]
    elif word.endswith("ies"):
        word = word[:-3] + "y"
    elif word.endswith(("ss", "us")):
        return word
    elif word.endswith((*_SIBILANT, "sis")):
        word = word[:-2]
    elif word.endswith("s"):
        word = word[:-1]
    elif word.endswith("i") and len(word) > _SHORTEST + 1:
        word = word[:-1] + "us"
    return word[:-1] if word.endswith("e") and len(word) >= _SHORTEST else word


@lru_cache(maxsize=1 << 17)
def deep_stem(word: str) -> str:
    """Stem a word so that words derived from it are the same: "deaf" and "deafness", "deletion" and "deleted"."""
    if len(word) < _SHORTEST or not (word.isascii() and word.isalpha()):
        return word
    word = _without_y(_without_inflection(word))
    for endings in (_STEP_2, _STEP_3):
        for end, other in endings:
            if word.endswith(end):
                word = word[: -len(end)] + other if _measure(word[: -len(end)]) > 0 else word
                break
    return _without_e(_without_suffix(word))


def _pattern(word: str) -> str:
    """Write a word as consonants (c) and vowels (v); a y after a consonant is a vowel."""
    pattern = ""
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and pattern.endswith("c"))
        pattern += "v" if vowel else "c"
    return pattern


def _measure(word: str) -> int:
    """Count the sequences of vowels that consonants follow."""
    return len(_MEASURE.findall(_pattern(word)))


def _has_vowel(word: str) -> bool:
    return "v" in _pattern(word)


def _is_short(word: str) -> bool:
    """Whether a word ends in consonant, vowel and a consonant that is not w, x or y."""
    return _pattern(word).endswith("cvc") and word[-1] not in "wxy"


def _is_double(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _pattern(word)[-1] == "c"


def _without_inflection(word: str) -> str:
    if word.endswith(("sses", "ies")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for end in ("ed", "ing"):
        rest = word.removesuffix(end)
        if rest != word and _has_vowel(rest):
            if rest.endswith(("at", "bl", "iz")):
                return rest + "e"
            if _is_double(rest) and rest[-1] not in "lsz":
                return rest[:-1]
            return rest + "e" if _measure(rest) == 1 and _is_short(rest) else rest
    return word


def _without_y(word: str) -> str:
    return word[:-1] + "i" if word.endswith("y") and _has_vowel(word[:-1]) else word


def _without_suffix(word: str) -> str:
    for end in _STEP_4:
        if word.endswith(end):
            return word[: -len(end)] if _measure(word[: -len(end)]) > 1 else word
    return word[:-3] if word.endswith(("sion", "tion")) and _measure(word[:-3]) > 1 else word


def _without_e(word: str) -> str:
    if word.endswith("e") and (_measure(word[:-1]) > 1 or (_measure(word[:-1]) == 1 and not _is_short(word[:-1]))):
        word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word
