"""Dense search: the entries whose vectors are nearest to the query's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from nymlink.core.progress import track
from nymlink.core.store.arrays import Kept, Vectors, as_float32, map_array, save_array, save_blocks
from nymlink.encode.truncation import Cuts
from nymlink.index.dense.approximate import EXACTLY, Neighbours
from nymlink.index.dense.int8_codes import QUERIES, Codes, Owners
from nymlink.index.dense.nearest import nearest
from nymlink.index.entries.entries import Entries
from nymlink.index.fusion.hits import NONE, Hits, Rows, Scores, best_of

if TYPE_CHECKING:
    from nymlink.encode.cache.embedding_cache import EmbeddingCache

_MARGIN: Final = 16
"""Entries fetched beyond k: a product of blocks rounds otherwise than that of single vectors, by which hits are
ordered in the end."""

_ENCODED: Final = 1 << 14
"""Entries encoded in one go, those of like length together: bounds the memory of their vectors as float32."""

_SCORED: Final = 1 << 13
"""Entries scored in one go: a query that is like all or none of them may have to be compared with them all."""

_FILE: Final = "vectors"


class Encodes(Protocol):
    """What dense search needs of an encoder."""

    def encode(self, names: Sequence[str], *, cache: EmbeddingCache | None = None) -> Vectors:
        """float32 (N, D): the unit vectors of N names, which the cache may hold already and keeps."""
        ...


class DenseSearch:
    """Search by the cosine between vectors of names: exact, or among the entries that another index finds near.

    Args:
        entries: E entries.
        encoder: makes the vectors of queries; the one that made those of the entries.
        vectors: float16 (E, D): the unit vectors of the entries.
        neighbours: finds entries near to a vector; if ``None``, the search is exact.
        codes: make an exact search faster.
    """

    def __init__(
        self,
        entries: Entries,
        encoder: Encodes,
        vectors: Kept,
        neighbours: Neighbours | None = None,
        *,
        codes: Codes | None = None,
    ) -> None:
        self._entries = entries
        self.vectors = vectors
        self.neighbours = neighbours
        self._codes = codes
        self.encoder = encoder
        self._last: dict[str, Vectors] = {}

    @classmethod
    def build(
        cls,
        entries: Entries,
        encoder: Encodes,
        *,
        width: int,
        directory: Path | None = None,
        kind: str = EXACTLY,
        cache: EmbeddingCache | None = None,
        progress: bool = False,
    ) -> DenseSearch:
        """Encode all entries.

        Args:
            entries: what is to be searched.
            encoder: makes their vectors, and those of queries.
            width: the length D of its vectors.
            directory: a new directory, to which this is written as by :meth:`save`, but memory has a block of
                vectors at a time. If ``None``, all is in memory.
            kind: ``"exact"``, or one of :data:`~nymlink.index.dense.approximate.KINDS`.
            cache: where vectors encoded before are, and new ones are kept.
            progress: whether to show progress when standard error is a terminal.

        Raises:
            MissingExtraError: the kind needs faiss, and it is not installed.
            ValueError: the encoder's vectors have another width.
        """
        blocks = _encoded(entries, encoder, width, cache, progress=progress)
        if directory is None:
            vectors: Kept = np.concatenate([np.zeros((0, width), np.float16), *blocks])
        else:
            directory.mkdir()
            save_blocks(directory, _FILE, blocks, dtype=np.float16, shape=(len(entries), width))
            vectors = map_array(directory, _FILE)
        if kind == EXACTLY:
            codes = Codes.of(vectors) if directory is None else Codes.write(directory, vectors)
            return cls(entries, encoder, vectors, codes=codes)
        neighbours = Neighbours.build(vectors, kind, progress=progress)
        if directory is not None:
            neighbours.save(directory)
        return cls(entries, encoder, vectors, neighbours)

    def search(self, queries: Sequence[str], k: int) -> Hits:
        """The k nearest entries of each query; see :class:`~nymlink.index.fusion.hits.Searcher`.

        Everything is near to something, but a query that is blank, or of which the encoder knows nothing, means
        nothing: it finds no entry.
        """
        hits = self.nearest(self._encode(queries), k)
        blank = [place for place, query in enumerate(queries) if not query.strip()]
        hits.rows[blank], hits.scores[blank] = NONE, 0
        return hits

    def nearest(self, vectors: Vectors, k: int) -> Hits:
        """The k entries nearest to each vector; none is near to a vector of zeros.

        Args:
            vectors: float32 (Q, D).
            k: how many.
        """
        found = [self._nearest(vectors[start : start + QUERIES], k) for start in range(0, len(vectors), QUERIES)]
        return Hits(
            np.concatenate([np.zeros((0, k), np.int32), *(hits.rows for hits in found)]),
            np.concatenate([np.zeros((0, k), np.float32), *(hits.scores for hits in found)]),
        )

    def _nearest(self, vectors: Vectors, k: int) -> Hits:
        some = np.flatnonzero(vectors.any(axis=1))
        owners, rows = self._near(vectors[some], k)
        owners = some[owners]
        return best_of(owners, rows, self._cosines(vectors, owners, rows), queries=len(vectors), k=k)

    def _near(self, vectors: Vectors, k: int) -> tuple[Owners, Rows]:
        """Entries among which the k nearest are, or are looked for, and the vector that each is near to."""
        found = None if self._codes is None else self._codes.candidates(vectors, k)
        if found is not None:
            return found
        if self.neighbours is not None:
            rows = self.neighbours.search(vectors, k + _MARGIN)
        else:
            rows = nearest(vectors, self.vectors, k + _MARGIN).rows
        owners, places = np.nonzero(rows != NONE)
        return owners, rows[owners, places]

    def recall(self, k: int, *, names: int = 1000, seed: int = 0) -> float:
        """The share of the k entries nearest to a name of the index, itself left out, that a search gives.

        Args:
            k: how many.
            names: how many names are asked for, drawn with the seed.
            seed: of the draw.
        """
        count = len(self.vectors)
        drawn = np.random.default_rng(seed).choice(count, min(names, count), replace=False).astype(np.int32)
        vectors = as_float32(self.vectors[drawn])
        exact = nearest(vectors, self.vectors, k + 1).rows
        wanted = (exact != NONE) & (exact != drawn[:, None])
        given = self.nearest(vectors, k + 1).rows
        right = (exact[:, :, None] == given[:, None, :]).any(axis=2) & wanted
        return float(right.sum() / max(wanted.sum(), 1))

    def score(self, queries: Sequence[str], rows: Rows) -> Scores:
        """The cosines of given entries; see :class:`~nymlink.index.fusion.hits.Searcher`."""
        scores = np.zeros(rows.shape, np.float32)
        owners, places = np.nonzero(rows != NONE)
        scores[owners, places] = self._cosines(self._encode(queries), owners, rows[owners, places])
        return scores

    def _cosines(self, vectors: Vectors, owners: Owners, rows: Rows) -> Scores:
        """The cosine of each row with the vector that it is for, the owners of rows ascending."""
        scores = np.zeros(len(rows), np.float32)
        bounds = np.searchsorted(owners, np.arange(len(vectors) + 1)).tolist()
        for vector, (start, end) in zip(vectors, pairwise(bounds), strict=True):
            for first in range(start, end, _SCORED):
                some = slice(first, min(first + _SCORED, end))
                # Not a matrix product: that rounds differently with the number of rows.
                scores[some] = np.einsum("rd,d->r", as_float32(self.vectors[rows[some]]), vector)
        # Kept as float16, a vector may be a little longer than 1.
        return np.minimum(scores, 1, out=scores)

    def _encode(self, queries: Sequence[str]) -> Vectors:
        """The vectors of queries.

        Those of the last search are remembered, because what other searches find is scored right after it.
        """
        # Read once: another thread may search at the same time.
        known = self._last
        if any(query not in known for query in queries):
            known = self._vectors_of(list(dict.fromkeys(queries)))
            self._last = known
        width = self.vectors.shape[1]
        return np.array([known[query] for query in queries], np.float32).reshape(-1, width)

    def _vectors_of(self, distinct: Sequence[str]) -> dict[str, Vectors]:
        """The vectors of different texts; a name, in whatever order, has that of its entry."""
        rows = {text: self._entries.find(text) for text in distinct}
        new = [text for text, row in rows.items() if row is None]
        known = {text: _unit(as_float32(self.vectors[row])) for text, row in rows.items() if row is not None}
        return known | dict(zip(new, self.encoder.encode(new), strict=True))

    def save(self, directory: Path) -> None:
        """Write the search into a new directory."""
        directory.mkdir()
        save_array(directory, _FILE, self.vectors)
        for part in (self.neighbours, self._codes):
            if part is not None:
                part.save(directory)

    @property
    def files(self) -> list[str]:
        """The names of the files that the search is saved as."""
        parts = [part.FILES for part in (self.neighbours, self._codes) if part is not None]
        return [f"{_FILE}.npy", *chain(*parts)]

    @classmethod
    def load(
        cls, directory: Path, entries: Entries, encoder: Encodes, *, width: int, kind: str = EXACTLY
    ) -> DenseSearch:
        """Map the search of a directory into memory.

        Raises:
            OSError: its file is missing.
            ValueError: the vectors do not fit the entries or the encoder, or there is no such kind.
        """
        vectors = map_array(directory, _FILE)
        if vectors.dtype != np.float16 or vectors.shape != (len(entries), width):
            raise ValueError(
                f"its vectors are {vectors.dtype} {vectors.shape}, not {len(entries)} of width {width}"
            )
        if kind != EXACTLY:
            return cls(entries, encoder, vectors, Neighbours.load(directory, kind, len(entries)))
        return cls(entries, encoder, vectors, codes=Codes.load(directory, vectors))


def _unit(vector: Vectors) -> Vectors:
    """A vector without what storing it as float16 did to its length; one of zeros stays."""
    length = float(np.linalg.norm(vector))
    return vector / np.float32(length) if length else vector


def _encoded(
    entries: Entries, encoder: Encodes, width: int, cache: EmbeddingCache | None, *, progress: bool
) -> Iterator[Kept]:
    """The vectors of all entries, block after block; names that are cut are told of once."""
    cuts = Cuts()
    for start in track(range(0, len(entries), _ENCODED), "encoding", shown=progress):
        names = entries.texts[start : start + _ENCODED].to_pylist()
        with cuts.collected():
            vectors = encoder.encode(names) if cache is None else encoder.encode(names, cache=cache)
        if vectors.shape != (len(names), width):
            raise ValueError(
                f"the encoder made vectors {vectors.shape} of {len(names)} names, not of width {width}"
            )
        yield np.ascontiguousarray(vectors.astype(np.float16))
    cuts.say(stacklevel=1)
