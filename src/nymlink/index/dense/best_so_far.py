"""The entries that may be among the best of a query, collected from one stretch of entries after the other."""

from __future__ import annotations

from typing import Final

import numpy as np

from nymlink.index.fusion.hits import Rows, Scores

_EQUAL: Final = 1e-6
"""Scores that differ by less count as equal, as :func:`~nymlink.index.fusion.hits.best` has it."""

_COLUMNS: Final = 64


class Candidates:
    """The entries of highest score among all given so far, their scores being estimates.

    There are as many as were asked for, and with them every entry whose score equals the k-th, however many: which
    of the equal ones come first is for their exact scores and their rows to say.

    Args:
        k: how many entries are wanted in the end.
        fetched: how many are to be kept until then, at least k.
    """

    def __init__(self, k: int, fetched: int) -> None:
        self.rows: Rows = np.zeros(0, np.int32)
        self._scores: Scores = np.zeros(0, np.float32)
        self._k = k
        self._fetched = fetched
        self._lowest = 0.0

    def add(self, first: int, scores: Scores) -> None:
        """Look at a stretch of entries; those with a score of 0 are none.

        Args:
            first: the row of the first.
            scores: float32 (n): their scores.
        """
        lowest = self._lowest or reached(scores, self._fetched) - _EQUAL
        found = np.flatnonzero(scores >= lowest if lowest > 0 else scores > 0)
        self.rows = np.concatenate([self.rows, (first + found).astype(np.int32)])
        self._scores = np.concatenate([self._scores, scores[found]])
        if len(self.rows) > self._fetched:
            parted = np.partition(self._scores, (-self._fetched, -self._k))
            self._lowest = min(parted[-self._fetched], parted[-self._k] - _EQUAL)
            kept = self._scores >= self._lowest
            self.rows, self._scores = self.rows[kept], self._scores[kept]


def reached(scores: Scores, count: int) -> float:
    """A score that at least ``count`` of many reach, found without sorting them; 0 where there are fewer."""
    highest = scores[: len(scores) // _COLUMNS * _COLUMNS].reshape(_COLUMNS, -1).max(axis=0)
    return float(np.partition(highest, -count)[-count]) if len(highest) >= count else 0.0
