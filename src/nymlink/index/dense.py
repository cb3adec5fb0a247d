"""Dense search: the entries whose vectors are nearest to the query's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from nymlink.arrays import map_array, save_array
from nymlink.encode.cuts import Cuts
from nymlink.index.entries import Entries
from nymlink.index.heads import Heads
from nymlink.index.hits import NONE, Hits, Rows, Scores, best
from nymlink.index.nearest import Kept, StoredVectors, Vectors, nearest
from nymlink.index.neighbours import EXACTLY, Neighbours
from nymlink.progress import track

if TYPE_CHECKING:
    from nymlink.encode.cache import EmbeddingCache

_UNPACKED_BYTES: Final = 128 << 20
"""Vectors up to this size are kept as float32 too where there are many queries: turning them from float16 takes a
part of the time of a search."""

_FEW: Final = 16
_FEW_PACKED: Final = 64
"""Up to so many queries are looked for by heads. From 16 on the product of all coordinates is as quick for MEDIC;
where vectors have to be turned to float32 for it, as those of MeSH, it takes three times as long for 32."""

_MARGIN: Final = 16
"""Entries fetched beyond k: a product of blocks rounds otherwise than that of single vectors, by which hits are
ordered in the end."""

_ENCODED: Final = 1 << 14
"""Entries encoded in one go, those of like length together: bounds the memory of their vectors as float32."""

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
        heads: makes an exact search for few vectors faster.
    """

    def __init__(
        self,
        entries: Entries,
        encoder: Encodes,
        vectors: Kept,
        neighbours: Neighbours | None = None,
        *,
        heads: Heads | None = None,
    ) -> None:
        self._entries = entries
        self.vectors = vectors
        self.neighbours = neighbours
        self._heads = heads
        self.encoder = encoder
        self._last: dict[str, Vectors] = {}

    @classmethod
    def build(
        cls,
        entries: Entries,
        encoder: Encodes,
        *,
        width: int,
        kind: str = EXACTLY,
        cache: EmbeddingCache | None = None,
        progress: bool = False,
    ) -> DenseSearch:
        """Encode all entries, in memory.

        Args:
            entries: what is to be searched.
            encoder: makes their vectors, and those of queries.
            width: the length D of its vectors.
            kind: ``"exact"``, or one of :data:`~nymlink.index.neighbours.KINDS`.
            cache: where vectors encoded before are, and new ones are kept.
            progress: whether to show progress when standard error is a terminal.

        Raises:
            MissingExtraError: the kind needs faiss, and it is not installed.
            ValueError: the encoder's vectors have another width.
        """
        blocks = list(_encoded(entries, encoder, width, cache, progress=progress))
        vectors: Kept = np.concatenate([np.zeros((0, width), np.float16), *blocks])
        return cls._of_vectors(entries, encoder, vectors, kind, progress=progress)

    @classmethod
    def write(
        cls,
        directory: Path,
        entries: Entries,
        encoder: Encodes,
        *,
        width: int,
        kind: str = EXACTLY,
        cache: EmbeddingCache | None = None,
        progress: bool = False,
    ) -> DenseSearch:
        """What :meth:`build` and :meth:`save` do, but memory has a block of vectors at a time, and heads."""
        directory.mkdir()
        with open(directory / f"{_FILE}.npy", "wb") as file:
            shape = (len(entries), width)
            header = {"descr": "<f2", "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(file, header)
            for block in _encoded(entries, encoder, width, cache, progress=progress):
                file.write(block.data)
        made = cls._of_vectors(entries, encoder, map_array(directory, _FILE), kind, progress=progress)
        made._save_parts(directory)
        return made

    @classmethod
    def _of_vectors(
        cls, entries: Entries, encoder: Encodes, vectors: Kept, kind: str, *, progress: bool
    ) -> DenseSearch:
        if kind != EXACTLY:
            return cls(entries, encoder, vectors, Neighbours.build(vectors, kind, progress=progress))
        return cls(entries, encoder, vectors, heads=Heads.of(vectors))

    @property
    def _unpacks(self) -> bool:
        return self.vectors.size * 4 <= _UNPACKED_BYTES

    @cached_property
    def _unpacked(self) -> StoredVectors:
        return self.vectors.astype(np.float32) if self._unpacks else self.vectors

    def search(self, queries: Sequence[str], k: int) -> Hits:
        """The k nearest entries of each query; see :class:`~nymlink.index.hits.Searcher`.

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
        rows = np.full((len(vectors), k + _MARGIN), NONE, np.int32)
        some = vectors.any(axis=1)
        if some.any():
            found = self._near(vectors[some], k + _MARGIN)
            # Approximate search gives more than it is asked for.
            rows = np.full((len(vectors), found.shape[1]), NONE, np.int32)
            rows[some] = found
        return best(rows, self._cosines(vectors, rows), k)

    def _near(self, vectors: Vectors, k: int) -> Rows:
        if self.neighbours is not None:
            return self.neighbours.search(vectors, k)
        few = len(vectors) <= (_FEW if self._unpacks else _FEW_PACKED)
        if few and self._heads is not None and k <= self._heads.deepest:
            return self._heads.search(vectors, k)
        return nearest(vectors, self._unpacked, k).rows

    def recall(self, k: int, *, names: int = 1000, seed: int = 0) -> float:
        """The share of the k entries nearest to a name of the index, itself left out, that a search gives.

        Args:
            k: how many.
            names: how many names are asked for, drawn with the seed.
            seed: of the draw.
        """
        count = len(self.vectors)
        drawn = np.random.default_rng(seed).choice(count, min(names, count), replace=False).astype(np.int32)
        vectors = self.vectors[drawn].astype(np.float32)
        exact = nearest(vectors, self._unpacked, k + 1).rows
        wanted = (exact != NONE) & (exact != drawn[:, None])
        given = self.nearest(vectors, k + 1).rows
        right = (exact[:, :, None] == given[:, None, :]).any(axis=2) & wanted
        return float(right.sum() / max(wanted.sum(), 1))

    def score(self, queries: Sequence[str], rows: Rows) -> Scores:
        """The cosines of given entries; see :class:`~nymlink.index.hits.Searcher`."""
        return self._cosines(self._encode(queries), rows)

    def _cosines(self, vectors: Vectors, rows: Rows) -> Scores:
        scores = np.zeros(rows.shape, np.float32)
        for query, vector in enumerate(vectors):
            found = rows[query] != NONE
            own = self.vectors[rows[query, found]].astype(np.float32)
            # Not a matrix product: that rounds differently with the number of rows.
            scores[query, found] = np.einsum("rd,d->r", own, vector)
        return scores

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
        """The vectors of different texts; one that equals an entry has been encoded before."""
        rows = {text: self._entries.find(text) for text in distinct}
        new = [text for text, row in rows.items() if row is None]
        known = {
            text: _unit(self.vectors[row].astype(np.float32)) for text, row in rows.items() if row is not None
        }
        return known | dict(zip(new, self.encoder.encode(new), strict=True))

    def save(self, directory: Path) -> None:
        """Write the search into a new directory."""
        directory.mkdir()
        save_array(directory, _FILE, self.vectors)
        self._save_parts(directory)

    def _save_parts(self, directory: Path) -> None:
        for part in (self.neighbours, self._heads):
            if part is not None:
                part.save(directory)

    @property
    def files(self) -> list[str]:
        """The names of the files that the search is saved as."""
        parts = [part.FILES for part in (self.neighbours, self._heads) if part is not None]
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
        # The manifest says whether a file is missing that was there.
        heads = Heads.load(directory, vectors) if (directory / Heads.FILES[0]).is_file() else None
        return cls(entries, encoder, vectors, heads=heads)


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
