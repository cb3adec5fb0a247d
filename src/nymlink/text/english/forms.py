"""Regular forms of a name: American spelling, singular and plural, written together."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

_AMERICAN: Final = (("ae", "e"), ("oe", "e"), ("our", "or"), ("leuco", "leuko"))

_NUMBERS: Final = (
    ("ies", ("y",)),
    ("omata", ("oma",)),
    ("ses", ("sis", "s")),
    ("sis", ("ses",)),
    ("xes", ("x",)),
    ("hes", ("h", "he")),
    ("ss", ("sses",)),
    ("us", ("i", "uses")),
    ("s", ("",)),
    ("ae", ("a",)),
    ("x", ("xes",)),
    ("ch", ("ches",)),
    ("sh", ("shes",)),
    ("y", ("ies", "ys")),
    ("", ("s",)),
)
"""Ends of words, and what is there instead in the other number; the first that fits counts."""

_SHORTEST: Final = 4
"""Letters of the words that have other forms: "als" is no plural."""

_SHORTEST_PART: Final = 3
"""Letters of each of two words that may be one."""

_MOST_WORDS: Final = 8
"""A longer text is a description: it is no other form of a name, and would have too many forms itself."""


def forms(text: str) -> Iterator[str]:
    """The same words in other regular forms, the likeliest first; many of them are no words at all.

    They are to be looked up: what is no name is to be passed over. British words become American ones ("anaemia",
    "anemia"); one word, the last first, becomes plural or singular ("hip fracture", "hip fractures"); two words
    are written as one ("non syndromic deafness", "nonsyndromic deafness").

    Args:
        text: words with single spaces between them, as :func:`~nymlink.text.normalise.normalise` gives them.
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
    for place, (one, other) in enumerate(pairwise(words)):
        if min(len(one), len(other)) >= _SHORTEST_PART:
            yield " ".join([*words[:place], one + other, *words[place + 2 :]])


def american(text: str) -> str:
    """The words in American spelling, by rule."""
    return " ".join([_american(word) for word in text.split(" ")])


def _american(word: str) -> str:
    if len(word) >= _SHORTEST:
        for british, american in _AMERICAN:
            word = word.replace(british, american)
    return word


def _other_number(word: str) -> Iterator[str]:
    if len(word) < _SHORTEST:
        return
    end, others = next((end, others) for end, others in _NUMBERS if word.endswith(end))
    for other in others:
        yield word.removesuffix(end) + other
