"""Accuracy and mean reciprocal rank, from the ranks of the right answers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from nymlink.evaluate.outcomes import Rank

Ranks = npt.NDArray[np.float64]


def as_array(ranks: Sequence[Rank]) -> Ranks:
    """Ranks from 0, float64 (n); infinite where the right answer was not found."""
    return np.array([np.inf if rank is None else rank for rank in ranks], np.float64)


def accuracy(ranks: Ranks, k: int) -> float:
    """The share of right answers among the first k; NaN of nothing."""
    return float(np.mean(ranks < k)) if len(ranks) else float("nan")


def mean_reciprocal_rank(ranks: Ranks) -> float:
    """The mean of 1 / (rank + 1), 0 where the right answer was not found; NaN of nothing."""
    return float(np.mean(1 / (ranks + 1))) if len(ranks) else float("nan")
