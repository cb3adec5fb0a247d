"""The nearest vectors: exact search by blocked matrix products, whatever the number of vectors."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from nymlink.core.store.arrays import Kept, Vectors, as_float32
from nymlink.index.fusion.hits import NONE, Hits, Rows, Scores

StoredVectors = Kept | Vectors

_QUERIES: Final = 512
_VECTORS: Final = 8192
"""A block of similarities is 512 × 8,192 float32, 16 MB: small beside the vectors."""


def nearest(queries: Vectors, vectors: StoredVectors, k: int) -> Hits:
    """The k vectors with the largest inner product with each query, best first; equal ones by rising row.

    The whole similarity matrix is never made: a block of it is cut down to what beats the k-th best so far, which
    after the first block is little. Stored vectors are read once for every 512 queries, straight from where they
    are mapped, and turned to float32 a block at a time.

    Args:
        queries: float32 (Q, D).
        vectors: float16 or float32 (E, D).
        k: how many, at least 1.

    Raises:
        ValueError: the queries and the vectors differ in width.
    """
    if queries.shape[1:] != vectors.shape[1:]:
        raise ValueError(f"queries {queries.shape} and vectors {vectors.shape} differ in width")
    found = [_nearest(queries[start : start + _QUERIES], vectors, k) for start in range(0, len(queries), _QUERIES)]
    if not found:
        return Hits(np.zeros((0, k), np.int32), np.zeros((0, k), np.float32))
    return Hits(np.concatenate([hits.rows for hits in found]), np.concatenate([hits.scores for hits in found]))


def _nearest(queries: Vectors, vectors: StoredVectors, k: int) -> Hits:
    scores = np.full((len(queries), k), -np.inf, np.float32)
    rows = np.full((len(queries), k), NONE, np.int32)
    for start in range(0, len(vectors), _VECTORS):
        block = as_float32(vectors[start : start + _VECTORS])
        products = queries @ block.T
        if start == 0 and len(block) > k:
            # There is no k-th best yet to cut the first block down with.
            floor = np.partition(products, -k, axis=1)[:, -k, None]
            better = np.flatnonzero(products >= floor)
        else:
            better = np.flatnonzero(products > scores[:, -1:])
        query, place = np.divmod(better, len(block))
        _insert(rows, scores, query, place + start, products.ravel()[better])
    return Hits(rows, np.where(rows == NONE, np.float32(0), scores))


def _insert(rows: Rows, scores: Scores, query: npt.NDArray[Any], found: npt.NDArray[Any], values: Scores) -> None:
    """Put what was found among the best so far, in place.

    Args:
        rows: int32 (Q, k): the best so far, best first.
        scores: float32 (Q, k): theirs.
        query: int (n), ascending: the query of each find.
        found: int (n): its row, larger than all rows so far.
        values: float32 (n): its score.
    """
    if not len(query):
        return
    k = rows.shape[1]
    touched, counts = np.unique(query, return_counts=True)
    finds = np.full((len(touched), k + int(counts.max())), -np.inf, np.float32)
    finds[:, :k] = scores[touched]
    theirs = np.full(finds.shape, NONE, np.int32)
    theirs[:, :k] = rows[touched]
    line = np.repeat(np.arange(len(touched)), counts)
    column = k + np.arange(len(query)) - np.repeat(np.cumsum(counts) - counts, counts)
    finds[line, column] = values
    theirs[line, column] = found
    # Stable: among equals, earlier columns are smaller rows.
    order = np.argsort(-finds, axis=1, kind="stable")[:, :k]
    rows[touched] = np.take_along_axis(theirs, order, 1)
    scores[touched] = np.take_along_axis(finds, order, 1)
