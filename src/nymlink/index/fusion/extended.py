"""A search over the entries of an index and over some that were added to them, as one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nymlink.index.fusion.hits import NONE, Hits, Rows, Scores, Searcher, best


class ExtendedSearch:
    """Search entries in two parts, whose scores can be compared.

    Args:
        whole: search over the entries that there were.
        added: search over those that were added.
        whole_rows: int32: the row that each entry of the first has now; :data:`NONE` where it has none.
        added_rows: int32: the row that each entry of the second has now.

    Attributes:
        encoder: of the first search, if it has one.
    """

    def __init__(self, whole: Searcher, added: Searcher, whole_rows: Rows, added_rows: Rows) -> None:
        self._parts = ((whole, whole_rows), (added, added_rows))
        self.encoder: Any = getattr(whole, "encoder", None)
        count = 1 + max(whole_rows.max(initial=NONE), added_rows.max(initial=NONE))
        self._places = [_inverse(rows, count) for _, rows in self._parts]

    def search(self, queries: Sequence[str], k: int) -> Hits:
        """Find the k best entries of each query; see :class:`~nymlink.index.fusion.hits.Searcher`."""
        found = [
            Hits(_moved(hits.rows, rows), hits.scores)
            for part, rows in self._parts
            for hits in (part.search(queries, min(k, len(rows))),)
        ]
        return best(
            np.concatenate([hits.rows for hits in found], axis=1),
            np.concatenate([hits.scores for hits in found], axis=1),
            k,
        )

    def score(self, queries: Sequence[str], rows: Rows) -> Scores:
        """Score given entries; see :class:`~nymlink.index.fusion.hits.Searcher`."""
        scores = np.zeros(rows.shape, np.float32)
        for (part, _), places in zip(self._parts, self._places, strict=True):
            scores += part.score(queries, _moved(rows, places))
        return scores


def _inverse(rows: Rows, count: int) -> Rows:
    """Find the place of each row; :data:`NONE` where it has none: int32 (count)."""
    places = np.full(count, NONE, np.int32)
    there = np.flatnonzero(rows != NONE)
    places[rows[there]] = there
    return places


def _moved(rows: Rows, to: Rows) -> Rows:
    """Replace rows by those they lead to; :data:`NONE` stays."""
    if not len(to):
        return np.full(rows.shape, NONE, np.int32)
    moved: Rows = np.where(rows == NONE, np.int32(NONE), to[rows])
    return moved
