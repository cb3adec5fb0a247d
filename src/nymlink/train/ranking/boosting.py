"""Learn symmetric trees by gradient boosting with a loss over the candidates of each question.

The loss of a question is minus the logarithm of the probability of its right candidates. The probabilities are the
softmax over the scores of the candidates and of "no answer", whose score is 0
(:func:`~nymlink.rank.ranker.softmax`). It is a listwise loss as in Cao et al., "Learning to rank: from pairwise
approach to listwise approach" (2007), with "no answer" as one more candidate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nymlink.core.errors import InputError
from nymlink.core.store.arrays import Bools, Ints
from nymlink.core.terminal import track
from nymlink.rank.trees import Numbers, Trees

_BINS = 64
_SAMPLED = 100_000
"""Largest number of values of a feature from which its thresholds are chosen."""

_LEAST_CURVATURE = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class BoostingSettings:
    """Settings of the boosting of trees.

    Attributes:
        trees: number of trees.
        depth: depth of a tree.
        rate: learning rate.
        ridge: L2 penalty of the values of leaves.
        features: share of the features drawn for each tree.
        questions: share of the questions drawn for each tree.
        seed: seed of the draws.
    """

    trees: int = 200
    depth: int = 6
    rate: float = 0.1
    ridge: float = 3.0
    features: float = 0.5
    questions: float = 0.6
    seed: int = 0


def boost(
    numbers: Numbers,
    starts: Ints,
    right: Bools,
    weights: npt.NDArray[np.float64],
    settings: BoostingSettings,
    *,
    start: npt.NDArray[np.float64] | None = None,
    progress: bool = False,
) -> Trees:
    """Learn trees.

    Args:
        numbers: float32 (N, F): features of N candidates, question by question.
        starts: int64 (Q): first candidate of each question; each has at least one.
        right: bool (N): right candidates.
        weights: float64 (Q): weights of the questions.
        settings: settings of the boosting.
        start: float64 (N): scores to which the trees add; ``None`` for scores of 0.
        progress: show progress if standard error is a terminal.

    Raises:
        InputError: no feature has two values.
    """
    rng = np.random.default_rng(settings.seed)
    thresholds = [_thresholds(column, rng) for column in numbers.T]
    usable = np.flatnonzero([len(own) > 0 for own in thresholds])
    if not len(usable):
        raise InputError("the candidates of all questions have equal features: there is no order to learn")
    bins = [_to_bins(column, own) for column, own in zip(numbers.T, thresholds, strict=True)]
    question = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(numbers))))
    scores = np.zeros(len(numbers)) if start is None else start.copy()
    grown = []
    for _ in track(range(settings.trees), "boosting", shown=progress):
        gradients, curvatures = _derivatives(scores, starts, question, right, weights)
        drawn = np.flatnonzero((rng.random(len(starts)) < settings.questions)[question])
        wanted = max(1, round(settings.features * len(usable)))
        columns = rng.choice(usable, min(wanted, len(usable)), replace=False).tolist()
        asked, leaves = _grow(bins, columns, drawn, gradients[drawn], curvatures[drawn], thresholds, settings)
        sums = np.bincount(leaves, gradients[drawn], minlength=1 << settings.depth)
        curves = np.bincount(leaves, curvatures[drawn], minlength=1 << settings.depth)
        values = (-settings.rate * sums / (curves + settings.ridge)).astype(np.float32)
        scores += values[_leaves(bins, asked, np.arange(len(numbers)))]
        grown.append((asked, values))
    return Trees(
        np.array([[feature for feature, _ in asked] for asked, _ in grown], np.int64).reshape(-1, settings.depth),
        np.array([[thresholds[feature][cut] for feature, cut in asked] for asked, _ in grown], np.float32).reshape(
            -1, settings.depth
        ),
        np.array([values for _, values in grown], np.float32).reshape(-1, 1 << settings.depth),
    )


def _derivatives(
    scores: npt.NDArray[np.float64], starts: Ints, question: Ints, right: Bools, weights: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Compute the first derivative of the loss by each score, and an upper bound of the second derivative."""
    largest = np.maximum(np.maximum.reduceat(scores, starts), 0)
    exponentials = np.exp(scores - largest[question])
    shares = exponentials / (np.add.reduceat(exponentials, starts) + np.exp(-largest))[question]
    of_right = np.add.reduceat(shares * right, starts)[question]
    gradients = shares - np.where(right, shares / np.maximum(of_right, 1e-12), 0)
    curvatures = np.maximum(shares * (1 - shares), _LEAST_CURVATURE)
    return gradients * weights[question], curvatures * weights[question]


def _grow(
    bins: list[npt.NDArray[np.uint8]],
    columns: list[int],
    drawn: Ints,
    gradients: npt.NDArray[np.float64],
    curvatures: npt.NDArray[np.float64],
    thresholds: list[Numbers],
    settings: BoostingSettings,
) -> tuple[list[tuple[int, int]], Ints]:
    """Grow a tree: choose for each level the feature and the threshold that lower the total loss most.

    Returns:
        For each level, the feature and the number of its threshold; and the leaf of each drawn candidate.
    """
    leaves = np.zeros(len(drawn), np.int64)
    own = {column: bins[column][drawn] for column in columns}
    asked = []
    for level in range(settings.depth):
        count = 1 << level
        gains = {}
        for column in columns:
            cells = leaves * _BINS + own[column]
            sums, curves = (
                np.bincount(cells, values, minlength=count * _BINS).reshape(count, _BINS).cumsum(axis=1)
                for values in (gradients, curvatures)
            )
            left, right = sums[:, :-1], sums[:, -1:] - sums[:, :-1]
            left_curve, right_curve = curves[:, :-1], curves[:, -1:] - curves[:, :-1]
            gain = (left**2 / (left_curve + settings.ridge) + right**2 / (right_curve + settings.ridge)).sum(
                axis=0
            )
            gains[column] = gain[: len(thresholds[column])]
        column = max(columns, key=lambda each: gains[each].max())
        cut = int(gains[column].argmax())
        asked.append((column, cut))
        leaves |= (own[column] > cut).astype(np.int64) << level
    return asked, leaves


def _leaves(bins: list[npt.NDArray[np.uint8]], asked: list[tuple[int, int]], rows: Ints) -> Ints:
    leaves = np.zeros(len(rows), np.int64)
    for level, (column, cut) in enumerate(asked):
        leaves |= (bins[column] > cut).astype(np.int64) << level
    return leaves


def _thresholds(column: Numbers, rng: np.random.Generator) -> Numbers:
    """Choose thresholds between the values of a feature, at quantiles if there are many values.

    A feature with a single value has no threshold. A missing value counts as smaller than all others; the first
    threshold separates missing values.
    """
    sample = column if len(column) <= _SAMPLED else rng.choice(column, _SAMPLED, replace=False)
    there = sample[~np.isnan(sample)]
    distinct = np.unique(there)
    if not len(distinct):
        return np.zeros(0, np.float32)
    missing = [distinct[0] - np.float32(1)] if len(there) < len(sample) else []
    between = (distinct[:-1] + distinct[1:]) / 2
    if len(between) > _BINS - 2:
        between = np.quantile(there, np.linspace(0, 1, _BINS)[1:-1])
    return np.unique(np.concatenate([missing, between]).astype(np.float32))


def _to_bins(column: Numbers, thresholds: Numbers) -> npt.NDArray[np.uint8]:
    """Count the thresholds below each value. The count of a missing value is 0."""
    places = np.searchsorted(thresholds, column, side="left")
    return np.where(np.isnan(column), 0, places).astype(np.uint8)
