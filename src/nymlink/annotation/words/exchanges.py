"""Find words that the synonyms of a vocabulary exchange: "aplastic nails", "absent nails"."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from math import sqrt
from typing import Final, NamedTuple

FEWEST: Final = 3
"""Concepts whose synonyms exchange two words that are taken to say the same."""

_MOST: Final = 8
"""Words that stand in one place of the names of a concept; more are a list of kinds, not of synonyms."""


class Exchange(NamedTuple):
    """Two words that stand for each other in synonyms.

    Attributes:
        words: the two lemmas, in order.
        concepts: how many concepts have synonyms that differ in them alone.
        strength: that number by the geometric mean of the numbers of names with either word, 0 to 1.
    """

    words: tuple[str, str]
    concepts: int
    strength: float


def find_exchanges(names: Iterable[Sequence[frozenset[str]]]) -> list[Exchange]:
    """Find pairs of words in which synonyms differ.

    Args:
        names: for each concept the lemmas of each of its names.
    """
    pairs: Counter[tuple[str, str]] = Counter()
    total: Counter[str] = Counter()
    for synonyms in names:
        distinct = set(synonyms)
        in_place: defaultdict[frozenset[str], set[str]] = defaultdict(set)
        for words in distinct:
            total.update(words)
            if 1 < len(words) <= _MOST and len(distinct) > 1:
                for word in words:
                    in_place[words - {word}].add(word)
        found: set[tuple[str, str]] = set()
        for exchanged in in_place.values():
            if 1 < len(exchanged) <= _MOST:
                ordered = sorted(exchanged)
                found.update((a, b) for place, a in enumerate(ordered) for b in ordered[place + 1 :])
        pairs.update(found)
    return [Exchange(pair, count, count / sqrt(total[pair[0]] * total[pair[1]])) for pair, count in pairs.items()]
