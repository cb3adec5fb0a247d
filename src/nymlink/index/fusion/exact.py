"""Exact search: the entry that equals the query."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nymlink.index.entries.entries import Entries
from nymlink.index.fusion.hits import NONE, Hits, Rows, Scores


class ExactSearch:
    """Find the entry that equals the query; its score is 1."""

    def __init__(self, entries: Entries) -> None:
        self._entries = entries

    def search(self, queries: Sequence[str], k: int) -> Hits:
        """Find the equal entry of each query, if any; see :class:`~nymlink.index.fusion.hits.Searcher`."""
        rows = np.full((len(queries), k), NONE, np.int32)
        rows[:, :1] = self._equal(queries)
        return Hits(rows, (rows != NONE).astype(np.float32))

    def score(self, queries: Sequence[str], rows: Rows) -> Scores:
        """Score given entries: 1 for the one that equals the query, 0 for any other."""
        equal = self._equal(queries)
        scores: Scores = ((rows == equal) & (equal != NONE)).astype(np.float32)
        return scores

    def _equal(self, queries: Sequence[str]) -> Rows:
        return self._entries.find_all(queries).reshape(-1, 1)
