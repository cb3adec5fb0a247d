"""A search whose scores are given, to test what is built on searches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from nymlink.index.hits import NONE, Hits, Rows, Scores


class FixedSearch:
    """Finds the entries of a query that it was given a score for, whatever its sign."""

    def __init__(self, scores: Mapping[str, Mapping[int, float]]) -> None:
        self._scores = scores

    def search(self, queries: Sequence[str], k: int) -> Hits:
        hits = Hits(np.full((len(queries), k), NONE, np.int32), np.zeros((len(queries), k), np.float32))
        for place, query in enumerate(queries):
            found = sorted((-score, row) for row, score in self._scores[query].items())[:k]
            hits.rows[place, : len(found)] = [row for _, row in found]
            hits.scores[place, : len(found)] = [-score for score, _ in found]
        return hits

    def score(self, queries: Sequence[str], rows: Rows) -> Scores:
        """Of an entry that the search does not find, 0."""
        return np.array(
            [
                [self._scores[query].get(row, 0) if row != NONE else 0 for row in line]
                for query, line in zip(queries, rows.tolist(), strict=True)
            ],
            np.float32,
        ).reshape(rows.shape)
