"""Reciprocal rank fusion: several searches joined by the ranks of their hits, without their scores.

Cormack, Clarke & Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods"
(SIGIR 2009).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from nymlink.index.fusion.hits import NONE, Rows, Scores
from nymlink.index.fusion.hybrid import HybridSearch, UnweightedHits, distinct_rows, look_up

_DAMPING: Final = 60
"""k of the paper's formula, with its value there."""


class ReciprocalRankSearch(HybridSearch):
    """Search with every part; the score of a hit is the weighted mean of 61 / (60 + rank) over the parts.

    An entry that is first in every part has score 1; a part that did not find it adds 0, and its own score of that
    entry is given as 0.

    Args:
        parts: name → search.
        weights: name → weight, at least 0, not all 0; the paper has them equal.

    Raises:
        ValueError: the names differ, or the weights are below 0 or all 0.
    """

    def collect(self, queries: Sequence[str], k: int) -> UnweightedHits:
        """Find the k best entries of each part, and their reciprocal ranks."""
        hits_of_part = self._search_parts(queries, k)
        rows = distinct_rows([hits.rows for hits in hits_of_part.values()])
        return UnweightedHits(
            rows,
            values={
                n: look_up(hits.rows, _reciprocal_ranks(hits.rows), rows)[0] for n, hits in hits_of_part.items()
            },
            scores={n: look_up(hits.rows, hits.scores, rows)[0] for n, hits in hits_of_part.items()},
        )


def _reciprocal_ranks(rows: Rows) -> Scores:
    ranks = np.arange(1, rows.shape[1] + 1, dtype=np.float32)
    return np.where(rows == NONE, np.float32(0), (_DAMPING + 1) / (_DAMPING + ranks)).astype(np.float32)
