"""Fusion of the hits of several searches.

Cormack, Clarke & Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods"
(SIGIR 2009).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from math import isclose, isfinite
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from nymlink.core.errors import InputError, UnknownNameError
from nymlink.core.json_files import member
from nymlink.core.store.arrays import Bools
from nymlink.index.entries.entries import Entries
from nymlink.index.hits import NONE, Hits, NameSearcher, Rows, Scores, Searcher, best, best_places


class ExactSearch:
    """Search that finds the entry that equals the query. Its score is 1."""

    def __init__(self, entries: Entries) -> None:
        self._entries = entries

    def search(self, queries: Sequence[str], k: int) -> Hits:
        """Find the entry that equals each query, if there is one; see :class:`~nymlink.index.hits.Searcher`."""
        rows = np.full((len(queries), k), NONE, np.int32)
        rows[:, :1] = self._equal(queries)
        return Hits(rows, (rows != NONE).astype(np.float32))

    def score(self, queries: Sequence[str], rows: Rows) -> Scores:
        """Score given entries: 1 for the entry that equals the query, 0 for other entries."""
        equal = self._equal(queries)
        scores: Scores = ((rows == equal) & (equal != NONE)).astype(np.float32)
        return scores

    def _equal(self, queries: Sequence[str]) -> Rows:
        return self._entries.find_all(queries).reshape(-1, 1)


_FEWEST_FOR_THREADS: Final = 16
"""Smallest number of queries that are searched in threads.

For fewer queries, starting threads takes longer than it saves.
"""


@dataclass(frozen=True, slots=True)
class ScoredHits:
    """Hits with the scores of each search.

    Attributes:
        hits: rows and total scores, (Q, k).
        parts: search → its unweighted scores: float32 (Q, k).
    """

    hits: Hits
    parts: Mapping[str, Scores]

    def without(self, excluded: Sequence[Collection[int]]) -> ScoredHits:
        """Remove rows of entries from the hits of each query. Later hits move up.

        Args:
            excluded: the rows to remove, for each of the Q queries.
        """
        rows = self.hits.rows
        removed = np.array([np.isin(own, list(gone)) for own, gone in zip(rows, excluded, strict=True)], bool)
        removed = removed.reshape(rows.shape)
        order = np.argsort(removed, axis=1, kind="stable")

        def remaining(values: npt.NDArray[Any], empty: float) -> npt.NDArray[Any]:
            return np.take_along_axis(np.where(removed, np.asarray(empty, values.dtype), values), order, 1)

        hits = Hits(remaining(rows, NONE), remaining(self.hits.scores, 0))
        return ScoredHits(hits, {name: remaining(scores, 0) for name, scores in self.parts.items()})


@dataclass(frozen=True, slots=True)
class UnweightedHits:
    """The hits of all searches together, before they are weighted.

    Attributes:
        rows: int32 (Q, m): distinct rows of each query, ascending. Places without a row have :data:`NONE`.
        values: search → values that are multiplied by the weight of the search: float32 (Q, m).
        scores: search → its scores: float32 (Q, m).
    """

    rows: Rows
    values: Mapping[str, Scores]
    scores: Mapping[str, Scores]


class HybridSearch:
    """Joins several searches, called its parts.

    It searches with each part, then scores all entries found with all parts.

    The total score is the weighted mean of the parts' scores. An entry that has the best possible score in every
    part has the total score 1.

    Args:
        parts: name → search.
        weights: name → weight, at least 0, not all 0.

    Raises:
        ValueError: the names differ, or the weights are below 0 or all 0.
    """

    def __init__(self, parts: Mapping[str, Searcher], weights: Mapping[str, float]) -> None:
        self.parts = MappingProxyType(dict(parts))
        self.weights = normalise_weights(parts, weights)

    def search(self, queries: Sequence[str], k: int) -> ScoredHits:
        """Find the k best entries of each query by total score, with the scores of each part."""
        collected = self.collect(queries, k)
        hits, order = best_places(collected.rows, weighted_sum(collected.values, self.weights), k)
        parts = {name: np.zeros(hits.rows.shape, np.float32) for name in collected.scores}
        for name, scores in collected.scores.items():
            parts[name][:, : order.shape[1]] = scores[np.arange(len(order))[:, None], order]
        return ScoredHits(hits, parts)

    def collect(self, queries: Sequence[str], k: int) -> UnweightedHits:
        """Find the k best entries of each part, and score all of them with every part."""
        hits_of_part = self._search_parts(queries, k)
        rows, found = united(list(hits_of_part.values()))
        scores = {
            name: self._scores(name, queries, rows, *own) for name, own in zip(hits_of_part, found, strict=True)
        }
        if EXACT_MATCH in scores:
            equal = scores[EXACT_MATCH] == 1
            # An equal name scores 1 in all searches, even if a search has rounded its score down.
            scores = {name: np.where(equal, np.float32(1), values) for name, values in scores.items()}
        return UnweightedHits(rows, values=scores, scores=scores)

    def _search_parts(self, queries: Sequence[str], k: int) -> dict[str, Hits]:
        """Search with each part.

        Many queries are searched in threads: one part waits for memory while another computes.
        """
        searches = [partial(part.search, queries, k) for part in self.parts.values()]
        if len(queries) < _FEWEST_FOR_THREADS:
            return dict(zip(self.parts, [search() for search in searches], strict=True))
        with ThreadPoolExecutor(len(searches)) as pool:
            # Run each search in the context of this thread, so that truncation counts are collected there.
            waiting = [pool.submit(copy_context().run, search) for search in searches]
            return dict(zip(self.parts, [each.result() for each in waiting], strict=True))

    def _scores(self, name: str, queries: Sequence[str], rows: Rows, scores: Scores, known: Bools) -> Scores:
        """Score rows with one part. Scores are computed only for rows that are not known from its hits."""
        unknown = np.where(known, np.int32(NONE), rows)
        wanted = np.flatnonzero((unknown != NONE).any(axis=1)).tolist()
        if wanted:
            scores[wanted] += self.parts[name].score([queries[place] for place in wanted], unknown[wanted])
        return scores


def weighted_sum(values: Mapping[str, Scores], weights: Mapping[str, float]) -> Scores:
    """Add up the values of searches, each times its weight, in the order of the searches: float32 (Q, m)."""
    total = np.zeros_like(next(iter(values.values())))
    for name, own in values.items():
        total += np.float32(weights[name]) * own
    return total


def normalise_weights(parts: Collection[str], weights: Mapping[str, float]) -> Mapping[str, float]:
    """Scale the weights of searches to a sum of 1.

    Weights whose sum is already 1, except for rounding, do not change.

    Raises:
        ValueError: the weights are for other searches, are not numbers, are below 0, or are all 0.
    """
    if set(parts) != set(weights):
        raise ValueError(f"weights are for {sorted(weights)}, but the searches are {sorted(parts)}")
    if not all(isinstance(weight, int | float) for weight in weights.values()):
        raise ValueError(f"weights must be numbers: {dict(weights)}")
    total = sum(weights.values())
    if not isfinite(total) or min(weights.values()) < 0 or total <= 0:
        raise ValueError(f"weights must be at least 0 and not all 0: {dict(weights)}")
    scale = 1 if isclose(total, 1) else total
    return MappingProxyType({name: weights[name] / scale for name in parts})


def distinct_rows(parts: Sequence[Rows]) -> Rows:
    """Unite the rows that searches found for each query.

    The rows are distinct, and places without a row have :data:`NONE`.
    """
    rows = np.sort(np.concatenate(parts, axis=1), axis=1)
    rows[:, 1:][rows[:, 1:] == rows[:, :-1]] = NONE
    return rows


def united(hits: Sequence[Hits]) -> tuple[Rows, list[tuple[Scores, Bools]]]:
    """Unite the rows that searches found for each query, like :func:`distinct_rows`, with their scores.

    Returns:
        int32 (Q, m): the rows; for each search, float32 (Q, m): its scores, 0 for rows that it did not find, and
        bool (Q, m): whether it found the row.
    """
    # Leave out columns without any hit: the search for equal names has at most one hit.
    widths = [int((each.rows != NONE).any(axis=0).sum()) for each in hits]
    given = np.concatenate([each.rows[:, :width] for each, width in zip(hits, widths, strict=True)], axis=1)
    order, queries = np.argsort(given, axis=1, kind="stable"), np.arange(len(given))[:, None]
    rows = given[queries, order]
    new = np.ones(rows.shape, bool)
    new[:, 1:] = rows[:, 1:] != rows[:, :-1]
    first = np.maximum.accumulate(np.where(new, np.arange(rows.shape[1]), 0), axis=1)
    place = np.empty_like(order)
    place[queries, order] = first
    rows[~new] = NONE
    found, start = [], 0
    for each, width in zip(hits, widths, strict=True):
        scores, known = np.zeros(rows.shape, np.float32), np.zeros(rows.shape, bool)
        own = place[:, start : start + width]
        scores[queries, own] = each.scores[:, :width]
        known[queries, own] = True
        found.append((scores, known & (rows != NONE)))
        start += width
    return rows, found


def look_up(rows: Rows, scores: Scores, wanted: Rows) -> tuple[Scores, npt.NDArray[np.bool_]]:
    """Look up the scores of wanted rows among rows with scores.

    Args:
        rows: int32 (Q, k).
        scores: float32 (Q, k): their scores.
        wanted: int32 (Q, m).

    Returns:
        float32 (Q, m): the scores, 0 for :data:`NONE` and for rows that are not there; bool (Q, m): whether the
        row was found.
    """
    order = np.argsort(rows, axis=1)
    # Make keys that ascend over the whole flattened array, so that one binary search serves all queries.
    step = np.int64(max(int(rows.max(initial=0)), int(wanted.max(initial=0))) + 2)
    offsets = np.arange(len(rows), dtype=np.int64)[:, None] * step + 1
    given = (np.take_along_axis(rows, order, 1) + offsets).ravel()
    keys = (wanted + offsets).ravel()
    places = np.minimum(np.searchsorted(given, keys), max(len(given) - 1, 0))
    known = (given[places] == keys).reshape(wanted.shape) & (wanted != NONE)
    found = np.take_along_axis(scores, order, 1).ravel()[places].reshape(wanted.shape)
    return np.where(known, found, np.float32(0)), known


_DAMPING: Final = 60
"""The constant k of the paper's formula, with the value of the paper."""


class ReciprocalRankSearch(HybridSearch):
    """Joins searches by ranks. The score of a hit is the weighted mean over the parts of 61 / (60 + rank).

    An entry that is first in every part has score 1. A part that did not find an entry adds 0, and reports 0 as
    its score part.

    Args:
        parts: name → search.
        weights: name → weight, at least 0, not all 0. In the paper, all weights are equal.

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


EXACT_MATCH: Final = "exact"
"""Name of the search for the entry that equals the query."""

DENSE: Final = "dense"
"""Name of dense search. Searches of other names are sparse."""

WEIGHTED: Final = "weighted"

METHODS: Final[Mapping[str, type[HybridSearch]]] = MappingProxyType(
    {WEIGHTED: HybridSearch, "reciprocal-rank": ReciprocalRankSearch}
)

_EXACT_WEIGHT: Final = 0.1
"""Weight of exact search.

It is large enough to rank an equal name first, and so small that a score still measures similarity.
"""

_SPARSE_WEIGHT: Final = 0.15
"""Weight of sparse search if there is dense search too.

It was chosen for nymlink-mini on training and development sets, see docs/howto/searching.md.
"""


@dataclass(frozen=True, slots=True)
class Fusion:
    """A method of joining searches, and the weights of the searches.

    Attributes:
        method: one of :data:`METHODS`.
        weights: search → weight; they sum to 1.
    """

    method: str
    weights: Mapping[str, float]

    @classmethod
    def of(
        cls, parts: Collection[str], method: str = WEIGHTED, weights: Mapping[str, float] | None = None
    ) -> Fusion:
        """Make the fusion of some searches.

        Args:
            parts: the names of the searches.
            method: one of :data:`METHODS`.
            weights: search → weight; searches that are not named get 0. If ``None``, ``"weighted"`` takes weights
                chosen on development sets (exact 0.1, sparse 0.15, dense 0.75), and ``"reciprocal-rank"`` takes
                equal weights, as in the paper.

        Raises:
            UnknownNameError: there is no such method, or no such search.
            InputError: the weights are not numbers, below 0, or all 0.
        """
        if method not in METHODS:
            raise UnknownNameError(f"unknown fusion {method!r}; known: {', '.join(METHODS)}")
        if weights is None:
            weights = _default_weights(parts) if method == WEIGHTED else dict.fromkeys(parts, 1.0)
        unknown = weights.keys() - set(parts)
        if unknown:
            raise UnknownNameError(
                f"no search {', '.join(sorted(unknown))} in this index; it has: {', '.join(parts)}"
            )
        try:
            return cls(method, normalise_weights(parts, dict.fromkeys(parts, 0.0) | dict(weights)))
        except ValueError as error:
            raise InputError(str(error)) from error

    def join(self, parts: Mapping[str, Searcher]) -> HybridSearch:
        """Join searches into one search."""
        return METHODS[self.method](parts, self.weights)

    def to_dict(self) -> dict[str, Any]:
        return {"method": self.method, "weights": dict(self.weights)}

    @classmethod
    def from_dict(cls, value: Mapping[str, Any], parts: Collection[str]) -> Fusion:
        """Read the result of :meth:`to_dict`.

        Raises:
            ValueError: there is no such method; the weights are for other searches, below 0 or all 0; or something
                is missing.
        """
        method, weights = member(value, "method", str), member(value, "weights", dict)
        if method not in METHODS:
            raise ValueError(f"unknown fusion {method!r}")
        return cls(method, normalise_weights(parts, weights))


def _default_weights(parts: Collection[str]) -> dict[str, float]:
    sparse = [name for name in parts if name not in (EXACT_MATCH, DENSE)]
    sparse_weight = _SPARSE_WEIGHT if DENSE in parts else 1 - _EXACT_WEIGHT
    weights = {EXACT_MATCH: _EXACT_WEIGHT} | {name: sparse_weight / len(sparse) for name in sparse}
    return weights | ({DENSE: 1 - sum(weights.values())} if DENSE in parts else {})


class ExtendedSearch:
    """Searches entries in two parts, original and added, whose scores are comparable.

    Args:
        whole: search over the original entries.
        added: search over the added entries.
        whole_rows: int32: the present row of each original entry; :data:`NONE` if it has none.
        added_rows: int32: the present row of each added entry.

    Attributes:
        encoder: the encoder of the first search, if it has one.
    """

    def __init__(self, whole: NameSearcher, added: NameSearcher, whole_rows: Rows, added_rows: Rows) -> None:
        self._parts = ((whole, whole_rows), (added, added_rows))
        self.encoder: Any = getattr(whole, "encoder", None)
        count = 1 + max(whole_rows.max(initial=NONE), added_rows.max(initial=NONE))
        self._places = [_inverse(rows, count) for _, rows in self._parts]

    def search(self, queries: Sequence[str], k: int) -> Hits:
        """Find the k best entries of each query; see :class:`~nymlink.index.hits.Searcher`."""
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

    def restricted(self, allowed: Bools) -> ExtendedSearch:
        """Search some entries only, given as bool (E)."""

        def own(part: NameSearcher, rows: Rows) -> NameSearcher:
            return part.restricted((rows != NONE) & allowed[rows])

        (whole, whole_rows), (added, added_rows) = self._parts
        return ExtendedSearch(own(whole, whole_rows), own(added, added_rows), whole_rows, added_rows)

    def score(self, queries: Sequence[str], rows: Rows) -> Scores:
        """Score given entries; see :class:`~nymlink.index.hits.Searcher`."""
        scores = np.zeros(rows.shape, np.float32)
        for (part, _), places in zip(self._parts, self._places, strict=True):
            scores += part.score(queries, _moved(rows, places))
        return scores


def _inverse(rows: Rows, count: int) -> Rows:
    """Find the place of each row from 0 to ``count - 1``: int32 (count), :data:`NONE` for rows without a place."""
    places = np.full(count, NONE, np.int32)
    there = np.flatnonzero(rows != NONE)
    places[rows[there]] = there
    return places


def _moved(rows: Rows, to: Rows) -> Rows:
    """Replace each row by the row that it moves to. :data:`NONE` stays."""
    if not len(to):
        return np.full(rows.shape, NONE, np.int32)
    moved: Rows = np.where(rows == NONE, np.int32(NONE), to[rows])
    return moved
