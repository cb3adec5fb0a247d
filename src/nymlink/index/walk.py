"""From entries to concepts: entries are walked by falling score until k distinct concepts are found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from nymlink.index.entries.entries import Entries
from nymlink.index.fusion.hits import NONE, Rows, Scores
from nymlink.index.fusion.hybrid import HybridSearch, ScoredHits

_BLOCK: Final = 1024
"""Queries searched in one go: bounds the memory of their hits."""

_SHALLOWEST: Final = 40
"""Entries walked at least: what comes first, and how sure it is, must not depend on how many one asks to see. Of
the mentions of NCBI disease and BC5CDR one in a hundred has too few concepts among so many names of MEDIC and is
searched for again, one in thirty among half as many."""


@dataclass(frozen=True, slots=True)
class Matches:
    """The best concepts of Q queries, best first, each with the name that matched.

    Attributes:
        concepts: int32 (Q, k): concept rows of the vocabulary, distinct in a query;
            :data:`~nymlink.index.fusion.hits.NONE` after the last.
        names: int32 (Q, k): the name row that matched (of the concept's names with these words the surest).
        scores: float32 (Q, k): total similarity, 1 for the best possible; 0 where there is no concept.
        parts: for each search its own, unweighted scores: float32 (Q, k).
    """

    concepts: Rows
    names: Rows
    scores: Scores
    parts: Mapping[str, Scores]


def match(search: HybridSearch, entries: Entries, owners: Rows, queries: Sequence[str], k: int) -> Matches:
    """The k best distinct concepts of each query.

    Of the concepts that share an entry, those that it names more surely come first (see
    :data:`~nymlink.vocabulary.model.KINDS`), then those earlier in the vocabulary. A blank query, and one that is
    like no name, has none.

    Args:
        search: finds the entries.
        entries: E entries.
        owners: int32 (N): the concept row of each name row.
        queries: Q prepared texts.
        k: how many concepts, at least 1.
    """
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    depth = max(3 * k + 5, _SHALLOWEST)
    blocks = [
        _match(search, entries, owners, queries[start : start + _BLOCK], k, depth=depth)
        for start in range(0, max(len(queries), 1), _BLOCK)
    ]
    return Matches(
        concepts=np.concatenate([block.concepts for block in blocks]),
        names=np.concatenate([block.names for block in blocks]),
        scores=np.concatenate([block.scores for block in blocks]),
        parts={name: np.concatenate([block.parts[name] for block in blocks]) for name in search.parts},
    )


def _match(
    search: HybridSearch, entries: Entries, owners: Rows, queries: Sequence[str], k: int, *, depth: int
) -> Matches:
    """Walk ``depth`` entries; the queries for which that is not enough are asked again, four times as deep."""
    # One more than there are: the last is none, and says that all were walked.
    found = search.search(queries, min(depth, len(entries) + 1))
    matches = _walk(found, entries, owners, k)
    short = ((matches.concepts[:, -1] == NONE) & (found.hits.rows[:, -1] != NONE)).nonzero()[0].tolist()
    if short:
        deeper = _match(search, entries, owners, [queries[place] for place in short], k, depth=4 * depth)
        matches.concepts[short], matches.names[short] = deeper.concepts, deeper.names
        matches.scores[short] = deeper.scores
        for name, scores in matches.parts.items():
            scores[short] = deeper.parts[name]
    return matches


def _walk(found: ScoredHits, entries: Entries, owners: Rows, k: int) -> Matches:
    queries, places = np.nonzero(found.hits.rows != NONE)
    rows = found.hits.rows[queries, places]
    # One line for every name of every entry that was hit, in the order of the walk.
    counts = entries.offsets[rows + 1] - entries.offsets[rows]
    line = np.repeat(np.arange(len(rows)), counts)
    within = np.arange(len(line)) - np.repeat(np.cumsum(counts) - counts, counts)
    names = entries.names[entries.offsets[rows][line] + within]
    concepts = owners[names]
    # Of the lines of one query and concept, which are one number here, the first.
    _, first = np.unique(queries[line] * (np.int64(concepts.max(initial=0)) + 1) + concepts, return_index=True)
    first.sort()
    query = queries[line[first]]
    rank = _rank_in_group(query)
    first, query, rank = first[rank < k], query[rank < k], rank[rank < k]
    shape = (len(found.hits.rows), k)
    at = (query, rank)
    hit = (query, places[line[first]])
    return Matches(
        concepts=_fill(shape, at, concepts[first], np.int32(NONE)),
        names=_fill(shape, at, names[first], np.int32(NONE)),
        scores=_fill(shape, at, found.hits.scores[hit], np.float32(0)),
        parts={name: _fill(shape, at, scores[hit], np.float32(0)) for name, scores in found.parts.items()},
    )


def _rank_in_group(groups: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """0, 1, 2 … within each run of equal values of an ascending array."""
    starts = np.searchsorted(groups, groups, side="left")
    ranks: npt.NDArray[np.int64] = np.arange(len(groups)) - starts
    return ranks


def _fill(
    shape: tuple[int, int],
    at: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]],
    values: npt.NDArray[Any],
    empty: Any,
) -> npt.NDArray[Any]:
    filled = np.full(shape, empty)
    filled[at] = values
    return filled
