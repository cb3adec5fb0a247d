"""Accuracy and mean reciprocal rank, from the ranks of the right answers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from nymlink.evaluation.outcomes import Rank

Ranks = npt.NDArray[np.float64]


def as_array(ranks: Sequence[Rank]) -> Ranks:
    """Convert ranks to float64 (n), from 0; infinite where the right answer was not found."""
    return np.array([np.inf if rank is None else rank for rank in ranks], np.float64)


def accuracy(ranks: Ranks, k: int) -> float:
    """Compute the share of ranks below k; NaN where there are no ranks."""
    return float(np.mean(ranks < k)) if len(ranks) else float("nan")


def mean_reciprocal_rank(ranks: Ranks) -> float:
    """Compute the mean of 1 / (rank + 1), 0 where not found; NaN where there are no ranks."""
    return float(np.mean(1 / (ranks + 1))) if len(ranks) else float("nan")
