"""Collecting the entries of highest estimated score, one range of entries after the other."""

from __future__ import annotations

from typing import Final

import numpy as np

from nymlink.index.fusion.hits import Rows, Scores

_EQUAL: Final = 1e-6
"""Scores that differ by less count as equal, as in :func:`~nymlink.index.fusion.hits.best`."""

_COLUMNS: Final = 64


class BestRows:
    """The entries of highest estimated score among those added so far.

    At least ``fetched`` entries are kept, and every entry whose score equals the k-th: which of the equal ones
    come first is decided later by their exact scores and rows.

    Args:
        k: how many entries are wanted in the end.
        fetched: how many are kept until then, at least k.

    Attributes:
        rows: int32 (n): the rows of the entries kept.
    """

    def __init__(self, k: int, fetched: int) -> None:
        self.rows: Rows = np.zeros(0, np.int32)
        self._scores: Scores = np.zeros(0, np.float32)
        self._k = k
        self._fetched = fetched
        self._lowest = 0.0

    def add(self, first: int, scores: Scores) -> None:
        """Add a range of entries; those with a score of 0 are left out.

        Args:
            first: the row of the first.
            scores: float32 (n): their scores.
        """
        lowest = self._lowest or _kth_score_bound(scores, self._fetched) - _EQUAL
        good = np.flatnonzero(scores >= lowest if lowest > 0 else scores > 0)
        self.rows = np.concatenate([self.rows, (first + good).astype(np.int32)])
        self._scores = np.concatenate([self._scores, scores[good]])
        if len(self.rows) > self._fetched:
            parted = np.partition(self._scores, (-self._fetched, -self._k))
            self._lowest = min(parted[-self._fetched], parted[-self._k] - _EQUAL)
            kept = self._scores >= self._lowest
            self.rows, self._scores = self.rows[kept], self._scores[kept]


def _kth_score_bound(scores: Scores, k: int) -> float:
    """Bound the k-th highest score from below by the k-th highest maximum of groups; 0 with too few groups."""
    highest = scores[: len(scores) // _COLUMNS * _COLUMNS].reshape(_COLUMNS, -1).max(axis=0)
    return float(np.partition(highest, -k)[-k]) if len(highest) >= k else 0.0
