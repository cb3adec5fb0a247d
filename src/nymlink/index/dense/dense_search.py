"""Dense search: find the entries whose vectors have the highest cosine with the query's vector."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from nymlink.core.store.arrays import Bools, HalfVectors, Vectors, as_float32, map_array, save_array, save_blocks
from nymlink.core.terminal import track
from nymlink.encode.batches import TruncationCounts
from nymlink.index.dense.approximate import EXACT_NEIGHBOURS, MARGIN, FaissIndex
from nymlink.index.dense.exact import QUERIES, Int8Codes, QueryNumbers, nearest
from nymlink.index.entries.entries import Entries
from nymlink.index.hits import NONE, Hits, Rows, Scores, best_of
from nymlink.index.stores.server import ServerStore
from nymlink.index.stores.servers import upload
from nymlink.index.stores.vector_store import Store, StoreAddress

if TYPE_CHECKING:
    from nymlink.encode.cached_vectors import EmbeddingCache

_ENCODED: Final = 1 << 16
"""Number of entries encoded at a time. Their float32 vectors take at most 100 MB."""

_SCORED: Final = 1 << 13
"""Number of entries scored at a time. It bounds the memory if a query is compared with most entries."""

_FILE: Final = "vectors"

_FEW: Final = 64
"""If less than one in so many entries is allowed, comparing these alone is faster."""


class NameEncoder(Protocol):
    """The part of an encoder that dense search needs.

    Attributes:
        width: length D of its vectors.
    """

    @property
    def width(self) -> int: ...

    def encode(
        self, names: Sequence[str], *, cache: EmbeddingCache | None = None, progress: bool = False
    ) -> Vectors:
        """Encode N names as unit vectors: float32 (N, D). Vectors that the cache has are taken from it."""
        ...


class DenseSearch:
    """Search by the cosine of vectors: exact search, or search with a store.

    Args:
        entries: E entries.
        encoder: encodes queries. It is the encoder that encoded the entries.
        vectors: float16 (E, D): the unit vectors of the entries.
        store: finds candidates near a vector; if ``None``, all vectors are compared.
        int8_codes: codes of the vectors, which make comparing all vectors faster.
        allowed: bool (E): the entries to find; ``None`` for all.
    """

    def __init__(
        self,
        entries: Entries,
        encoder: NameEncoder,
        vectors: HalfVectors,
        store: Store | None = None,
        *,
        int8_codes: Int8Codes | None = None,
        allowed: Bools | None = None,
    ) -> None:
        self._entries = entries
        self.encoder = encoder
        self.vectors = vectors
        self.store = store
        self._int8_codes = int8_codes
        self._allowed = allowed
        self._among: Rows | None = None if allowed is None else np.flatnonzero(allowed).astype(np.int32)
        self._last: list[dict[str, Vectors]] = [{}]

    @classmethod
    def build(
        cls,
        entries: Entries,
        encoder: NameEncoder,
        *,
        directory: Path | None = None,
        kind: str = EXACT_NEIGHBOURS,
        store: StoreAddress | None = None,
        cache: EmbeddingCache | None = None,
        progress: bool = False,
    ) -> DenseSearch:
        """Encode all entries and build the search over their vectors.

        Args:
            entries: E entries.
            encoder: encodes them and, later, queries.
            directory: a new directory for the search, with the same files as :meth:`save` writes. Only one block
                of vectors is in memory at a time. If ``None``, the whole search is in memory.
            kind: ``"exact"``, or one of :data:`~nymlink.index.dense.approximate.KINDS`.
            store: address of a server that keeps a copy of the vectors and searches them; ``None`` for no server.
            cache: cache of vectors, which is read and extended.
            progress: show progress when standard error is a terminal.

        Raises:
            MissingExtraError: the kind or the store needs a package that is not installed.
            StoreError: the vectors cannot be copied to the store.
            ValueError: the encoder's vectors have another width.
        """
        blocks = _encode_blocks(entries, encoder, cache, progress=progress)
        if directory is None:
            vectors: HalfVectors = np.concatenate([np.zeros((0, encoder.width), np.float16), *blocks])
        else:
            directory.mkdir()
            save_blocks(directory, _FILE, blocks, dtype=np.float16, shape=(len(entries), encoder.width))
            vectors = map_array(directory, _FILE)
        if store is not None:
            return cls(entries, encoder, vectors, upload(store, vectors, kind, progress=progress))
        if kind == EXACT_NEIGHBOURS:
            int8_codes = Int8Codes.of(vectors) if directory is None else Int8Codes.write(directory, vectors)
            return cls(entries, encoder, vectors, int8_codes=int8_codes)
        faiss_index = FaissIndex.build(vectors, kind, progress=progress)
        if directory is not None:
            faiss_index.save(directory)
        return cls(entries, encoder, vectors, faiss_index)

    def restricted(self, allowed: Bools) -> DenseSearch:
        """Search some entries only, given as bool (E), among the same vectors."""
        part = DenseSearch(
            self._entries, self.encoder, self.vectors, self.store, int8_codes=self._int8_codes, allowed=allowed
        )
        part._last = self._last
        return part

    def search(self, queries: Sequence[str], k: int) -> Hits:
        """Find the k nearest entries of each query; see :class:`~nymlink.index.hits.Searcher`.

        A query that is blank or without a known token finds no entry.
        """
        hits = self.search_vectors(self.vectors_of(queries), k)
        blank = [place for place, query in enumerate(queries) if not query.strip()]
        hits.rows[blank], hits.scores[blank] = NONE, 0
        return hits

    def search_vectors(self, vectors: Vectors, k: int) -> Hits:
        """Find the k entries of highest cosine with each vector, float32 (Q, D).

        A vector of zeros finds no entry.
        """
        blocks = [
            self._search_block(vectors[start : start + QUERIES], k) for start in range(0, len(vectors), QUERIES)
        ]
        return Hits(
            np.concatenate([np.zeros((0, k), np.int32), *(hits.rows for hits in blocks)]),
            np.concatenate([np.zeros((0, k), np.float32), *(hits.scores for hits in blocks)]),
        )

    def _search_block(self, vectors: Vectors, k: int) -> Hits:
        """Find the k entries of highest cosine with each vector, for at most :data:`QUERIES` vectors."""
        nonzero = np.flatnonzero(vectors.any(axis=1))
        query_numbers, rows = self._candidates(vectors[nonzero], k)
        query_numbers = nonzero[query_numbers]
        return best_of(query_numbers, rows, self._cosines(vectors, query_numbers, rows), queries=len(vectors), k=k)

    def _candidates(self, vectors: Vectors, k: int) -> tuple[QueryNumbers, Rows]:
        """Select possible nearest entries of each vector: numbers of vectors, rows of entries."""
        few = self._among is not None and len(self._among) * _FEW < len(self.vectors)
        if self._int8_codes is not None and not few:
            candidates = self._int8_codes.candidates(vectors, k, self._allowed)
            if candidates is not None:
                return candidates
        if self.store is not None and len(vectors) and k + MARGIN <= self.store.most and not few:
            rows = self._found_by_store(self.store, vectors, k)
        else:
            rows = nearest(vectors, self.vectors, k + MARGIN, self._among).rows
        query_numbers, places = np.nonzero(rows != NONE)
        return query_numbers, rows[query_numbers, places]

    def _found_by_store(self, store: Store, vectors: Vectors, k: int) -> Rows:
        """Search with the store; compare all allowed vectors where it finds too few: int32 (Q, at least k)."""
        rows = store.search(vectors, k + MARGIN)
        if self._allowed is None or self._among is None:
            return rows
        rows = np.where(self._allowed[rows] & (rows != NONE), rows, np.int32(NONE))
        short = np.flatnonzero((rows != NONE).sum(axis=1) < min(k, len(self._among)))
        rows[short] = nearest(vectors[short], self.vectors, rows.shape[1], self._among).rows
        return rows

    def recall(self, k: int, *, names: int = 1000, seed: int = 0) -> float:
        """Measure recall@k on sampled names of the index: how many of their true k nearest neighbours are found.

        Args:
            k: number of neighbours, without the name itself.
            names: number of sampled names.
            seed: seed of the sample.
        """
        count = len(self.vectors)
        drawn = np.random.default_rng(seed).choice(count, min(names, count), replace=False).astype(np.int32)
        vectors = as_float32(self.vectors[drawn])
        true_rows = nearest(vectors, self.vectors, k + 1).rows
        relevant = (true_rows != NONE) & (true_rows != drawn[:, None])
        rows = self.search_vectors(vectors, k + 1).rows
        retrieved = (true_rows[:, :, None] == rows[:, None, :]).any(axis=2) & relevant
        return float(retrieved.sum() / max(relevant.sum(), 1))

    def score(self, queries: Sequence[str], rows: Rows) -> Scores:
        """Compute the cosines of given entries; see :class:`~nymlink.index.hits.Searcher`."""
        scores = np.zeros(rows.shape, np.float32)
        query_numbers, places = np.nonzero(rows != NONE)
        scores[query_numbers, places] = self._cosines(
            self.vectors_of(queries), query_numbers, rows[query_numbers, places]
        )
        return scores

    def _cosines(self, vectors: Vectors, query_numbers: QueryNumbers, rows: Rows) -> Scores:
        """Compute the cosine of each pair of a vector and an entry: float32 (n). ``query_numbers`` must ascend."""
        scores = np.zeros(len(rows), np.float32)
        bounds = np.searchsorted(query_numbers, np.arange(len(vectors) + 1)).tolist()
        for vector, (start, end) in zip(vectors, pairwise(bounds), strict=True):
            for first in range(start, end, _SCORED):
                block = slice(first, min(first + _SCORED, end))
                # Do not use a matrix product: its rounding depends on the number of rows.
                scores[block] = np.einsum("rd,d->r", as_float32(self.vectors.take(rows[block], axis=0)), vector)
        # Rounding to float16 may make a vector a little longer than 1.
        return np.minimum(scores, 1, out=scores)

    def vectors_of(self, queries: Sequence[str]) -> Vectors:
        """Encode queries: float32 (Q, D).

        The vectors of the last search are kept, because the hits of other searches are scored with the same
        queries right after it.
        """
        # Read the item once, because another thread may search at the same time.
        [vector_of] = self._last
        if any(query not in vector_of for query in queries):
            vector_of = self._encode_distinct(list(dict.fromkeys(queries)))
            self._last[0] = vector_of
        width = self.vectors.shape[1]
        return np.array([vector_of[query] for query in queries], np.float32).reshape(-1, width)

    def _encode_distinct(self, distinct: Sequence[str]) -> dict[str, Vectors]:
        """Encode distinct texts. Names of entries, in any stored order of their words, already have vectors."""
        rows = {text: self._entries.find(text) for text in distinct}
        new = [text for text, row in rows.items() if row is None]
        stored = {text: _inverse(as_float32(self.vectors[row])) for text, row in rows.items() if row is not None}
        return stored | dict(zip(new, self.encoder.encode(new), strict=True))

    def save(self, directory: Path) -> None:
        """Write the search into a new directory."""
        directory.mkdir()
        save_array(directory, _FILE, self.vectors)
        for part in (self.store, self._int8_codes):
            if part is not None:
                part.save(directory)

    @property
    def files(self) -> list[str]:
        """Names of the saved files."""
        parts = [part.FILES for part in (self.store, self._int8_codes) if part is not None]
        return [f"{_FILE}.npy", *chain(*parts)]

    @classmethod
    def load(
        cls,
        directory: Path,
        entries: Entries,
        encoder: NameEncoder,
        *,
        kind: str = EXACT_NEIGHBOURS,
        store: ServerStore | None = None,
    ) -> DenseSearch:
        """Map the search of a directory into memory.

        Args:
            directory: as written by :meth:`save`.
            entries: E entries.
            encoder: encodes queries.
            kind: the kind given to :meth:`build`.
            store: server that searches the vectors.

        Raises:
            OSError: a file of the search is missing.
            ValueError: the vectors do not fit the entries or the encoder, or there is no such kind.
        """
        # With faiss or a server, single rows of the vectors are read.
        vectors = map_array(directory, _FILE, scattered=store is not None or kind != EXACT_NEIGHBOURS)
        if vectors.dtype != np.float16 or vectors.shape != (len(entries), encoder.width):
            raise ValueError(
                f"its vectors are {vectors.dtype} {vectors.shape}, not {len(entries)} of width {encoder.width}"
            )
        if store is not None:
            return cls(entries, encoder, vectors, store)
        if kind != EXACT_NEIGHBOURS:
            return cls(entries, encoder, vectors, FaissIndex.load(directory, kind, len(entries)))
        return cls(entries, encoder, vectors, int8_codes=Int8Codes.load(directory, vectors))


def _inverse(vector: Vectors) -> Vectors:
    """Scale a stored vector so that its product with the stored vector is 1. A vector of zeros stays.

    Rounding to float16 has changed the length of the stored vector a little. With the scaling, an entry scores 1
    for its own name, and the order of entries stays the same.
    """
    square = float(np.dot(vector, vector))
    return vector / np.float32(square) if square else vector


def _encode_blocks(
    entries: Entries, encoder: NameEncoder, cache: EmbeddingCache | None, *, progress: bool
) -> Iterator[HalfVectors]:
    """Encode all entries, and yield their float16 vectors block by block. Warn once if names were truncated."""
    truncation = TruncationCounts()
    starts = range(0, len(entries), _ENCODED)
    # The encoder itself shows the progress within a block.
    for start in track(starts, "blocks of names", shown=progress and len(starts) > 1):
        names = entries.texts[start : start + _ENCODED].to_pylist()
        with truncation.collected():
            vectors = encoder.encode(names, cache=cache, progress=progress)
        if vectors.shape != (len(names), encoder.width):
            raise ValueError(
                f"the encoder made vectors {vectors.shape} of {len(names)} names, not of width {encoder.width}"
            )
        yield np.ascontiguousarray(vectors.astype(np.float16))
    truncation.warn(stacklevel=1)
