"""Reciprocal rank fusion: several searches joined by the places of what they find, whatever their scores mean.

Cormack, Clarke & Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods"
(SIGIR 2009).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from nymlink.index.fusion.hits import NONE, Rows, Scores
from nymlink.index.fusion.hybrid import Collected, HybridSearch, look_up, union

_DAMPING: Final = 60
"""k of the paper's formula, where it was found to be good and of little influence."""


class ReciprocalRankSearch(HybridSearch):
    """Searches with every part; a hit's score is the mean of 61 / (60 + its rank) over the parts, each weighted.

    An entry that is first in every part has score 1; a part that did not find it adds nothing, and its own score
    of that entry is given as 0.

    Args:
        parts: name → search.
        weights: name → weight, at least 0, not all 0; the paper has them equal.

    Raises:
        ValueError: the names differ, or the weights do not allow a mean.
    """

    def collect(self, queries: Sequence[str], k: int) -> Collected:
        """What the parts find when each gives its k best entries, and the place that each gives them."""
        found = self._found(queries, k)
        rows = union([hits.rows for hits in found.values()])
        return Collected(
            rows,
            values={name: look_up(hits.rows, _by_rank(hits.rows), rows)[0] for name, hits in found.items()},
            scores={name: look_up(hits.rows, hits.scores, rows)[0] for name, hits in found.items()},
        )


def _by_rank(rows: Rows) -> Scores:
    ranks = np.arange(1, rows.shape[1] + 1, dtype=np.float32)
    return np.where(rows == NONE, np.float32(0), (_DAMPING + 1) / (_DAMPING + ranks)).astype(np.float32)
