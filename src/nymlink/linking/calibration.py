"""Confidences: features of how a concept was found, and the model that turns them into a probability.

The features (:data:`CONFIDENCE_FEATURES`) are numbers from 0 to 1. The model is a logistic regression on all of
them; Platt ("Probabilistic Outputs for Support Vector Machines", 1999) uses one on a single score. No weight is
negative: a higher score never lowers the confidence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, pairwise
from math import isfinite
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from nymlink.core.errors import InputError, StoreError
from nymlink.core.language_codes import UNKNOWN_LANGUAGE
from nymlink.core.store.arrays import Bools
from nymlink.index.fusion import DENSE, EXACT_MATCH
from nymlink.index.hits import NONE
from nymlink.index.index import Index
from nymlink.index.walk import Matches
from nymlink.rank.ranker import RankedMatches
from nymlink.rank.retrieval import Question
from nymlink.text.detection import detect_language
from nymlink.text.normalise import normalise
from nymlink.vocabulary.concepts import Name

Features = npt.NDArray[np.float64]

CONFIDENCE_FEATURES: Final = (
    "score", "ahead", "alone", "covered", "covering", "known", "ranked", "similar", "apart",
)  # fmt: skip
"""Features of the first concept of a query, each 0 to 1:

- ``score``: its score;
- ``ahead``: how far its score is above the next one;
- ``alone``: 1 if its score is higher than the next one (no other concept has the name), else 0;
- ``covered``: share of the query that the name covers;
- ``covering``: share of the name that the query covers;
- ``known``: share of the query that consists of words of the index;
- ``ranked``: log-odds that the ranker gives it, scaled from 0 (impossible) to 1 (certain). For a query that equals
  a name of one concept alone, which the ranker is not asked, those of :data:`VERBATIM`. 1 without a ranker;
- ``similar``: logarithm of the distance of its vector from that of the query, scaled from 0 (at right angles) to 1
  (equal). 1 without vectors, and for a query that equals a name;
- ``apart``: how far the cosines of the next concepts are lower, on average. 1 without vectors, and for a query
  that equals a name.
"""

DEPTH: Final = 10
"""Number of first concepts of a query that the features are computed from."""

CLEAR: Final = 0.1
"""A lead over the next score that counts as clear; a lead of twice this size counts for little more."""

VERBATIM: Final = 0.95
"""Probability of the concept of a query that equals a name of one concept alone, as measured on 24 sets."""

_IMPOSSIBLE: Final = 0.0005
"""Probability that counts as 0. One minus this probability counts as 1."""

_EQUAL: Final = 0.02
"""Distance of vectors (1 - cosine) that counts as none."""

_APART: Final = 0.6
"""Mean lead of a cosine that counts as largest."""

_ENDS: Final = frozenset({"al", "ation", "e", "ed", "es", "ing", "ion", "ity", "ness", "s", "y"})

_SIMILAR: Final = 0.6
_STEM: Final = 4
"""Two words are alike if their common beginning has this many letters and this share of the longer word."""


def confidence_features(ranked: RankedMatches, questions: Sequence[Question], index: Index) -> Features:
    """Describe how the first concepts of questions were found.

    Args:
        ranked: matches of Q questions, at least :data:`DEPTH` concepts each.
        questions: Q questions.
        index: the index that was searched.

    Returns:
        float64 (Q, 9), the :data:`CONFIDENCE_FEATURES`, each 0 to 1; NaN for a query without any concept.
    """
    # Scores are compared to six decimals, as when they are sorted.
    matches = ranked.matches
    scores = np.round(matches.scores[:, :DEPTH].astype(np.float64), 6)
    first = scores[:, 0]
    # A ranker may put a concept first although its score is not the highest. It then has no lead.
    lead = np.maximum(first - scores[:, 1:].max(axis=1), 0)
    exact = np.round(matches.parts[EXACT_MATCH][:, 0].astype(np.float64), 6)
    alone = lead > 0
    # For a query that equals one name, the distance of other names does not matter.
    ahead = np.where(alone & (exact == 1), 1.0, 1 - np.exp(-lead / CLEAR))
    has_concept = matches.concepts[:, 0] != NONE
    words = np.zeros((len(questions), 3))
    for place in np.flatnonzero(has_concept).tolist():
        words[place] = _compare_words(questions[place].text, matched_text(index, matches, place), index)
    odds = _log_odds(ranked, alone & (exact == 1))
    features = np.column_stack([first, ahead, alone, words, odds, *_distances(matches, exact == 1)])
    features[~has_concept] = np.nan
    return features


def is_verbatim(features: Features) -> Bools:
    """Say of each query whether it equals a name of one concept alone: bool (Q)."""
    verbatim: Bools = (np.delete(features, CONFIDENCE_FEATURES.index("ranked"), axis=1) == 1).all(axis=1)
    return verbatim


def _log_odds(ranked: RankedMatches, verbatim: Bools) -> npt.NDArray[np.float64]:
    """Scale the log-odds of the first concepts' probabilities to 0 to 1: float64 (Q); 1 without a ranker."""
    if ranked.probabilities is None:
        # The highest value, so that no ranker does not lower the confidence.
        return np.ones(len(ranked.matches.concepts))
    probabilities = np.where(verbatim, VERBATIM, ranked.probabilities[:, 0].astype(np.float64))
    probabilities = np.clip(probabilities, _IMPOSSIBLE, 1 - _IMPOSSIBLE)
    odds = np.log(probabilities / (1 - probabilities))
    scaled: npt.NDArray[np.float64] = 0.5 + odds / (2 * np.log((1 - _IMPOSSIBLE) / _IMPOSSIBLE))
    return scaled


def _distances(matches: Matches, is_equal: Bools) -> tuple[Features, Features]:
    """Compute the features ``similar`` and ``apart``: float64 (Q) each."""
    if DENSE not in matches.parts:
        return np.ones(len(is_equal)), np.ones(len(is_equal))
    has_concept = matches.concepts[:, :DEPTH] != NONE
    cosines = np.where(has_concept, matches.parts[DENSE][:, :DEPTH].astype(np.float64), 0.0)
    lead = cosines[:, 0] - cosines[:, 1:].mean(axis=1)
    similar = np.log(np.clip(1 - cosines[:, 0], _EQUAL, 1)) / np.log(_EQUAL)
    return np.where(is_equal, 1.0, similar), np.where(is_equal, 1.0, np.clip(lead / _APART, 0, 1))


class TiedNames(NamedTuple):
    """Concepts that share the name of a mention.

    Attributes:
        places: places, among the first :data:`DEPTH`, of the concepts that tie for the best score by a name that
            equals the query; empty if no name equals the query.
        same_kind: those of these places whose matching name is of the same kind as that of the first.
    """

    places: tuple[int, ...]
    same_kind: tuple[int, ...]

    @property
    def concepts(self) -> int:
        """Number of tied concepts."""
        return len(self.places)

    @property
    def of_kind(self) -> int:
        """Number of tied concepts whose matching name is of the same kind as that of the first."""
        return len(self.same_kind)


def tied_names(index: Index, matches: Matches) -> list[TiedNames]:
    """For each query find the concepts that have it as a name and are tied for the best score."""
    scores = np.round(matches.scores[:, :DEPTH].astype(np.float64), 6)
    tied = (scores == scores[:, :1]) & (np.round(matches.parts[EXACT_MATCH][:, :DEPTH], 6) == 1)
    places_of: list[list[int]] = [[] for _ in tied]
    for place, own in np.argwhere(tied).tolist():
        places_of[place].append(own)
    found = []
    for place, places in enumerate(places_of):
        same_kind = places
        if len(places) > 1:
            kinds = [index.vocabulary.name(int(name)).kind for name in matches.names[place, places]]
            same_kind = [own for own, kind in zip(places, kinds, strict=True) if kind == kinds[0]]
        found.append(TiedNames(tuple(places), tuple(same_kind)))
    return found


def matched_text(index: Index, matches: Matches, place: int) -> str:
    """Return the normalised name that matched for the first concept of a query."""
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
    """Compute the share of the letters of ``words`` that belong to the chosen words."""
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
    return len(shorter) >= _STEM and any(
        longer.startswith(stem) and longer[len(stem) :] in _ENDS for stem in stems
    )


def is_across(language: str | None, text: str, name: Name) -> bool:
    """Whether a mention is in another language than the name that matched.

    A link across languages shares few words, so that words count for nothing.

    Args:
        language: code of the language of the mention; ``None`` to detect it.
        text: prepared mention.
        name: the name.
    """
    own = name.lang.split("-")[0]
    if own == UNKNOWN_LANGUAGE or normalise(name.text) == text:
        return False
    found = detect_language(text) if language is None else language.split("-")[0]
    if found is None:
        # The text has no words of English rules. Short words may be abbreviations, which are of no language.
        return not text.isascii() or max(map(len, text.split(" "))) >= _STEM
    return found != own


Confidences = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Calibration:
    """Logistic model that turns the features of a query into a confidence.

    Attributes:
        intercept: log-odds if all features are 0.
        weights: log-odds for each of :data:`CONFIDENCE_FEATURES`, at least 0.
        curve: (confidence, precision) pairs, both rising, the first confidence 0. The precision is the share of
            correct links among the measured mentions with at least that confidence.
        fitted_to: description of the mentions it was fitted to and measured on, for people to read.
        across: calibration of links across languages, see :func:`is_across`; ``None`` to treat them like others.

    Raises:
        ValueError: a number is outside its range.

    Example:
        >>> from nymlink import Calibration, Linker
        >>> calibration = Calibration.of(Linker.build("diseases.obo").index)
        >>> 0 < calibration.threshold(0.9) < 1  # the confidence from which nine of ten links are right
        True
    """

    intercept: float
    weights: Mapping[str, float]
    curve: tuple[tuple[float, float], ...]
    fitted_to: str
    across: Calibration | None = None

    def __post_init__(self) -> None:
        if set(self.weights) != set(CONFIDENCE_FEATURES):
            raise ValueError(
                f"weights are for {', '.join(self.weights)}, not for {', '.join(CONFIDENCE_FEATURES)}"
            )
        numbers = [self.intercept, *self.weights.values()]
        if not all(map(isfinite, numbers)) or min(numbers[1:]) < 0:
            raise ValueError(f"weights must be at least 0 and finite: {numbers}")
        if not self.curve or self.curve[0][0] != 0:
            raise ValueError("the curve must begin at a confidence of 0")
        if not all(0 <= value <= 1 for point in self.curve for value in point):
            raise ValueError("the curve must be of numbers from 0 to 1")
        if not all(low[0] < high[0] and low[1] < high[1] for low, high in pairwise(self.curve)):
            raise ValueError("the curve must rise")

    @classmethod
    def of(cls, index: Index) -> Calibration:
        """Load the calibration of an index.

        Raises:
            InputError: the index is not calibrated.
            StoreError: its calibration is damaged.
        """
        if index.calibration is None:
            raise InputError("the index is not calibrated: run `nymlink calibrate` on it, with annotated mentions")
        return cls.from_dict(index.calibration)

    def confidence(self, features: Features, across: Bools | None = None) -> Confidences:
        """Estimate the probability that the first concept of each query is correct.

        Args:
            features: float64 (Q, F), from :func:`confidence_features`; NaN for a query without any concept.
            across: bool (Q): whether the link is across languages; ``None`` for no such links.

        Returns:
            float64 (Q), 0 to 1, to six decimals; 0 for a query without any concept.
        """
        weights = np.array([self.weights[name] for name in CONFIDENCE_FEATURES])
        probabilities = probability(self.intercept + features @ weights)
        found = np.where(np.isnan(probabilities), 0.0, probabilities.round(6))
        if across is None or self.across is None:
            return found
        return np.where(across, self.across.confidence(features), found)

    @property
    def surest(self) -> float:
        """The highest possible confidence. Without a ranker, mentions that equal a name of one concept have it."""
        return float(self.confidence(np.ones((1, len(CONFIDENCE_FEATURES))))[0])

    def threshold(self, precision: float) -> float:
        """Find the lowest confidence that reaches a precision.

        The result is at most :attr:`surest`; a precision that needs a higher confidence cannot be reached.

        Args:
            precision: share of links that must be correct, 0 to 1.

        Raises:
            InputError: no confidence reaches it; the message names the highest precision that can be reached.
        """
        for confidence, reached in self.curve:
            if reached >= precision:
                return confidence
        raise InputError(
            f"no confidence is enough for a precision of {precision:g}: {self.curve[-1][1]:.3f} is the highest "
            f"that can be reached, as far as {self.fitted_to} can tell"
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "intercept": self.intercept,
            "weights": dict(self.weights),
            "curve": [list(point) for point in self.curve],
            "fitted_to": self.fitted_to,
            **({} if self.across is None else {"across": self.across.to_dict()}),
        }

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Calibration:
        """Rebuild a calibration from :meth:`to_dict`.

        Raises:
            StoreError: it is damaged.
        """
        try:
            return cls(
                intercept=float(value["intercept"]),
                weights={name: float(weight) for name, weight in value["weights"].items()},
                curve=tuple((float(confidence), float(precision)) for confidence, precision in value["curve"]),
                fitted_to=str(value["fitted_to"]),
                across=None if value.get("across") is None else cls.from_dict(value["across"]),
            )
        except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
            raise StoreError(f"the calibration is damaged ({error}): run `nymlink calibrate` again") from error


def probability(log_odds: Confidences) -> Confidences:
    """Turn log-odds into probabilities, 1 / (1 + e⁻ˣ)."""
    # tanh does not overflow, the exponential does.
    found: Confidences = 0.5 + 0.5 * np.tanh(0.5 * log_odds)
    return found
