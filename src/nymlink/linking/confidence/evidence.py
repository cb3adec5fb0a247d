"""Describe how the first concept of a query was found, as numbers from 0 to 1 that confidence is fitted to."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from nymlink.index.fusion.fusion import EXACT_MATCH
from nymlink.index.fusion.hits import NONE
from nymlink.index.index import Index
from nymlink.index.walk import Matches
from nymlink.rank.question import Question
from nymlink.rank.ranker import RankedMatches
from nymlink.text.normalisation.normalise import normalise

Features = npt.NDArray[np.float64]

FEATURES: Final = ("score", "ahead", "alone", "covered", "covering", "known", "ranked")
"""Features of the first concept of a query: its score; how clearly that is above the score of the next concept;
whether it is above it at all (no other concept has the name); the share of the query that the name has; the share
of the name that the query has; the share of the query that is words of the index; the log-odds of the probability
that the ranker gives it, from 0 for impossible to 1 for certain (1 where there is no ranker, and where the query
equals one name alone)."""

DEPTH: Final = 10
"""First concepts of a query that the features are computed from."""

_CLEAR: Final = 0.1
"""A lead over the next score that is clear; twice of it is but a little clearer."""

_IMPOSSIBLE: Final = 0.0005
"""Probability that counts as none, as one less this counts as certainty."""

_ENDS: Final = ("al", "ation", "e", "ed", "es", "ing", "ion", "ity", "ness", "s", "y")

_SIMILAR: Final = 0.6
_STEM: Final = 4
"""Two words are alike that begin with this many common letters, and with this share of the longer word."""


def features_of(ranked: RankedMatches, questions: Sequence[Question], index: Index) -> Features:
    """Describe how the first concepts of questions were found.

    Args:
        ranked: of Q questions, at least :data:`DEPTH` concepts each.
        questions: Q questions.
        index: that found them.

    Returns:
        float64 (Q, 7), the :data:`FEATURES`, each 0 to 1; NaN for a query without any concept.
    """
    # Scores are told apart to six decimals, as where they are sorted.
    matches = ranked.matches
    scores = np.round(matches.scores[:, :DEPTH].astype(np.float64), 6)
    first = scores[:, 0]
    # A ranker may put a concept first whose score is not the highest: it then has no lead.
    lead = np.maximum(first - scores[:, 1:].max(axis=1), 0)
    exact = np.round(matches.parts[EXACT_MATCH][:, 0].astype(np.float64), 6)
    alone = lead > 0
    # A query that equals one name is not surer because the other names are far away.
    ahead = np.where(alone & (exact == 1), 1.0, 1 - np.exp(-lead / _CLEAR))
    has_concept = matches.concepts[:, 0] != NONE
    words = np.zeros((len(questions), 3))
    for place in np.flatnonzero(has_concept).tolist():
        words[place] = _compare_words(questions[place].text, matched_text(index, matches, place), index)
    # The query equals one name alone: that is sure by itself, whatever the ranker has seen.
    odds = np.where(alone & (exact == 1), 1.0, _log_odds(ranked))
    features = np.column_stack([first, ahead, alone, words, odds])
    features[~has_concept] = np.nan
    return features


def _log_odds(ranked: RankedMatches) -> npt.NDArray[np.float64]:
    """Scale the log-odds of the first concepts' probabilities to 0 to 1; 1 without a ranker: float64 (Q)."""
    if ranked.probabilities is None:
        # As of an equal name: nothing else speaks against it.
        return np.ones(len(ranked.matches.concepts))
    probabilities = np.clip(ranked.probabilities[:, 0].astype(np.float64), _IMPOSSIBLE, 1 - _IMPOSSIBLE)
    odds = np.log(probabilities / (1 - probabilities))
    scaled: npt.NDArray[np.float64] = 0.5 + odds / (2 * np.log((1 - _IMPOSSIBLE) / _IMPOSSIBLE))
    return scaled


class TiedNames(NamedTuple):
    """Concepts that a mention names alike.

    Attributes:
        concepts: how many have the best score, by a name that equals the query; 0 where no name does.
        of_kind: how many of them by a name of the kind of the first.
    """

    concepts: int
    of_kind: int


def tied_names(index: Index, matches: Matches) -> list[TiedNames]:
    """Count the concepts that have each query for a name, none written more like the mention than another."""
    scores = np.round(matches.scores.astype(np.float64), 6)
    tied = (scores == scores[:, :1]) & (np.round(matches.parts[EXACT_MATCH], 6) == 1)
    counts = tied.sum(axis=1)
    found = [TiedNames(count, count) for count in counts.tolist()]
    for place in np.flatnonzero(counts > 1).tolist():
        kinds = [index.vocabulary.name(name).kind for name in matches.names[place][tied[place]].tolist()]
        found[place] = TiedNames(len(kinds), kinds.count(kinds[0]))
    return found


def matched_text(index: Index, matches: Matches, place: int) -> str:
    """Return the normalised name by which the first concept of a query was found."""
    return normalise(index.vocabulary.name(int(matches.names[place, 0])).text)


def _compare_words(query: str, name: str, index: Index) -> tuple[float, float, float]:
    """Compute the features ``covered``, ``covering`` and ``known`` from the words of a query and a name."""
    if query == name:
        return 1.0, 1.0, 1.0
    query_words, name_words, index_words = query.split(" "), name.split(" "), index.entries.words
    covered = [word in name_words or any(is_alike(word, other) for other in name_words) for word in query_words]
    covering = [word in query_words or any(is_alike(word, other) for other in query_words) for word in name_words]
    known = [word in index_words or any(is_form(word, other) for other in name_words) for word in query_words]
    return _share(query_words, covered), _share(name_words, covering), _share(query_words, known)


def _share(words: Sequence[str], chosen: Sequence[bool]) -> float:
    """Compute the share of the letters of words that the chosen words have."""
    return sum(map(len, compress(words, chosen))) / max(sum(map(len, words)), 1)


def is_alike(word: str, other: str) -> bool:
    """Whether two words have a long common beginning, or are forms of each other ("deaf", "deafness")."""
    if word[: _STEM - 1] != other[: _STEM - 1]:
        return False
    if is_form(word, other):
        return True
    common = next(
        (place for place, (left, right) in enumerate(zip(word, other, strict=False)) if left != right),
        min(len(word), len(other)),
    )
    return common >= max(_STEM, _SIMILAR * max(len(word), len(other)))


def is_form(word: str, other: str) -> bool:
    """Whether one of two words is a form of the other: "deaf" and "deafness", but not "hammer" and "hammertoe"."""
    shorter, longer = sorted((word, other), key=len)
    stems = (shorter, shorter[:-1]) if shorter.endswith(("a", "e", "y")) else (shorter,)
    return len(shorter) >= _STEM and any(longer == f"{stem}{end}" for stem in stems for end in _ENDS)
