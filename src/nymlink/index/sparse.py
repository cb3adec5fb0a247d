"""Sparse search: TF-IDF cosine over an inverted matrix, best k without a dense query × entry matrix."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, diags
from sparse_dot_topn import sp_matmul_topn

from nymlink.index.entries import Entries
from nymlink.index.hits import NONE, Hits, Rows, Scores, best
from nymlink.index.tfidf import SparseSettings, TfIdf

_CSR: Final = ("data", "indices", "indptr")

_MARGIN: Final = 32
"""Hits fetched beyond k: equal scores at the border are cut in order of row, and what the common features, left
out of the search, would have put among the first k is there to be found."""

_BLOCK: Final = 512
"""Queries searched in one go: bounds the memory of their vectors and hits."""

_QUERIES_A_THREAD: Final = 64
"""Waking a second thread can take ten milliseconds on a busy machine, as long as searching for some dozen queries."""


class SparseSearch:
    """TF-IDF cosine similarity between queries and entries.

    Args:
        weights: the fitted weighting.
        vectors: float32 CSR (E, F): the unit vector of each entry.
        inverted: float32 CSR (F, E): for each feature used in searching, the entries that have it and its weight
            there.
    """

    def __init__(self, weights: TfIdf, vectors: csr_matrix, inverted: csr_matrix) -> None:
        self.settings = weights.settings
        self._weights = weights
        self._vectors = vectors
        self._inverted = inverted

    @classmethod
    def build(cls, entries: Entries, settings: SparseSettings, *, progress: bool = False) -> SparseSearch:
        """Fit the weighting on the entries and invert their vectors."""
        texts = entries.texts.to_pylist()
        weights = TfIdf.fit(texts, settings, progress=progress)
        vectors = weights.transform(texts, progress=progress)
        rare = np.bincount(vectors.indices, minlength=vectors.shape[1]) <= settings.search_share * len(entries)
        inverted = diags(rare.astype(np.float32)).dot(vectors.T.tocsr())
        inverted.eliminate_zeros()
        return cls(weights, vectors, inverted)

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
        wanted = k + _MARGIN
        threads = min(os.cpu_count() or 1, 1 + len(queries) // _QUERIES_A_THREAD)
        found = sp_matmul_topn(vectors, self._inverted, top_n=wanted, n_threads=threads)
        filled = np.arange(wanted) < np.diff(found.indptr)[:, None]
        rows = np.full(filled.shape, NONE, np.int32)
        rows[filled] = found.indices
        return best(rows, self._cosines(vectors, rows), k)

    def score(self, queries: Sequence[str], rows: Rows) -> Scores:
        """The cosines of given entries; see :class:`~nymlink.index.hits.Searcher`."""
        return self._cosines(self._weights.transform(queries), rows)

    def _cosines(self, vectors: csr_matrix, rows: Rows) -> Scores:
        scores = np.zeros(rows.shape, np.float32)
        owners, places = np.nonzero(rows != NONE)
        products = vectors[owners].multiply(self._vectors[rows[owners, places]])
        scores[owners, places] = np.asarray(products.sum(axis=1)).ravel()
        return scores

    def save(self, directory: Path) -> None:
        """Write the search into a new directory."""
        directory.mkdir()
        (directory / "settings.json").write_text(json.dumps(self.settings.to_dict()), encoding="utf-8")
        arrays = {
            "hashes": self._weights.hashes,
            "idf": self._weights.idf,
            "unknown": np.array(self._weights.unknown),
        }
        for name, array in arrays.items():
            np.save(directory / f"{name}.npy", array, allow_pickle=False)
        for name, matrix in (("vectors", self._vectors), ("inverted", self._inverted)):
            for part in _CSR:
                np.save(directory / f"{name}.{part}.npy", getattr(matrix, part), allow_pickle=False)

    @classmethod
    def load(cls, directory: Path, entries: Entries) -> SparseSearch:
        """Map the search of a directory into memory."""
        settings = SparseSettings.from_dict(json.loads((directory / "settings.json").read_text(encoding="utf-8")))
        weights = TfIdf(
            settings, _map(directory, "hashes"), _map(directory, "idf"), float(_map(directory, "unknown"))
        )
        features = len(weights.hashes)

        def matrix(name: str, shape: tuple[int, int]) -> csr_matrix:
            return csr_matrix(tuple(_map(directory, f"{name}.{part}") for part in _CSR), shape=shape, copy=False)

        return cls(
            weights, matrix("vectors", (len(entries), features)), matrix("inverted", (features, len(entries)))
        )


def _save(directory: Path, name: str, array: npt.NDArray[Any]) -> None:
    np.save(directory / f"{name}.npy", array, allow_pickle=False)


def _map(directory: Path, name: str) -> npt.NDArray[Any]:
    # Copy-on-write, not read-only: the matrix product takes no read-only arrays, though it writes to none.
    mapped: npt.NDArray[Any] = np.load(directory / f"{name}.npy", mmap_mode="c", allow_pickle=False)
    return mapped.view(np.ndarray)
