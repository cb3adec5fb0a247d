"""Hits, which are the result of a search, and the protocol of searches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from nymlink.core.store.arrays import Bools, Ints

Rows = npt.NDArray[np.int32]
Scores = npt.NDArray[np.float32]

NONE: Final = -1
"""Value that stands for no row. It fills the places after the last hit of a query."""


@dataclass(frozen=True, slots=True)
class Hits:
    """The best entries of Q queries, best first.

    Attributes:
        rows: int32 (Q, k): entry rows; :data:`NONE` after the last hit of a query.
        scores: float32 (Q, k): scores, larger is better; 0 where there is no hit.
    """

    rows: Rows
    scores: Scores

    def __post_init__(self) -> None:
        if self.rows.shape != self.scores.shape or self.rows.ndim != 2:
            raise ValueError(f"rows {self.rows.shape} and scores {self.scores.shape} must be the same (Q, k)")


class Searcher(Protocol):
    """A search over the entries of an index. Queries are prepared texts, like the entries.

    Several threads may search at the same time.
    """

    def search(self, queries: Sequence[str], k: int) -> Hits:
        """Find the k best entries of each query, in descending order of scores.

        Ties are in ascending order of rows.
        """
        ...

    def score(self, queries: Sequence[str], rows: Rows) -> Scores:
        """Score given entries as :meth:`search` would.

        Args:
            queries: Q texts.
            rows: int32 (Q, m): entry rows, :data:`NONE` allowed.

        Returns:
            float32 (Q, m): 0 for :data:`NONE`.
        """
        ...


class NameSearcher(Searcher, Protocol):
    """A search that can be restricted to some entries."""

    def restricted(self, allowed: Bools) -> NameSearcher:
        """Search some entries only, given as bool (E), with the same scores; others are never hits."""
        ...


def best(rows: Rows, scores: Scores, k: int) -> Hits:
    """Select the k best of the given entries of each query, in the order of :meth:`Searcher.search`.

    Args:
        rows: int32 (Q, m): entry rows, :data:`NONE` allowed.
        scores: float32 (Q, m): their scores.
        k: number of hits per query.
    """
    return best_places(rows, scores, k)[0]


def best_places(rows: Rows, scores: Scores, k: int) -> tuple[Hits, Ints]:
    """Select the k best entries like :func:`best`, and tell their places: int64 (Q, at most k).

    Scores are compared to six decimals, so that rounding errors do not decide the order of ties.

    Args:
        rows: int32 (Q, m): entry rows, :data:`NONE` allowed.
        scores: float32 (Q, m): their scores.
        k: number of hits per query.
    """
    absent = rows == NONE
    keys = np.where(absent, -np.inf, np.round(scores.astype(np.float64), 6))
    order = np.lexsort((rows, -keys), axis=-1)[:, :k]
    queries = np.arange(len(rows))[:, None]
    chosen, values = rows[queries, order], scores[queries, order]
    hits = Hits(chosen, np.where(chosen == NONE, np.float32(0), values))
    if hits.rows.shape[1] < k:
        missing = ((0, 0), (0, k - hits.rows.shape[1]))
        hits = Hits(np.pad(hits.rows, missing, constant_values=NONE), np.pad(hits.scores, missing))
    return hits, order


def best_of(query_numbers: npt.NDArray[np.int64], rows: Rows, scores: Scores, *, queries: int, k: int) -> Hits:
    """Select the k best entries of each query like :func:`best`, from pairs of queries and entries.

    Args:
        query_numbers: int (n), ascending: the query of each pair.
        rows: int32 (n): the entry of each pair.
        scores: float32 (n): the score of each pair.
        queries: Q, number of queries.
        k: number of hits per query.
    """
    order = np.lexsort((rows, -np.round(scores.astype(np.float64), 6), query_numbers))
    ranks = np.arange(len(order)) - np.searchsorted(query_numbers, query_numbers)
    at = (query_numbers[ranks < k], ranks[ranks < k])
    hits = Hits(np.full((queries, k), NONE, np.int32), np.zeros((queries, k), np.float32))
    hits.rows[at], hits.scores[at] = rows[order][ranks < k], scores[order][ranks < k]
    return hits
