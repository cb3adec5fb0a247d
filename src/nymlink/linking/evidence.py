"""Describe how the first concept of a query was found, as numbers from 0 to 1 that confidence is fitted to."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import Final

import numpy as np
import numpy.typing as npt

from nymlink.index.fusion.fusion import EXACT_MATCH
from nymlink.index.fusion.hits import NONE
from nymlink.index.index import Index
from nymlink.index.walk import Matches
from nymlink.text.normalise import normalise

Features = npt.NDArray[np.float64]

FEATURES: Final = ("score", "ahead", "alone", "covered", "covering", "known")
"""Of the first concept of a query: its score; how clearly it is above that of the next; whether it is above it at
all (the name is no other concept's too); which share of the query the name has, and of the name the query; which
share of the query is words that the index knows."""

DEPTH: Final = 2
"""Concepts of a query that the features are computed from."""

_CLEAR: Final = 0.1
"""A lead over the next score that is clear; twice of it is but a little clearer."""

_ENDS: Final = ("al", "ation", "e", "ed", "es", "ing", "ion", "ity", "ness", "s", "y")

_SIMILAR: Final = 0.6
_STEM: Final = 4
"""Two words are similar that begin with this many common letters, and this share of the longer one."""


def features_of(matches: Matches, queries: Sequence[str], index: Index) -> Features:
    """Describe how the first concepts of queries were found.

    Args:
        matches: of Q queries, at least :data:`DEPTH` concepts each.
        queries: Q prepared texts.
        index: that found them.

    Returns:
        float64 (Q, 6), the :data:`FEATURES`, each 0 to 1; NaN for a query without any concept.
    """
    # Scores are told apart to six decimals, as where they are sorted.
    first, second = np.round(matches.scores[:, :DEPTH].astype(np.float64), 6).T
    lead = first - second
    exact = np.round(matches.parts[EXACT_MATCH][:, 0].astype(np.float64), 6)
    alone = lead > 0
    # What equals one name is not the surer for the others being far away.
    ahead = np.where(alone & (exact == 1), 1.0, 1 - np.exp(-lead / _CLEAR))
    found = matches.concepts[:, 0] != NONE
    words = np.zeros((len(queries), 3))
    for place in np.flatnonzero(found).tolist():
        words[place] = _of_words(queries[place], matched_text(index, matches, place), index)
    features = np.column_stack([first, ahead, alone, words])
    features[~found] = np.nan
    return features


def matched_text(index: Index, matches: Matches, place: int) -> str:
    """The name by which the first concept of a query was found, prepared."""
    return normalise(index.vocabulary.name(int(matches.names[place, 0])).text)


def _of_words(query: str, name: str, index: Index) -> tuple[float, float, float]:
    asked = query.split(" ")
    if query == name:
        return 1.0, 1.0, 1.0
    named = name.split(" ")
    words = index.entries.words
    had = [word in named or any(is_alike(word, other) for other in named) for word in asked]
    known = [word in words or any(is_form(word, other) for other in named) for word in asked]
    having = [word in asked or any(is_alike(word, other) for other in asked) for word in named]
    return _share(asked, had), _share(named, having), _share(asked, known)


def _share(words: Sequence[str], chosen: Sequence[bool]) -> float:
    """Compute the share of the letters of words that is in the chosen ones."""
    return sum(map(len, compress(words, chosen))) / max(sum(map(len, words)), 1)


def is_alike(word: str, other: str) -> bool:
    """Whether two words share most of their first letters, or are forms of each other ("deaf", "deafness")."""
    if word[: _STEM - 1] != other[: _STEM - 1]:
        return False
    if is_form(word, other):
        return True
    common = next(
        (place for place, (one, two) in enumerate(zip(word, other, strict=False)) if one != two),
        min(len(word), len(other)),
    )
    return common >= max(_STEM, _SIMILAR * max(len(word), len(other)))


def is_form(one: str, other: str) -> bool:
    """Whether one of two words is a form of the other: "deaf" and "deafness", but not "hammer" and "hammertoe"."""
    shorter, longer = sorted((one, other), key=len)
    stems = (shorter, shorter[:-1]) if shorter.endswith(("a", "e", "y")) else (shorter,)
    return len(shorter) >= _STEM and any(longer == f"{stem}{end}" for stem in stems for end in _ENDS)
