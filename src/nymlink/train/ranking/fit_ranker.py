"""Fit a ranker to an index, and measure it on questions that it did not learn from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from nymlink.core.errors import InputError
from nymlink.core.store.arrays import Bools
from nymlink.index.fusion.hits import Scores
from nymlink.rank.ranker import Ranker
from nymlink.train.ranking.boosting import BoostingSettings
from nymlink.train.ranking.labelled import LabelledQuestions, learn_trees

_FEWEST: Final = 200
"""Questions with a right candidate that it takes to learn from."""

_HELD_OUT: Final = 0.2
"""Share of the questions that the measured ranker does not learn from."""


@dataclass(frozen=True, slots=True)
class RankerFit:
    """A ranker, and what it gains.

    Attributes:
        ranker: learned from all questions.
        before: kind of questions → share of those held out whose first candidate is right in the order of the
            index; of the questions whose right concept is among the candidates.
        after: the same in the order of a ranker that did not learn from them.
        counts: kind of questions → how many there are.
    """

    ranker: Ranker
    before: Mapping[str, float]
    after: Mapping[str, float]
    counts: Mapping[str, int]


def fit_ranker(
    questions: Mapping[str, LabelledQuestions],
    settings: BoostingSettings | None = None,
    *,
    progress: bool = False,
) -> RankerFit:
    """Learn the order of candidates from questions of several kinds.

    Args:
        questions: kind, for people to read → labelled questions.
        settings: of the boosting; ``None`` for the default.
        progress: show progress when standard error is a terminal.

    Raises:
        InputError: there are too few questions whose right concept was found.
    """
    settings = settings or BoostingSettings()
    answered = sum(int(part.right.any(axis=1).sum()) for part in questions.values())
    if answered < _FEWEST:
        raise InputError(
            f"{answered} questions with a right candidate are too few: it takes {_FEWEST} to learn their order"
        )
    rng = np.random.default_rng(settings.seed)
    held_out = {kind: rng.random(len(part.weights)) < _HELD_OUT for kind, part in questions.items()}
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


def _in_order(right: Bools, scores: Scores) -> Bools:
    order = np.argsort(-scores, axis=1, kind="stable")
    ordered: Bools = np.take_along_axis(right, order, 1)
    return ordered


def _first_right(right: Bools) -> float:
    """Compute the share of questions whose first candidate is right, of those that have a right one."""
    answered = right.any(axis=1)
    return float(right[answered, 0].mean()) if answered.any() else float("nan")
