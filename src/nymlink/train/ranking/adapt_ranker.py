"""Adapt a ranker to a few answered questions: trees that are added to it, where they prove better than none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from nymlink.core.errors import InputError
from nymlink.core.store.arrays import Bools, Ints
from nymlink.evaluation.significance import is_gain
from nymlink.index.fusion.hits import Scores
from nymlink.rank.ranker import Ranker
from nymlink.rank.trees import Trees
from nymlink.train.ranking.boosting import BoostingSettings
from nymlink.train.ranking.labelled import LabelledQuestions, learn_trees

SETTINGS: Final = BoostingSettings(trees=40, depth=2, rate=0.1, ridge=10.0, features=0.5, questions=0.8)
"""Trees that ask little of few questions: shallow, and with values that are held back."""

_COUNTS: Final = (10, 20, 40)
"""Numbers of trees that are tried."""


@dataclass(frozen=True, slots=True, eq=False)
class RankerAdaptation:
    """What answered questions teach a ranker.

    Attributes:
        trees: to add to it; ``None`` where none were better, or it cannot be told.
        scores: float32 (Q, K): of the candidates of the questions, by trees that did not learn from theirs.
        before: share of the questions whose first candidate is right, by the ranker.
        after: that with added trees, cross-validated; the same as before where none are added.
    """

    trees: Trees | None
    scores: Scores
    before: float
    after: float


def adapt_ranker(ranker: Ranker, labelled: LabelledQuestions, folds: Ints) -> RankerAdaptation:
    """Learn what a ranker has wrong.

    As many trees are added as put most right candidates first, of questions that they did not learn from; none
    where that may be by chance (:func:`~nymlink.evaluation.significance.is_gain`).

    Args:
        ranker: stays as it is.
        labelled: Q questions.
        folds: int64 (Q): questions of one fold are judged by trees that learned from the others.
    """
    base = ranker.scores(labelled.described)
    right = _first_right(base, labelled)
    unchanged = RankerAdaptation(None, base, float(right.mean()), float(right.mean()))
    tried = {count: base.copy() for count in _COUNTS}
    try:
        for fold in np.unique(folds):
            own = folds == fold
            trees = learn_trees(labelled.chosen(~own), SETTINGS, start=base[~own])
            for count, scores in tried.items():
                scores[own] += _scores(_first(trees, count), labelled.described[own])
        best = max(_COUNTS, key=lambda count: (_first_right(tried[count], labelled).mean(), -count))
        after = _first_right(tried[best], labelled)
        if not is_gain(after.astype(np.float64) - right.astype(np.float64)):
            return unchanged
        trees = _first(learn_trees(labelled, SETTINGS, start=base), best)
    except InputError:
        # All candidates are alike: there is nothing to learn.
        return unchanged
    return RankerAdaptation(trees, tried[best], float(right.mean()), float(after.mean()))


def _first(trees: Trees, count: int) -> Trees:
    return Trees(trees.features[:count], trees.thresholds[:count], trees.values[:count])


def _scores(trees: Trees, described: Scores) -> Scores:
    """Score candidates: float32 (Q, K), 0 where there is none."""
    scores = Ranker(trees, "").scores(described)
    return np.where(np.isfinite(scores), scores, np.float32(0))


def _first_right(scores: Scores, labelled: LabelledQuestions) -> Bools:
    """Tell whether the candidate of the highest score is right: bool (Q)."""
    first = scores.argmax(axis=1)
    right: Bools = np.take_along_axis(labelled.right, first[:, None], 1)[:, 0]
    return right
