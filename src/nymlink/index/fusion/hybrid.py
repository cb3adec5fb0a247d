"""Hybrid search: several searches over the same entries, their scores added up with weights."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from math import isclose, isfinite
from types import MappingProxyType
from typing import Final

import numpy as np
import numpy.typing as npt

from nymlink.index.fusion.hits import NONE, Hits, Rows, Scores, Searcher, best

_TOGETHER: Final = 16
"""Fewer queries are searched for sooner than threads for them are started."""


@dataclass(frozen=True, slots=True)
class ScoredHits:
    """Hits with the parts that their scores are made of.

    Attributes:
        hits: rows and total scores, (Q, k).
        parts: for each search its own, unweighted scores: float32 (Q, k).
    """

    hits: Hits
    parts: Mapping[str, Scores]


@dataclass(frozen=True, slots=True)
class Collected:
    """All that any part found, before anything is weighted.

    Attributes:
        rows: int32 (Q, m): distinct rows of each query, ascending, :data:`NONE` where there are fewer.
        values: for each search what its weight multiplies: float32 (Q, m).
        scores: for each search its own scores: float32 (Q, m).
    """

    rows: Rows
    values: Mapping[str, Scores]
    scores: Mapping[str, Scores]


class HybridSearch:
    """Searches with every part, then scores all that any of them found with all of them.

    The total is the mean of the parts' scores, each weighted: an entry that is best in every part has score 1.

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
        """The k best entries of each query by total score, with the parts of each score."""
        found = self.collect(queries, k)
        hits = best(found.rows, total(found.values, self.weights), k)
        parts = {name: look_up(found.rows, scores, hits.rows)[0] for name, scores in found.scores.items()}
        return ScoredHits(hits, parts)

    def collect(self, queries: Sequence[str], k: int) -> Collected:
        """What the parts find when each gives its k best entries, and what each says of all of them."""
        found = self._found(queries, k)
        rows = union([hits.rows for hits in found.values()])
        scores = {name: self._scores(name, queries, rows, hits) for name, hits in found.items()}
        return Collected(rows, values=scores, scores=scores)

    def _found(self, queries: Sequence[str], k: int) -> dict[str, Hits]:
        """What each part finds; for many queries all at once: where one follows addresses, another multiplies."""
        searches = [partial(part.search, queries, k) for part in self.parts.values()]
        if len(queries) < _TOGETHER:
            return dict(zip(self.parts, [search() for search in searches], strict=True))
        with ThreadPoolExecutor(len(searches)) as pool:
            # Each in the context of this thread: whoever collects what encoders cut goes on doing so.
            waiting = [pool.submit(copy_context().run, search) for search in searches]
            return dict(zip(self.parts, [each.result() for each in waiting], strict=True))

    def _scores(self, name: str, queries: Sequence[str], rows: Rows, hits: Hits) -> Scores:
        """The scores of one part: its own hits' are known, only the others' are computed."""
        scores, known = look_up(hits.rows, hits.scores, rows)
        unknown = np.where(known, np.int32(NONE), rows)
        wanted = np.flatnonzero((unknown != NONE).any(axis=1)).tolist()
        if wanted:
            scores[wanted] += self.parts[name].score([queries[place] for place in wanted], unknown[wanted])
        return scores


def total(values: Mapping[str, Scores], weights: Mapping[str, float]) -> Scores:
    """The weighted sum of the values of searches, added up in their order: float32 (Q, m) as each of them."""
    found = np.zeros_like(next(iter(values.values())))
    for name, own in values.items():
        found += np.float32(weights[name]) * own
    return found


def shares(parts: Collection[str], weights: Mapping[str, float]) -> Mapping[str, float]:
    """The weights of searches, scaled to a sum of 1; those that have it, but for rounding, are left as they are.

    Raises:
        ValueError: they are not for these searches, or not numbers, or below 0, or all 0.
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


def union(parts: Sequence[Rows]) -> Rows:
    """The distinct rows of each query, ascending, :data:`NONE` where there are fewer."""
    rows = np.sort(np.concatenate(parts, axis=1), axis=1)
    rows[:, 1:][rows[:, 1:] == rows[:, :-1]] = NONE
    return rows


def look_up(rows: Rows, scores: Scores, wanted: Rows) -> tuple[Scores, npt.NDArray[np.bool_]]:
    """The scores of ``wanted`` rows, given the scores of ``rows``, and which of them those are.

    Shapes are (Q, k) for the given and (Q, m) for the wanted; no score is given (and 0 returned) for
    :data:`NONE` and for rows that are not among those given.
    """
    order = np.argsort(rows, axis=1)
    # Keys that rise over the whole flattened array, so that one binary search serves all queries.
    step = np.int64(max(int(rows.max(initial=0)), int(wanted.max(initial=0))) + 2)
    lifts = np.arange(len(rows), dtype=np.int64)[:, None] * step + 1
    given = (np.take_along_axis(rows, order, 1) + lifts).ravel()
    keys = (wanted + lifts).ravel()
    places = np.minimum(np.searchsorted(given, keys), max(len(given) - 1, 0))
    known = (given[places] == keys).reshape(wanted.shape) & (wanted != NONE)
    found = np.take_along_axis(scores, order, 1).ravel()[places].reshape(wanted.shape)
    return np.where(known, found, np.float32(0)), known
