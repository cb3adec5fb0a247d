"""Forms of English words: plurals, adjectives, stems.

Letters of British spelling and the endings of singulars and plurals are in ``data/forms.tsv``.

The deep stem is that of Porter, "An algorithm for suffix stripping", Program 14 (1980).

``data/matching_words.tsv`` lists words for matching names in a text, one row for each group: kind, words, reason.
Kinds:

- ``glue``: ignored between words; ``conjunction``: joins the parts of a coordination; ``break``: no name contains
  it.
- ``abnormal``: words that are treated as one word; ``wrong``, ``same``: words of such a row may replace each
  other.
- ``qualifier``: names no finding by itself; ``empty``: may be left out of a name.
- ``person``: has the property that the adjective before it names.
- ``adjective``, ``noun``: endings of words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path
from string import ascii_letters
from typing import Final, Literal, NamedTuple

from nymlink.text.word_tables import read_kinds, read_rows, split_cell

_FORMS_TABLE: Final = Path(__file__).parent / "data" / "forms.tsv"

_SHORTEST: Final = 4
"""Number of letters of the shortest word that has other forms. "als" is too short to be a plural."""

_REMEMBERED: Final = 1 << 15
"""Number of words whose forms are remembered."""

_MOST_WORDS: Final = 8
"""Number of words of the longest text with other forms; a longer text is a description with too many forms."""


def forms(text: str) -> Iterator[str]:
    """Yield American spellings, plurals and singulars of a text, the likeliest first.

    Forms are candidates, and many are no words. The caller looks up each one, and ignores those that are not
    names. British words become American ones ("anaemia", "anemia"). One word at a time becomes plural or singular,
    the last word first ("hip fracture", "hip fractures").

    Args:
        text: words separated by single spaces, from :func:`~nymlink.text.normalise.normalise`.
    """
    words = text.split(" ")
    if len(words) > _MOST_WORDS:
        return
    spelt = american(text)
    if spelt != text:
        yield spelt
    for base in [words] if spelt == text else [spelt.split(" "), words]:
        for place in reversed(range(len(base))):
            for other in _other_number(base[place]):
                yield " ".join([*base[:place], other, *base[place + 1 :]])


def american(text: str) -> str:
    """Convert words to American spelling, by rules for letters."""
    return " ".join([_american(word) for word in text.split(" ")])


class _Rules(NamedTuple):
    """Rules that change words.

    Attributes:
        american: British letters → American letters.
        numbers: ending of a word → endings of its other number, singular or plural; the first match counts.
    """

    american: tuple[tuple[str, str], ...]
    numbers: tuple[tuple[str, tuple[str, ...]], ...]


@cache
def _rules() -> _Rules:
    rows = [(row["kind"], row["from"], split_cell(row["to"])) for row in read_rows(_FORMS_TABLE)]
    return _Rules(
        tuple((british, american) for kind, british, (american, *_) in rows if kind == "american"),
        tuple(
            (end.removeprefix("-"), tuple(other.removeprefix("-") for other in others))
            for kind, end, others in rows
            if kind == "number"
        ),
    )


@lru_cache(_REMEMBERED)
def _american(word: str) -> str:
    if len(word) >= _SHORTEST:
        for british, american in _rules().american:
            word = word.replace(british, american)
    return word


@lru_cache(_REMEMBERED)
def _other_number(word: str) -> tuple[str, ...]:
    """List the plurals of a singular, or the singulars of a plural."""
    if len(word) < _SHORTEST:
        return ()
    end, others = next((end, others) for end, others in _rules().numbers if word.endswith(end))
    return tuple([word.removesuffix(end) + other for other in others])


_SIBILANT: Final = ("xes", "shes", "ches", "sses", "uses", "ses")
"""Plural endings that lose their last two letters: "reflexes", "rashes", "metastases"."""

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


@lru_cache(maxsize=1 << 17)
def light_stem(word: str) -> str:
    """Stem a word so that its singular and plural, in British and American spelling, get the same stem.

    The stem need not be a word: "metastasis" and "metastases" become "metastas".

    Args:
        word: a word in lower case.
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
    """Stem a word so that related words get the same stem: "deaf" and "deafness", "deletion" and "deleted"."""
    if len(word) < _SHORTEST or not (word.isascii() and word.isalpha()):
        return word
    word = _without_y(_without_inflection(word))
    for endings in (_STEP_2, _STEP_3):
        for end, other in endings:
            if word.endswith(end):
                word = word[: -len(end)] + other if _measure(word[: -len(end)]) > 0 else word
                break
    return _without_e(_without_suffix(word))


_VOWEL_OR_CONSONANT: Final = {
    ord(letter): "v" if letter in "aeiou" else "c" for letter in ascii_letters if letter != "y"
}
"""Letters but y → v or c."""


def _pattern(word: str) -> str:
    """Write a word of ASCII letters as consonants (c) and vowels (v); a y after a consonant is a vowel."""
    pattern = word.translate(_VOWEL_OR_CONSONANT)
    while "y" in pattern:
        first = pattern.index("y")
        pattern = pattern[:first] + ("v" if pattern[:first].endswith("c") else "c") + pattern[first + 1 :]
    return pattern


def _measure(word: str) -> int:
    """Count the sequences of vowels that are followed by consonants."""
    return _pattern(word).count("vc")


def _has_vowel(word: str) -> bool:
    return "v" in _pattern(word)


def _is_short(word: str) -> bool:
    """Whether a word ends in consonant, vowel, and a consonant other than w, x or y."""
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


_MATCHING_WORDS_TABLE: Final = Path(__file__).parent / "data" / "matching_words.tsv"

Kind = Literal[
    "glue",
    "preposition",
    "ordered",
    "part",
    "beside a gene",
    "conjunction",
    "break",
    "abnormal",
    "wrong",
    "same",
    "qualifier",
    "empty",
    "person",
    "adjective",
    "noun",
]


@cache
def matching_words(kind: Kind) -> frozenset[str]:
    """Collect the words of a kind."""
    return frozenset(word for row in matching_rows(kind) for word in row)


@cache
def matching_stems(kind: Kind) -> frozenset[str]:
    """Collect the light stems of the words of a kind."""
    return frozenset(map(light_stem, matching_words(kind)))


def matching_rows(kind: Kind) -> tuple[tuple[str, ...], ...]:
    """List the rows of a kind, each a tuple of words."""
    return _kinds()[kind]


@cache
def _kinds() -> dict[str, tuple[tuple[str, ...], ...]]:
    return read_kinds(_MATCHING_WORDS_TABLE)
