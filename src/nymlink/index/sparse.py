"""Sparse search: TF-IDF cosine over an inverted matrix, best k without a dense query × entry matrix."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from scipy.sparse import csr_matrix
from sparse_dot_topn import sp_matmul_topn

from nymlink.index.entries import Entries
from nymlink.index.hits import NONE, Hits, Rows, Scores, best
from nymlink.index.tfidf import SparseSettings, TfIdf

_MARGIN: Final = 16
"""Hits fetched beyond k, so that equal scores at the border are cut in order of row."""

_BLOCK: Final = 2048
"""Queries searched in one go: bounds the memory of their vectors and hits."""


class SparseSearch:
    """TF-IDF cosine similarity between queries and entries.

    Args:
        entries: what is searched.
        weights: the fitted weighting.
        inverted: float32 CSR (F, E): for each feature, the entries that have it and its weight there.
    """

    def __init__(self, entries: Entries, weights: TfIdf, inverted: csr_matrix) -> None:
        self.settings = weights.settings
        self._entries = entries
        self._weights = weights
        self._inverted = inverted

    @classmethod
    def build(cls, entries: Entries, settings: SparseSettings, *, progress: bool = False) -> SparseSearch:
        """Fit the weighting on the entries and invert their vectors."""
        texts = entries.texts.to_pylist()
        weights = TfIdf.fit(texts, settings, progress=progress)
        return cls(entries, weights, weights.transform(texts, progress=progress).T.tocsr())

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
        found = sp_matmul_topn(vectors, self._inverted, top_n=k + _MARGIN, n_threads=os.cpu_count())
        counts = np.diff(found.indptr)
        filled = np.arange(k + _MARGIN) < counts[:, None]
        rows = np.full(filled.shape, NONE, np.int32)
        scores = np.zeros(filled.shape, np.float32)
        rows[filled], scores[filled] = found.indices, found.data
        return best(rows, scores, k)

    def score(self, queries: Sequence[str], rows: Rows) -> Scores:
        """The cosines of given entries; see :class:`~nymlink.index.hits.Searcher`."""
        scores = np.zeros(rows.shape, np.float32)
        owners, places = np.nonzero(rows != NONE)
        if len(owners):
            vectors = self._weights.transform(queries)[owners]
            others = self._weights.transform(self._entries.take(rows[owners, places]))
            scores[owners, places] = vectors.multiply(others).sum(axis=1)
        return scores

    def save(self, directory: Path) -> None:
        """Write the search into a new directory."""
        directory.mkdir()
        (directory / "settings.json").write_text(json.dumps(self.settings.to_dict()), encoding="utf-8")
        arrays = {
            "hashes": self._weights.hashes,
            "idf": self._weights.idf,
            "unknown": np.array(self._weights.unknown),
            "data": self._inverted.data,
            "indices": self._inverted.indices,
            "indptr": self._inverted.indptr,
        }
        for name, array in arrays.items():
            np.save(directory / f"{name}.npy", array, allow_pickle=False)

    @classmethod
    def load(cls, directory: Path, entries: Entries) -> SparseSearch:
        """Map the search of a directory into memory."""
        settings = SparseSettings.from_dict(json.loads((directory / "settings.json").read_text(encoding="utf-8")))
        names = ("hashes", "idf", "unknown", "data", "indices", "indptr")
        # Copy-on-write, not read-only: the matrix product takes no read-only arrays, though it writes to none.
        arrays = {name: np.load(directory / f"{name}.npy", mmap_mode="c", allow_pickle=False) for name in names}
        weights = TfIdf(settings, arrays["hashes"], arrays["idf"], float(arrays["unknown"]))
        shape = (len(weights.hashes), len(entries))
        inverted = csr_matrix((arrays["data"], arrays["indices"], arrays["indptr"]), shape=shape, copy=False)
        return cls(entries, weights, inverted)
