"""Sparse search: TF-IDF cosine over an inverted matrix, best k without a dense query × entry matrix."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from sparse_dot_topn import sp_matmul_topn

from nymlink.arrays import map_array, save_array
from nymlink.index.entries import Entries
from nymlink.index.hits import NONE, Hits, Rows, Scores, best
from nymlink.index.tfidf import SparseSettings, TfIdf

_CSR: Final = ("data", "indices", "indptr")

_MARGIN: Final = 32
"""Hits fetched beyond k, so that what the common features, left out of the search, would have put among the first
k is there to be found."""

_ALWAYS_SEARCHED: Final = 1000
"""A feature that no more entries have than this is not common, however small the vocabulary."""

_EQUAL: Final = 1e-6
"""Scores that differ by less count as equal, as :func:`~nymlink.index.hits.best` has it."""

_BLOCK: Final = 512
"""Queries searched in one go: bounds the memory of their vectors and hits."""

_QUERIES_A_THREAD: Final = 128
"""On a busy machine a second thread can cost ten milliseconds, the time that a hundred queries take."""


class SparseSearch:
    """TF-IDF cosine similarity between queries and entries.

    Args:
        weights: the fitted weighting.
        vectors: float32 CSR (E, F): the unit vector of each entry.
        inverted: float32 CSR (F, E): for each feature, the entries that have it and its weight there.
    """

    FILES: ClassVar = (
        "settings.json",
        *(f"{name}.npy" for name in ("hashes", "idf", "unknown")),
        *(f"{name}.{part}.npy" for name in ("vectors", "inverted") for part in ("data", "indices", "indptr")),
    )

    def __init__(self, weights: TfIdf, vectors: csr_matrix, inverted: csr_matrix) -> None:
        self.settings = weights.settings
        self._weights = weights
        self._vectors = vectors
        self._inverted = inverted
        limit = max(self.settings.search_share * vectors.shape[0], _ALWAYS_SEARCHED)
        self._common = np.diff(inverted.indptr) > limit

    @classmethod
    def build(cls, entries: Entries, settings: SparseSettings, *, progress: bool = False) -> SparseSearch:
        """Fit the weighting on the entries and invert their vectors."""
        texts = entries.texts.to_pylist()
        weights = TfIdf.fit(texts, settings, progress=progress)
        vectors = weights.transform(texts, progress=progress)
        return cls(weights, vectors, vectors.T.tocsr())

    def search(self, queries: Sequence[str], k: int) -> Hits:
        """The k entries of highest cosine; entries that share no feature with the query are no hits."""
        blocks = [self._search(queries[start : start + _BLOCK], k) for start in range(0, len(queries), _BLOCK)]
        if not blocks:
            return Hits(np.zeros((0, k), np.int32), np.zeros((0, k), np.float32))
        return Hits(
            np.concatenate([block.rows for block in blocks]), np.concatenate([block.scores for block in blocks])
        )

    def _search(self, queries: Sequence[str], k: int) -> Hits:
        vectors = self._weights.transform(queries)
        wanted = min(k + _MARGIN, self._vectors.shape[0])
        threads = min(os.cpu_count() or 1, 1 + len(queries) // _QUERIES_A_THREAD)
        pruned = self._without_common(vectors)
        found = self._products(pruned, top_n=wanted, threads=threads)
        filled = np.arange(wanted) < np.diff(found.indptr)[:, None]
        rows = np.full(filled.shape, NONE, np.int32)
        rows[filled] = found.indices
        hits = best(rows, self._cosines(vectors, rows), k)
        for query, lowest in _cut_among_equals(found.data, filled, k):
            # One by one: a word that every second entry has can tie half the vocabulary.
            whole = pruned[query] @ self._inverted
            tied = whole.indices[None, whole.data >= lowest]
            exact = best(tied, self._cosines(vectors[query], tied), k)
            hits.rows[query], hits.scores[query] = exact.rows[0], exact.scores[0]
        return hits

    def _without_common(self, vectors: csr_matrix) -> csr_matrix:
        """The vectors without their common features; one that has no others keeps them."""
        kept = ~self._common[vectors.indices]
        owners = np.repeat(np.arange(vectors.shape[0]), np.diff(vectors.indptr))
        kept |= (np.bincount(owners, kept, minlength=vectors.shape[0]) == 0)[owners]
        indptr = np.concatenate([[0], np.cumsum(np.bincount(owners[kept], minlength=vectors.shape[0]))])
        return csr_matrix(
            (vectors.data[kept], vectors.indices[kept], indptr.astype(vectors.indptr.dtype)), shape=vectors.shape
        )

    def _products(self, vectors: csr_matrix, *, top_n: int, threads: int) -> csr_matrix:
        """The largest products of each query with the entries: float32 (Q, E), sparse.

        The library copies the matrix it is given, so it is given the rows of the queries' own features only.
        """
        features, columns = np.unique(vectors.indices, return_inverse=True)
        shape = (vectors.shape[0], len(features))
        narrow = csr_matrix((vectors.data, columns.astype(np.int32), vectors.indptr), shape=shape)
        return sp_matmul_topn(narrow, self._inverted[features], top_n=top_n, n_threads=threads)

    def score(self, queries: Sequence[str], rows: Rows) -> Scores:
        """The cosines of given entries; see :class:`~nymlink.index.hits.Searcher`."""
        return self._cosines(self._weights.transform(queries), rows)

    def _cosines(self, vectors: csr_matrix, rows: Rows) -> Scores:
        scores = np.zeros(rows.shape, np.float32)
        weights = np.zeros(vectors.shape[1], np.float32)
        for query, found in enumerate(rows != NONE):
            stretch = slice(*vectors.indptr[query : query + 2])
            features = vectors.indices[stretch]
            weights[features] = vectors.data[stretch]
            scores[query, found] = self._vectors[rows[query, found]] @ weights
            weights[features] = 0
        return scores

    def save(self, directory: Path) -> None:
        """Write the search into a new directory."""
        directory.mkdir()
        (directory / "settings.json").write_text(json.dumps(self.settings.to_dict()), encoding="utf-8")
        save_array(directory, "hashes", self._weights.hashes)
        save_array(directory, "idf", self._weights.idf)
        save_array(directory, "unknown", np.array(self._weights.unknown))
        for name, matrix in (("vectors", self._vectors), ("inverted", self._inverted)):
            for part in _CSR:
                save_array(directory, f"{name}.{part}", getattr(matrix, part))

    @classmethod
    def load(cls, directory: Path, entries: Entries) -> SparseSearch:
        """Map the search of a directory into memory.

        Raises:
            OSError: a file of it is missing.
            ValueError: the files do not fit each other or the entries.
        """
        settings = SparseSettings.from_dict(json.loads((directory / "settings.json").read_text(encoding="utf-8")))
        weights = TfIdf(
            settings,
            map_array(directory, "hashes"),
            map_array(directory, "idf"),
            float(map_array(directory, "unknown")),
        )
        features = len(weights.hashes)
        if len(weights.idf) != features:
            raise ValueError("the frequencies do not fit the features")
        return cls(
            weights,
            _map_matrix(directory, "vectors", (len(entries), features)),
            _map_matrix(directory, "inverted", (features, len(entries))),
        )


def _map_matrix(directory: Path, name: str, shape: tuple[int, int]) -> csr_matrix:
    """Map a matrix, and look at every column number: compiled code follows them, out of memory where they say so.

    That reads the numbers once, which costs a few milliseconds for ten million of them, more from a cold disk.
    """
    data, indices, indptr = (map_array(directory, f"{name}.{part}") for part in _CSR)
    if data.dtype != np.float32 or indices.dtype.kind != "i" or indptr.dtype.kind != "i":
        raise ValueError(f"{name} holds values of another type")
    if indptr[0] != 0 or indptr[-1] != len(indices) or np.any(indptr[1:] < indptr[:-1]):
        raise ValueError(f"the rows of {name} do not follow one another")
    if len(indices) and not 0 <= indices.min() <= indices.max() < shape[1]:
        raise ValueError(f"{name} has columns outside of its shape")
    return csr_matrix((data, indices, indptr), shape=shape, copy=False)


def _cut_among_equals(scores: Scores, filled: npt.NDArray[np.bool_], k: int) -> list[tuple[int, float]]:
    """Queries with more entries as good as their k-th than were fetched, each with the lowest score that counts.

    Args:
        scores: of all that was fetched, query after query.
        filled: bool (Q, wanted): where they stand.
        k: how many hits are wanted in the end.
    """
    fetched: Scores = np.zeros(filled.shape, np.float32)
    fetched[filled] = scores
    if fetched.shape[1] <= k:
        return []
    last = np.partition(fetched, -k, axis=1)[:, -k] - _EQUAL
    cut = np.flatnonzero(filled.all(axis=1) & (fetched.min(axis=1) >= last))
    return [(int(query), float(last[query])) for query in cut]
