"""Exact nearest neighbour search by matrix products of blocks."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from nymlink.core.store.arrays import HalfVectors, Vectors, as_float32
from nymlink.index.fusion.hits import NONE, Hits, Rows, Scores

StoredVectors = HalfVectors | Vectors

_QUERIES: Final = 512
_VECTORS: Final = 8192
"""A block of similarities is 512 × 8,192 float32, 16 MB: small beside the vectors."""


def nearest(queries: Vectors, vectors: StoredVectors, k: int) -> Hits:
    """Find the k vectors of largest inner product with each query, best first; ties by ascending row.

    The whole similarity matrix is never made: of each block only what exceeds the k-th best so far is kept. Stored
    vectors are read once for every 512 queries, from the mapped file, and converted to float32 a block at a time.

    Args:
        queries: float32 (Q, D).
        vectors: float16 or float32 (E, D).
        k: how many, at least 1.

    Raises:
        ValueError: the queries and the vectors differ in width.
    """
    if queries.shape[1:] != vectors.shape[1:]:
        raise ValueError(f"queries {queries.shape} and vectors {vectors.shape} differ in width")
    blocks = [
        _nearest(queries[start : start + _QUERIES], vectors, k) for start in range(0, len(queries), _QUERIES)
    ]
    if not blocks:
        return Hits(np.zeros((0, k), np.int32), np.zeros((0, k), np.float32))
    return Hits(np.concatenate([hits.rows for hits in blocks]), np.concatenate([hits.scores for hits in blocks]))


def _nearest(queries: Vectors, vectors: StoredVectors, k: int) -> Hits:
    scores = np.full((len(queries), k), -np.inf, np.float32)
    rows = np.full((len(queries), k), NONE, np.int32)
    for start in range(0, len(vectors), _VECTORS):
        block = as_float32(vectors[start : start + _VECTORS])
        products = queries @ block.T
        if start == 0 and len(block) > k:
            # In the first block there is no k-th best score yet.
            kth_best = np.partition(products, -k, axis=1)[:, -k, None]
            better = np.flatnonzero(products >= kth_best)
        else:
            better = np.flatnonzero(products > scores[:, -1:])
        query, place = np.divmod(better, len(block))
        _insert(rows, scores, query, place + start, products.ravel()[better])
    return Hits(rows, np.where(rows == NONE, np.float32(0), scores))


def _insert(
    rows: Rows, scores: Scores, query: npt.NDArray[Any], new_rows: npt.NDArray[Any], new_scores: Scores
) -> None:
    """Insert new rows among the best so far, in place.

    Args:
        rows: int32 (Q, k): the best rows so far, best first.
        scores: float32 (Q, k): their scores.
        query: int (n), ascending: the query of each new row.
        new_rows: int (n), all larger than the rows so far.
        new_scores: float32 (n): their scores.
    """
    if not len(query):
        return
    k = rows.shape[1]
    changed, counts = np.unique(query, return_counts=True)
    all_scores = np.full((len(changed), k + int(counts.max())), -np.inf, np.float32)
    all_scores[:, :k] = scores[changed]
    all_rows = np.full(all_scores.shape, NONE, np.int32)
    all_rows[:, :k] = rows[changed]
    line = np.repeat(np.arange(len(changed)), counts)
    column = k + np.arange(len(query)) - np.repeat(np.cumsum(counts) - counts, counts)
    all_scores[line, column] = new_scores
    all_rows[line, column] = new_rows
    # Stable: of equal scores, the smaller rows are in earlier columns.
    order = np.argsort(-all_scores, axis=1, kind="stable")[:, :k]
    rows[changed] = np.take_along_axis(all_rows, order, 1)
    scores[changed] = np.take_along_axis(all_scores, order, 1)
