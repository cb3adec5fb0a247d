"""Hybrid search: several searches over the same entries, joined by the weighted mean of their scores."""

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

from nymlink.index.fusion.hits import NONE, Hits, Rows, Scores, Searcher, best

_FEWEST_FOR_THREADS: Final = 16
"""For fewer queries, starting threads takes longer than it saves."""


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
        """Remove rows of entries from the hits of each query; those that remain move up.

        Args:
            excluded: for each of the Q queries, rows.
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
        rows: int32 (Q, m): distinct rows of each query, ascending, :data:`NONE` where there are fewer.
        values: search → values that its weight multiplies: float32 (Q, m).
        scores: search → its scores: float32 (Q, m).
    """

    rows: Rows
    values: Mapping[str, Scores]
    scores: Mapping[str, Scores]


class HybridSearch:
    """Search with every part, then score all entries that any of them found with all parts.

    The total is the weighted mean of the parts' scores: an entry that is best in every part has score 1.

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
        hits = best(collected.rows, weighted_sum(collected.values, self.weights), k)
        parts = {name: look_up(collected.rows, scores, hits.rows)[0] for name, scores in collected.scores.items()}
        return ScoredHits(hits, parts)

    def collect(self, queries: Sequence[str], k: int) -> UnweightedHits:
        """Find the k best entries of each part, and score all of them with every part."""
        hits_of_part = self._search_parts(queries, k)
        rows = distinct_rows([hits.rows for hits in hits_of_part.values()])
        scores = {name: self._scores(name, queries, rows, hits) for name, hits in hits_of_part.items()}
        return UnweightedHits(rows, values=scores, scores=scores)

    def _search_parts(self, queries: Sequence[str], k: int) -> dict[str, Hits]:
        """Search with each part; for many queries in threads: one waits for memory while another computes."""
        searches = [partial(part.search, queries, k) for part in self.parts.values()]
        if len(queries) < _FEWEST_FOR_THREADS:
            return dict(zip(self.parts, [search() for search in searches], strict=True))
        with ThreadPoolExecutor(len(searches)) as pool:
            # Each in the context of this thread, so that truncation counts are collected there.
            waiting = [pool.submit(copy_context().run, search) for search in searches]
            return dict(zip(self.parts, [each.result() for each in waiting], strict=True))

    def _scores(self, name: str, queries: Sequence[str], rows: Rows, hits: Hits) -> Scores:
        """Score rows with one part: its own hits have scores already, only the others are computed."""
        scores, known = look_up(hits.rows, hits.scores, rows)
        unknown = np.where(known, np.int32(NONE), rows)
        wanted = np.flatnonzero((unknown != NONE).any(axis=1)).tolist()
        if wanted:
            scores[wanted] += self.parts[name].score([queries[place] for place in wanted], unknown[wanted])
        return scores


def weighted_sum(values: Mapping[str, Scores], weights: Mapping[str, float]) -> Scores:
    """Add up the weighted values of searches, in their order: float32 (Q, m), as each of them."""
    total = np.zeros_like(next(iter(values.values())))
    for name, own in values.items():
        total += np.float32(weights[name]) * own
    return total


def normalise_weights(parts: Collection[str], weights: Mapping[str, float]) -> Mapping[str, float]:
    """Scale the weights of searches to a sum of 1; unchanged where they have it, but for rounding.

    Raises:
        ValueError: they are not of these searches, not numbers, below 0, or all 0.
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
    """Unite the rows of searches: distinct for each query, ascending, :data:`NONE` where there are fewer."""
    rows = np.sort(np.concatenate(parts, axis=1), axis=1)
    rows[:, 1:][rows[:, 1:] == rows[:, :-1]] = NONE
    return rows


def look_up(rows: Rows, scores: Scores, wanted: Rows) -> tuple[Scores, npt.NDArray[np.bool_]]:
    """Look up the scores of wanted rows among rows with scores.

    Args:
        rows: int32 (Q, k).
        scores: float32 (Q, k): their scores.
        wanted: int32 (Q, m).

    Returns:
        float32 (Q, m): the scores, 0 for :data:`NONE` and for rows that are not among those given; bool (Q, m):
        which rows are.
    """
    order = np.argsort(rows, axis=1)
    # Keys that ascend over the whole flattened array, so that one binary search serves all queries.
    step = np.int64(max(int(rows.max(initial=0)), int(wanted.max(initial=0))) + 2)
    offsets = np.arange(len(rows), dtype=np.int64)[:, None] * step + 1
    given = (np.take_along_axis(rows, order, 1) + offsets).ravel()
    keys = (wanted + offsets).ravel()
    places = np.minimum(np.searchsorted(given, keys), max(len(given) - 1, 0))
    known = (given[places] == keys).reshape(wanted.shape) & (wanted != NONE)
    found = np.take_along_axis(scores, order, 1).ravel()[places].reshape(wanted.shape)
    return np.where(known, found, np.float32(0)), known
