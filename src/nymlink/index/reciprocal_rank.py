"""Reciprocal rank fusion: several searches joined by the places of what they find, whatever their scores mean.

Cormack, Clarke & Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods"
(SIGIR 2009).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

import numpy as np

from nymlink.index.hits import NONE, Rows, Scores, Searcher, best
from nymlink.index.hybrid import ScoredHits, look_up, shares, union

_DAMPING: Final = 60
"""k of the paper's formula, where it was found to be good and of little influence."""


class ReciprocalRankSearch:
    """Searches with every part; a hit's score is the mean of 61 / (60 + its rank) over the parts, each weighted.

    An entry that is first in every part has score 1; a part that did not find it adds nothing.

    Args:
        parts: name → search.
        weights: name → weight, at least 0, not all 0.

    Raises:
        ValueError: the names differ, or the weights do not allow a mean.
    """

    def __init__(self, parts: Mapping[str, Searcher], weights: Mapping[str, float]) -> None:
        self.parts = MappingProxyType(dict(parts))
        self.weights = shares(parts, weights)

    def search(self, queries: Sequence[str], k: int) -> ScoredHits:
        """The k best entries of each query, with the scores that each part gave them (0 where it did not)."""
        found = {name: part.search(queries, k) for name, part in self.parts.items()}
        rows = union([hits.rows for hits in found.values()])
        total = np.zeros(rows.shape, np.float32)
        for name, hits in found.items():
            total += np.float32(self.weights[name]) * look_up(hits.rows, _by_rank(hits.rows), rows)[0]
        hits = best(rows, total, k)
        return ScoredHits(
            hits, {name: look_up(theirs.rows, theirs.scores, hits.rows)[0] for name, theirs in found.items()}
        )


def _by_rank(rows: Rows) -> Scores:
    ranks = np.arange(1, rows.shape[1] + 1, dtype=np.float32)
    return np.where(rows == NONE, np.float32(0), (_DAMPING + 1) / (_DAMPING + ranks)).astype(np.float32)
