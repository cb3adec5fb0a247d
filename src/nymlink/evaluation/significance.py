"""Statistics of figures: the bootstrap interval and McNemar's exact test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
import numpy.typing as npt

_DRAWS: Final = 2**17
"""Draws of a bootstrap that are made at once: their arrays stay in the processor's cache."""


def bootstrap_interval(
    correct: npt.NDArray[np.bool_],
    groups: Sequence[str],
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[float, float]:
    """Compute the percentile bootstrap interval of an accuracy (Efron & Tibshirani 1993, chapter 13).

    Whole groups are drawn, because mentions of one document are not independent. If all mentions are in one group,
    mentions are drawn.

    Args:
        correct: bool (n): which mentions are right.
        groups: n group names, for example document ids.
        level: the share of the distribution inside the interval.
        resamples: the number of samples drawn.
        seed: the seed of the random draws.

    Returns:
        The bounds of the interval; NaN for no mentions.
    """
    if not len(correct):
        return float("nan"), float("nan")
    _, group = np.unique(np.asarray(groups), return_inverse=True)
    if group.max() == 0:
        group = np.arange(len(correct))
    sizes = np.bincount(group).astype(np.float64)
    hits = np.bincount(group, correct).astype(np.float64)
    generator = np.random.default_rng(seed)
    at_once = max(1, _DRAWS // len(sizes))
    shares = np.empty(resamples)
    for start in range(0, resamples, at_once):
        block = shares[start : start + at_once]
        drawn = generator.integers(len(sizes), size=(len(block), len(sizes)))
        block[:] = hits[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    low, high = np.quantile(shares, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


@dataclass(frozen=True, slots=True)
class McNemar:
    """The result of McNemar's exact test of two runs over the same mentions.

    Attributes:
        only_first: mentions that only the first run has right.
        only_second: mentions that only the second run has right.
        p_value: two-sided probability of so uneven a split, were both runs equally good.
    """

    only_first: int
    only_second: int
    p_value: float

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def mcnemar(first: npt.NDArray[np.bool_], second: npt.NDArray[np.bool_]) -> McNemar:
    """Compare two runs over the same mentions with McNemar's test (1947) in its exact, binomial form.

    Args:
        first: bool (n): which mentions the first run has right.
        second: the same of the second run.
    """
    if first.shape != second.shape:
        raise ValueError(f"two runs over different mentions: {first.shape} and {second.shape}")
    only_first, only_second = int(np.sum(first & ~second)), int(np.sum(~first & second))
    if only_first + only_second == 0:
        return McNemar(0, 0, 1.0)
    return McNemar(only_first, only_second, _binomial_test(only_first, only_first + only_second))


def _binomial_test(successes: int, trials: int) -> float:
    """Compute the two-sided probability of so uneven a split with a fair coin, in whole numbers until the end."""
    ways, tail = 1, 0
    for number in range(min(successes, trials - successes) + 1):
        tail += ways
        ways = ways * (trials - number) // (number + 1)
    return min(1.0, float(Fraction(2 * tail, 1 << trials)))


def is_gain(gains: npt.NDArray[np.float64]) -> bool:
    """Whether a mean gain is larger than twice its standard error: hardly by chance."""
    return bool(gains.mean() > 2 * gains.std() / np.sqrt(len(gains)))
