"""Exact search for a few vectors, in which a part of their coordinates rules out most entries.

Along orthonormal axes a product is q · v = q₁ · v₁ + q₂ · v₂, where v₁, the head of v, are its first
coordinates and v₂ the others; so it is at most q₁ · v₁ + |q₂| |v₂| (Cauchy and Schwarz). With principal axes half
of the coordinates have most of the length of a name's vector, and some hundred entries that can be among the best
by this bound are all that have to be looked at as a whole. What is read for a query is half of what all
vectors are as float32, and is there as such: for a single query nearly all there is to do is to read vectors and
to turn them from float16.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt

from nymlink.arrays import map_array, save_array
from nymlink.index.candidates import reached
from nymlink.index.hits import Rows, Scores, best
from nymlink.index.nearest import Kept, Vectors

_BYTES: Final = (8 << 20, 256 << 20)
"""Heads are made where they take so much: of fewer entries all are looked at as quickly; of more, they are too
large to be read for each query."""

_LONGEST_REST: Final = 0.5
"""They are made where this is more than what they leave of the length of a vector, on average: where it is much,
little is ruled out. Of nymlink-mini's vectors of MEDIC they leave 0.26, of MeSH 0.30."""

_BOUNDS_BYTES: Final = 32 << 20
"""Bounds that are held at a time."""

_COLUMNS: Final = 64
"""What is asked for is at most one in so many entries: of more, a bound that they reach is not found quickly."""

_LEARNED_FROM: Final = 1 << 14
"""Vectors that the axes are those of: the choice makes the search faster or slower, not its result another one."""

_AT_ONCE: Final = 1 << 13
"""Vectors turned to float32 at a time."""

_ROUNDING: Final = 1e-5
"""More than the rounding of products of unit vectors."""


class Heads:
    """The heads of the vectors of entries.

    Args:
        vectors: float16 (E, D): the unit vectors of the entries.
        heads: float32 (E, H + 1): their first coordinates along the axes, and the length of what is left of each.
        axes: float32 (D, H): orthonormal columns.

    Raises:
        ValueError: these do not fit each other.
    """

    FILES: ClassVar = ("heads.npy", "axes.npy")

    def __init__(self, vectors: Kept, heads: Vectors, axes: Vectors) -> None:
        shapes = [(len(vectors), _size(vectors) + 1), (vectors.shape[1], _size(vectors))]
        if [heads.shape, axes.shape] != shapes or not heads.dtype == axes.dtype == np.float32:
            raise ValueError(f"its heads are {heads.dtype} {heads.shape}, their axes {axes.dtype} {axes.shape}")
        self._vectors = vectors
        self._heads = heads
        self._axes = axes

    @classmethod
    def of(cls, vectors: Kept) -> Heads | None:
        """Find the axes of vectors, and their heads; ``None`` where these would not help."""
        if not _BYTES[0] <= 4 * len(vectors) * (_size(vectors) + 1) <= _BYTES[1]:
            return None
        drawn = np.random.default_rng(0).permutation(len(vectors))[:_LEARNED_FROM]
        some = vectors[np.sort(drawn)].astype(np.float32)
        axes = np.linalg.eigh(some.T @ some)[1][:, ::-1][:, : _size(vectors)]
        axes = np.ascontiguousarray(axes, np.float32)
        heads = np.zeros((len(vectors), axes.shape[1] + 1), np.float32)
        for start in range(0, len(vectors), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            heads[part] = _split(vectors[part].astype(np.float32), axes)
        return cls(vectors, heads, axes) if heads[:, -1].mean() < _LONGEST_REST else None

    @property
    def deepest(self) -> int:
        """The largest k that is searched for faster with them."""
        return len(self._vectors) // _COLUMNS

    def search(self, queries: Vectors, k: int) -> Rows:
        """The k entries with the largest product with each query, in the order of ``hits.best``.

        Args:
            queries: float32 (Q, D).
            k: how many, at least 1.

        Returns:
            int32 (Q, k): rows; :data:`~nymlink.index.hits.NONE` where there are fewer.
        """
        size = max(_BOUNDS_BYTES // (4 * len(self._heads)), 1)
        found = [
            self._best(query, bounds, k)
            for start in range(0, len(queries), size)
            for query, bounds in self._bounded(queries[start : start + size])
        ]
        return np.array(found, np.int32).reshape(-1, k)

    def _bounded(self, queries: Vectors) -> Iterable[tuple[Vectors, Scores]]:
        """Each query with what the products of the entries are at most: float32 (E)."""
        return zip(queries, _split(queries, self._axes) @ self._heads.T, strict=True)

    def _best(self, query: Vectors, bounds: Scores, k: int) -> Rows:
        """The k best entries for a query, given what the products are at most."""
        likely = np.flatnonzero(bounds >= reached(bounds, k))
        lowest = -np.inf
        if len(likely) >= k:
            lowest = np.partition(self._products(query, likely), -k)[-k] - _ROUNDING * np.linalg.norm(query)
        rows = np.flatnonzero(bounds >= lowest)
        found: Rows = best(rows.astype(np.int32)[None], self._products(query, rows)[None], k).rows[0]
        return found

    def _products(self, query: Vectors, rows: npt.NDArray[np.int64]) -> Scores:
        parts = (rows[start : start + _AT_ONCE] for start in range(0, len(rows), _AT_ONCE))
        found = [self._vectors[part].astype(np.float32) @ query for part in parts]
        return np.concatenate([np.zeros(0, np.float32), *found])

    def save(self, directory: Path) -> None:
        """Write them into a directory."""
        save_array(directory, "heads", self._heads)
        save_array(directory, "axes", self._axes)

    @classmethod
    def load(cls, directory: Path, vectors: Kept) -> Heads:
        """Map those of a directory into memory.

        Raises:
            OSError: a file of them is missing.
            ValueError: they do not fit the vectors.
        """
        return cls(vectors, map_array(directory, "heads"), map_array(directory, "axes"))


def _size(vectors: Kept) -> int:
    """H: half of the coordinates."""
    return int(vectors.shape[1]) // 2


def _split(vectors: Vectors, axes: Vectors) -> Vectors:
    """Heads, and the length of what is left of each vector: float32 (n, H + 1)."""
    heads = vectors @ axes
    # Not by the difference of squares: where little is left, that is mostly rounding, and would be no bound.
    return np.column_stack([heads, np.linalg.norm(vectors - heads @ axes.T, axis=1)])
