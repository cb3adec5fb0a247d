"""Exact search for the nearest vectors.

A vector v is rounded to v' = s c, where c are whole numbers and s is a step. A query q is rounded to q' in the
same way. The inner product of the rounded vectors is computed with whole numbers. It differs from the exact inner
product by at most

    |q · v - q' · v'| = |(q - q') · v' + q · (v - v')| ≤ |q - q'| |v'| + |q| |v - v'|

(Cauchy-Schwarz inequality), which is about 0.03 for unit vectors of width 384. So only some hundred entries can be
among the best, and exact inner products are computed for these entries only. Where too many entries can be, or
for a few queries, a second whole number for each coordinate of the query makes |q - q'| sixteen times smaller.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar, Final, Self

import numpy as np
import numpy.typing as npt

from nymlink.core.store.arrays import Bools, HalfVectors, Vectors, as_float32, map_array, save_array, save_blocks
from nymlink.index.dense.products import LARGEST_LEFT, Multiplier, is_exact
from nymlink.index.hits import NONE, Hits, Rows, Scores

StoredVectors = HalfVectors | Vectors

_QUERIES: Final = 512
_VECTORS: Final = 8192
"""Numbers of queries and of vectors compared at a time.

Their similarities are 512 × 8,192 float32, 16 MB, which is little compared with the vectors.
"""


def nearest(queries: Vectors, vectors: StoredVectors, k: int, among: Rows | None = None) -> Hits:
    """Find the k vectors of largest inner product with each query, the best first.

    Ties are in ascending order of rows.

    The whole matrix of similarities is never in memory. From each block of vectors, only scores above the k-th
    best so far are kept. For every 512 queries, the stored vectors are read once from the mapped file, and
    converted to float32 a block at a time.

    Args:
        queries: float32 (Q, D).
        vectors: float16 or float32 (E, D).
        k: at least 1.
        among: int32, ascending: rows of the vectors to compare; ``None`` for all.

    Raises:
        ValueError: the queries and the vectors differ in width.
    """
    if queries.shape[1:] != vectors.shape[1:]:
        raise ValueError(f"queries {queries.shape} and vectors {vectors.shape} differ in width")
    blocks = [
        _nearest(queries[start : start + _QUERIES], vectors, k, among)
        for start in range(0, len(queries), _QUERIES)
    ]
    if not blocks:
        return Hits(np.zeros((0, k), np.int32), np.zeros((0, k), np.float32))
    return Hits(np.concatenate([hits.rows for hits in blocks]), np.concatenate([hits.scores for hits in blocks]))


def _nearest(queries: Vectors, vectors: StoredVectors, k: int, among: Rows | None) -> Hits:
    scores = np.full((len(queries), k), -np.inf, np.float32)
    rows = np.full((len(queries), k), NONE, np.int32)
    for start in range(0, len(vectors) if among is None else len(among), _VECTORS):
        compared = slice(start, start + _VECTORS)
        block = as_float32(vectors[compared if among is None else among[compared]])
        products = queries @ block.T
        if start == 0 and len(block) > k:
            # In the first block, the k-th best score is not known yet.
            kth_best = np.partition(products, -k, axis=1)[:, -k, None]
            better = np.flatnonzero(products >= kth_best)
        else:
            better = np.flatnonzero(products > scores[:, -1:])
        query, place = np.divmod(better, len(block))
        _insert(rows, scores, query, place + start, products.ravel()[better])
    if among is not None and len(among):
        rows = np.where(rows == NONE, np.int32(NONE), among[rows])
    return Hits(rows, np.where(rows == NONE, np.float32(0), scores))


def _insert(
    rows: Rows, scores: Scores, query: npt.NDArray[Any], new_rows: npt.NDArray[Any], new_scores: Scores
) -> None:
    """Insert new rows among the best so far, in place.

    Args:
        rows: int32 (Q, k): the best rows so far, best first.
        scores: float32 (Q, k): their scores.
        query: int (n), ascending: the query of each new row.
        new_rows: int (n): the new rows, all larger than the rows so far.
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
    # The sort is stable, and smaller rows are in earlier columns. So equal scores are in ascending order of rows.
    order = np.argsort(-all_scores, axis=1, kind="stable")[:, :k]
    rows[changed] = np.take_along_axis(all_rows, order, 1)
    scores[changed] = np.take_along_axis(all_scores, order, 1)


_ENTRIES: Final = 1 << 16
QUERIES: Final = 1 << 6
"""Largest numbers of entries and of queries in a block. Its products are at most 64 × 65,536 int32, 16 MB."""

_PACKED: Final = 1 << 15
"""Number of entries multiplied at a time. Opening so many takes little memory."""

_AT_ONCE: Final = 1 << 13
"""Number of vectors quantised at a time."""

_GROUP: Final = 16
"""Number of entries in a group. The highest product of a group is checked first.

In most groups it is too low, so that the other products need no check.
"""

_SHARE: Final = 64
_SHARE_AT_ONCE: Final = 4
"""If more than one in 64 entries can be among the best of each query, and one in four more for all queries
together, comparing all exact vectors is faster. Most of that work, for few queries, is reading the vectors."""

_FINER: Final = 16
"""Number of steps of the second whole number of a coordinate in a step of the first."""

_WIDEST_FINER: Final = 1 << 12
"""Largest width for which the products of two whole numbers are surely below a quarter of the range of int32."""

_FEW_QUERIES: Final = 16
"""Up to so many queries get two whole numbers at once, because reading the codes takes most of the time."""

_LARGEST: Final = 127

_ROUNDING: Final = 6e-4
"""Allowance for rounding.

It bounds half of the difference of scores that count as equal, and rounding errors: cosines above 1 count as 1,
and the vectors of an entry and of a query may each be longer than 1 by 1/2048.
"""

_LOWEST: Final = np.iinfo(np.int32).min

QueryNumbers = npt.NDArray[np.int64]


class Int8Codes:
    """The int8 codes of the vectors of E entries.

    Args:
        codes: int8 (E · D): blocks of 65,536 entries, one after the other. Within a block, the first coordinates
            of all entries come first, then the second coordinates, and so on.
        bounds: float32 (3): the step s, the largest length of a v', and the largest length of a v - v'.
        width: D, the width of a vector.

    Raises:
        ValueError: codes or bounds are of another type or size.
    """

    FILES: ClassVar = ("codes.npy", "code_bounds.npy")

    def __init__(self, codes: npt.NDArray[np.int8], bounds: Vectors, *, width: int) -> None:
        if codes.dtype != np.int8 or codes.ndim != 1 or codes.size % max(width, 1):
            raise ValueError(f"its codes are {codes.dtype} {codes.shape}, not of width {width}")
        if bounds.dtype != np.float32 or bounds.shape != (3,):
            raise ValueError(f"the bounds of its codes are {bounds.dtype} {bounds.shape}")
        self._codes = codes
        self._bounds = bounds
        self._width = width
        self._is_coarse = False
        self._multipliers: list[list[tuple[slice, Multiplier]]] = []
        self._opening = Lock()

    @classmethod
    def of(cls, vectors: HalfVectors) -> Self:
        """Quantise unit vectors, float16 (E, D), in memory."""
        quantiser = _Quantiser(vectors)
        codes = np.empty(vectors.size, np.int8)
        end = 0
        for block in quantiser.blocks():
            codes[end : end + block.size] = block.ravel()
            end += block.size
        return cls(codes, quantiser.bounds, width=vectors.shape[1])

    @classmethod
    def write(cls, directory: Path, vectors: HalfVectors) -> Self:
        """Quantise unit vectors, float16 (E, D), and write the files of :meth:`save`.

        Only one block of vectors is in memory at a time.
        """
        quantiser = _Quantiser(vectors)
        save_blocks(directory, "codes", quantiser.blocks(), dtype=np.int8, shape=(vectors.size,))
        save_array(directory, "code_bounds", quantiser.bounds)
        return cls.load(directory, vectors)

    def candidates(
        self, queries: Vectors, k: int, allowed: Bools | None = None
    ) -> tuple[QueryNumbers, Rows] | None:
        """Select all entries that may be among the k of largest inner product with a query, ties included.

        Args:
            queries: float32 (Q, D), of about unit length. There may be at most :data:`QUERIES`, which bounds
                memory.
            k: at least 1.
            allowed: bool (E): the entries to select from; ``None`` for all.

        Returns:
            Pairs of a query and an entry: numbers of queries, int64 (n), ascending; rows of entries, int32 (n).
            ``None`` if comparing all exact vectors is faster.
        """
        entries = self._codes.size // max(self._width, 1)
        if k > entries // _GROUP or not is_exact():
            return None
        if self._width > _WIDEST_FINER:
            return self._candidates(queries, k, allowed, finer=False)
        if len(queries) > _FEW_QUERIES and not self._is_coarse:
            found = self._candidates(queries, k, allowed, finer=False)
            if found is not None:
                return found
            # Vectors with a few large coordinates are rounded too much for all queries.
            self._is_coarse = True
        return self._candidates(queries, k, allowed, finer=True)

    def _candidates(
        self, queries: Vectors, k: int, allowed: Bools | None, *, finer: bool
    ) -> tuple[QueryNumbers, Rows] | None:
        """Select entries with one or two whole numbers for each coordinate of a query; see :meth:`candidates`."""
        entries = self._codes.size // self._width
        query_codes, slack = self._quantise_queries(queries, finer=finer)
        # Keep the k highest maxima of groups for each query. At least k entries have products as high as the
        # lowest of these maxima.
        best_maxima = np.full((len(queries), k), _LOWEST, np.int32)
        selected: list[tuple[QueryNumbers, Rows, npt.NDArray[np.int32]]] = []
        count, most = 0, len(queries) * entries // _SHARE + entries // _SHARE_AT_ONCE
        for block in self._opened():
            compared = [self._products(query_codes, multiply, allowed, part) for part, multiply in block]
            maxima = [groups.max(axis=1) for groups in compared]
            best_maxima = np.partition(np.concatenate([best_maxima, *maxima], axis=1), -k, axis=1)[:, -k:]
            lowest = best_maxima.min(axis=1) - slack
            for groups, highest, (part, _) in zip(compared, maxima, block, strict=True):
                query, group = np.nonzero(highest >= lowest[:, None])
                products_in_group = groups[query, :, group]
                high = (products_in_group >= lowest[query, None]) & (products_in_group > _LOWEST // 4)
                count += int(np.count_nonzero(high))
                if count > most:
                    return None
                pair, place = np.nonzero(high)
                rows = (part.start + place * groups.shape[2] + group[pair]).astype(np.int32)
                selected.append((query[pair], rows, products_in_group[pair, place]))
        query_numbers, rows, products = (np.concatenate(column) for column in zip(*selected, strict=True))
        # The bound rises with every block, so entries selected early may be below the last bound.
        kept = np.flatnonzero(products >= lowest[query_numbers])
        order = kept[np.argsort(query_numbers[kept], kind="stable")]
        return query_numbers[order], rows[order]

    def _quantise_queries(
        self, queries: Vectors, *, finer: bool
    ) -> tuple[list[npt.NDArray[np.int8]], npt.NDArray[np.int64]]:
        """Quantise queries: one or two arrays of codes, int8 (Q, D), and slack, int64 (Q).

        If one product of a query is larger than another by more than the slack, its exact inner product is larger
        too.
        """
        step, longest, longest_error = self._bounds.astype(np.float64)
        steps = np.abs(queries).max(axis=1, keepdims=True).astype(np.float64) / LARGEST_LEFT
        steps[steps == 0] = 1
        codes = [np.rint(queries / steps)]
        rounded = codes[0] * steps
        if finer:
            steps /= _FINER
            codes.append(np.rint((queries - rounded) / steps))
            rounded += codes[1] * steps
        error = np.linalg.norm(queries - rounded, axis=1) * longest
        length = np.linalg.norm(queries.astype(np.float64), axis=1)
        error += length * (longest_error + _ROUNDING)
        # The error counts twice, because both compared products have an error.
        return [each.astype(np.int8) for each in codes], np.ceil(2 * error / (steps[:, 0] * step)).astype(np.int64)

    def _opened(self) -> list[list[tuple[slice, Multiplier]]]:
        """Open the multipliers of the parts of each block of entries, at the first search."""
        with self._opening:
            if not self._multipliers:
                for first in range(0, self._codes.size // self._width, _ENTRIES):
                    coded = self._codes[first * self._width : (first + _ENTRIES) * self._width]
                    block = coded.reshape(self._width, -1)
                    parts = [block[:, start : start + _PACKED] for start in range(0, block.shape[1], _PACKED)]
                    starts = [first + index * _PACKED for index in range(len(parts))]
                    self._multipliers.append(
                        [
                            (slice(start, start + part.shape[1]), Multiplier(part))
                            for start, part in zip(starts, parts, strict=True)
                        ]
                    )
            return self._multipliers

    def _products(
        self,
        query_codes: Sequence[npt.NDArray[np.int8]],
        multiply: Multiplier,
        allowed: Bools | None,
        part: slice,
    ) -> npt.NDArray[np.int32]:
        """Multiply queries with a part of the entries: int32 (Q, 16, G).

        The entries are in G groups of 16: axis 1 is the place in a group, axis 2 the group. Missing entries, and
        those not allowed, have the lowest value.
        """
        multiplied = multiply(np.concatenate(query_codes))
        products, *finer = multiplied.reshape(len(query_codes), len(query_codes[0]), multiplied.shape[1])
        for fine in finer:
            products *= np.int32(_FINER)
            products += fine
        if allowed is not None:
            # Half of the lowest value: no sum or difference of it is too low for the type.
            products += np.where(allowed[part], np.int32(0), np.int32(_LOWEST // 2))
        count, entries = products.shape
        groups = -(-entries // _GROUP)
        if groups * _GROUP > entries:
            whole = np.full((count, groups * _GROUP), _LOWEST, np.int32)
            whole[:, :entries] = products
            products = whole
        return products.reshape(count, _GROUP, groups)

    def save(self, directory: Path) -> None:
        """Write the codes into a directory."""
        save_array(directory, "codes", self._codes)
        save_array(directory, "code_bounds", self._bounds)

    @classmethod
    def load(cls, directory: Path, vectors: HalfVectors) -> Self:
        """Map the codes of a directory into memory.

        Raises:
            OSError: a file is missing.
            ValueError: the codes do not fit the vectors.
        """
        codes = map_array(directory, "codes")
        if codes.size != vectors.size:
            raise ValueError(f"its codes are of {codes.size:,} coordinates, its vectors have {vectors.size:,}")
        return cls(codes, map_array(directory, "code_bounds"), width=vectors.shape[1])


class _Quantiser:
    """Quantises vectors block by block. ``bounds`` is complete after the last block."""

    def __init__(self, vectors: HalfVectors) -> None:
        self._vectors = vectors
        self.bounds = np.array([self._largest() / _LARGEST, 0, 0], np.float32)

    def blocks(self) -> Iterator[npt.NDArray[np.int8]]:
        """Yield the codes of up to 65,536 entries at a time: int8 (D, n)."""
        for start in range(0, len(self._vectors), _ENTRIES):
            block = self._vectors[start : start + _ENTRIES]
            codes = np.empty(block.shape[::-1], np.int8)
            for first in range(0, len(block), _AT_ONCE):
                part = slice(first, first + _AT_ONCE)
                codes[:, part] = self._quantise(as_float32(block[part])).T
            yield codes

    def _quantise(self, vectors: Vectors) -> Vectors:
        """Round vectors to whole numbers of steps: (n, D).

        Raise the bounds if these vectors have larger lengths.
        """
        codes: Vectors = np.rint(vectors / self.bounds[0])
        rounded = codes * self.bounds[0]
        lengths = [np.linalg.norm(one, axis=1).max() for one in (rounded, vectors - rounded)]
        self.bounds[1:] = np.maximum(self.bounds[1:], lengths)
        return codes

    def _largest(self) -> float:
        """Find the largest absolute coordinate; 1 if all are 0."""
        parts = (self._vectors[start : start + _AT_ONCE] for start in range(0, len(self._vectors), _AT_ONCE))
        return max((float(np.abs(as_float32(part)).max()) for part in parts), default=0.0) or 1.0
