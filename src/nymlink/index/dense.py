"""Dense search: the entries whose vectors are nearest to the query's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Final, Protocol

import numpy as np

from nymlink.arrays import map_array, save_array
from nymlink.index.entries import Entries
from nymlink.index.hits import NONE, Hits, Rows, Scores, best
from nymlink.index.nearest import StoredVectors, Vectors, nearest

_UNPACKED_BYTES: Final = 128 << 20
"""Vectors up to this size are kept as float32 too: turning them from float16 takes ten times as long as a search
for a single query."""

_MARGIN: Final = 16
"""Entries fetched beyond k: a product of blocks rounds otherwise than that of single vectors, by which hits are
ordered in the end."""


class Encodes(Protocol):
    """What dense search needs of an encoder."""

    def encode(self, names: Sequence[str]) -> Vectors:
        """float32 (N, D): the unit vectors of N names."""
        ...


class DenseSearch:
    """Exact search by the cosine between vectors of names.

    Args:
        encoder: makes the vectors of queries; the one that made those of the entries.
        vectors: float16 (E, D): the unit vectors of the entries.
    """

    FILES: ClassVar = ("vectors.npy",)

    def __init__(self, encoder: Encodes, vectors: StoredVectors) -> None:
        self._encoder = encoder
        self._stored = vectors
        self._unpacked = vectors.astype(np.float32) if vectors.size * 4 <= _UNPACKED_BYTES else vectors
        self._last: dict[str, Vectors] = {}

    @classmethod
    def build(cls, entries: Entries, encoder: Encodes) -> DenseSearch:
        """Encode all entries."""
        return cls(encoder, encoder.encode(entries.texts.to_pylist()).astype(np.float16))

    def search(self, queries: Sequence[str], k: int) -> Hits:
        """The k nearest entries of each query; see :class:`~nymlink.index.hits.Searcher`.

        Everything is near to something, but a blank query means nothing: it finds no entry.
        """
        vectors = self._encode(queries)
        rows = nearest(vectors, self._unpacked, k + _MARGIN).rows
        rows[[at for at, query in enumerate(queries) if not query.strip()]] = NONE
        return best(rows, self._cosines(vectors, rows), k)

    def score(self, queries: Sequence[str], rows: Rows) -> Scores:
        """The cosines of given entries; see :class:`~nymlink.index.hits.Searcher`."""
        return self._cosines(self._encode(queries), rows)

    def _cosines(self, vectors: Vectors, rows: Rows) -> Scores:
        scores = np.zeros(rows.shape, np.float32)
        for query, vector in enumerate(vectors):
            found = rows[query] != NONE
            own = self._unpacked[rows[query, found]].astype(np.float32, copy=False)
            # Not a matrix product: that rounds differently with the number of rows.
            scores[query, found] = np.einsum("rd,d->r", own, vector)
        return scores

    def _encode(self, queries: Sequence[str]) -> Vectors:
        """The vectors of queries.

        Those of the last search are remembered, because what other searches find is scored right after it.
        """
        if any(query not in self._last for query in queries):
            distinct = list(dict.fromkeys(queries))
            self._last = dict(zip(distinct, self._encoder.encode(distinct), strict=True))
        width = self._stored.shape[1]
        return np.array([self._last[query] for query in queries], np.float32).reshape(-1, width)

    def save(self, directory: Path) -> None:
        """Write the search into a new directory."""
        directory.mkdir()
        save_array(directory, "vectors", self._stored)

    @classmethod
    def load(cls, directory: Path, entries: Entries, encoder: Encodes, *, width: int) -> DenseSearch:
        """Map the search of a directory into memory.

        Raises:
            OSError: its file is missing.
            ValueError: the vectors do not fit the entries or the encoder.
        """
        vectors = map_array(directory, "vectors")
        if vectors.dtype != np.float16 or vectors.shape != (len(entries), width):
            raise ValueError(
                f"its vectors are {vectors.dtype} {vectors.shape}, not {len(entries)} of width {width}"
            )
        return cls(encoder, vectors)
