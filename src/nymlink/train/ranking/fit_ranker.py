"""Fit a ranker to an index, and measure it on held-out questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
import xxhash

from nymlink.core.errors import InputError
from nymlink.core.store.arrays import Bools, Ints
from nymlink.evaluation.significance import is_gain
from nymlink.index.hits import Scores
from nymlink.rank.ranker import Ranker
from nymlink.rank.trees import Trees
from nymlink.train.ranking.boosting import BoostingSettings
from nymlink.train.ranking.labelled import LabelledQuestions, learn_trees

_FEWEST: Final = 200
"""Smallest number of questions with a right candidate that is enough to learn from."""

_HELD_OUT: Final = 0.2
"""Share of the questions held out to measure the ranker."""


@dataclass(frozen=True, slots=True)
class RankerFit:
    """A ranker, and its gain on held-out questions that have a right candidate.

    Attributes:
        ranker: learned from all questions.
        before: kind of questions → share of questions whose first candidate is right in the order of the index.
        after: the same share in the order of a ranker that learned from the other questions only.
        counts: kind of questions → number of questions.
    """

    ranker: Ranker
    before: Mapping[str, float]
    after: Mapping[str, float]
    counts: Mapping[str, int]


def fit_ranker(
    questions: Mapping[str, LabelledQuestions], settings: BoostingSettings | None = None, *, progress: bool = False
) -> RankerFit:
    """Learn the order of candidates from questions of several kinds.

    Args:
        questions: kind of questions (a description for people) → labelled questions.
        settings: settings of the boosting; ``None`` for the default.
        progress: show progress if standard error is a terminal.

    Raises:
        InputError: too few questions have a right candidate.
    """
    settings = settings or BoostingSettings()
    answered = sum(int(part.right.any(axis=1).sum()) for part in questions.values())
    if answered < _FEWEST:
        raise InputError(
            f"{answered} questions with a right candidate are too few: it takes {_FEWEST} to learn their order"
        )
    rng = np.random.default_rng(settings.seed)
    held_out = {kind: _drawn(part, rng) for kind, part in questions.items()}
    rest = [part.chosen(~held_out[kind]) for kind, part in questions.items()]
    trial = Ranker(learn_trees(LabelledQuestions.joined(rest), settings, progress=progress), "")
    tested = {kind: part.chosen(held_out[kind]) for kind, part in questions.items()}
    counts = {kind: len(part.weights) for kind, part in questions.items()}
    trees = learn_trees(LabelledQuestions.joined(list(questions.values())), settings, progress=progress)
    return RankerFit(
        Ranker(trees, "; ".join(f"{count:,} {kind}" for kind, count in counts.items())),
        before={kind: _first_right(part.right) for kind, part in tested.items()},
        after={
            kind: _first_right(_in_order(part.right, trial.scores(part.described)))
            for kind, part in tested.items()
        },
        counts=counts,
    )


def _drawn(questions: LabelledQuestions, rng: np.random.Generator) -> Bools:
    """Draw the questions to hold out. Equal questions have equal features, and stay together."""
    digests = [xxhash.xxh3_64_intdigest(own.tobytes()) for own in questions.described]
    distinct, number = np.unique(np.array(digests, np.uint64), return_inverse=True)
    drawn: Bools = (rng.random(len(distinct)) < _HELD_OUT)[number]
    return drawn


def _in_order(right: Bools, scores: Scores) -> Bools:
    order = np.argsort(-scores, axis=1, kind="stable")
    ordered: Bools = np.take_along_axis(right, order, 1)
    return ordered


def _first_right(right: Bools) -> float:
    """Among questions with a right candidate, compute the share whose first candidate is right."""
    answered = right.any(axis=1)
    return float(right[answered, 0].mean()) if answered.any() else float("nan")


SETTINGS: Final = BoostingSettings(trees=40, depth=2, rate=0.1, ridge=10.0, features=0.5, questions=0.8)
"""Shallow trees with a strong penalty, for few questions."""

_COUNTS: Final = (10, 20, 40)
"""Numbers of trees to try."""


@dataclass(frozen=True, slots=True, eq=False)
class RankerAdaptation:
    """Trees learned from answered questions. Their scores are added to those of a ranker.

    Attributes:
        trees: the trees; ``None`` if they bring no significant gain.
        scores: float32 (Q, K): scores of the candidates, each from trees learned without its question.
        before: share of the questions whose best candidate is right by the ranker alone.
        after: the same share by the cross-validated scores.
    """

    trees: Trees | None
    scores: Scores
    before: float
    after: float


def adapt_ranker(
    ranker: Ranker,
    labelled: LabelledQuestions,
    folds: Ints,
    is_right: Callable[[Scores], Bools] | None = None,
) -> RankerAdaptation:
    """Learn trees that correct a ranker.

    Cross-validation chooses the number of trees. No trees are added if the gain is not significant
    (:func:`~nymlink.evaluation.significance.is_gain`).

    Args:
        ranker: the ranker; it is not changed.
        labelled: Q questions.
        folds: int64 (Q): fold of each question in the cross-validation.
        is_right: says for scores (Q, K) which questions have a right first candidate, bool (Q); ``None`` if the
            highest score is first.
    """
    base = ranker.scores(labelled.described)
    is_right = is_right or partial(_firsts_right, labelled=labelled)
    right = is_right(base)
    unchanged = RankerAdaptation(None, base, float(right.mean()), float(right.mean()))
    tried = {count: base.copy() for count in _COUNTS}
    try:
        for fold in np.unique(folds):
            own = folds == fold
            trees = learn_trees(labelled.chosen(~own), SETTINGS, start=base[~own])
            for count, scores in tried.items():
                scores[own] += _scores(_first(trees, count), labelled.described[own])
        best = max(_COUNTS, key=lambda count: (is_right(tried[count]).mean(), -count))
        after = is_right(tried[best])
        if not is_gain(after.astype(np.float64) - right.astype(np.float64)):
            return unchanged
        trees = _first(learn_trees(labelled, SETTINGS, start=base), best)
    except InputError:
        # All candidates have equal features.
        return unchanged
    return RankerAdaptation(trees, tried[best], float(right.mean()), float(after.mean()))


def _first(trees: Trees, count: int) -> Trees:
    return Trees(trees.features[:count], trees.thresholds[:count], trees.values[:count])


def _scores(trees: Trees, described: Scores) -> Scores:
    """Score candidates: float32 (Q, K). Missing candidates get 0."""
    scores = Ranker(trees, "").scores(described)
    return np.where(np.isfinite(scores), scores, np.float32(0))


def _firsts_right(scores: Scores, labelled: LabelledQuestions) -> Bools:
    """Find the questions whose candidate with the highest score is right: bool (Q)."""
    first = scores.argmax(axis=1)
    right: Bools = np.take_along_axis(labelled.right, first[:, None], 1)[:, 0]
    return right
