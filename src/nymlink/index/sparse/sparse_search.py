"""Sparse search: TF-IDF cosine over inverted shards, best k without a dense query × entry matrix."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import csr_matrix

from nymlink.core.progress import track
from nymlink.core.store.arrays import map_array, save_array
from nymlink.index.dense.best_so_far import Candidates
from nymlink.index.entries.entries import Entries
from nymlink.index.fusion.hits import NONE, Hits, Rows, Scores, best_of
from nymlink.index.sparse.features import TEXT_BITS, Hashes
from nymlink.index.sparse.postings import Postings, chunks, find
from nymlink.index.sparse.sampling import sample
from nymlink.index.sparse.settings import SparseSettings
from nymlink.index.sparse.tfidf import TfIdf

T = TypeVar("T")

_SHARD: Final = 1 << 18
"""Most entries of a shard: a query's sums over all of them stay in the cache."""

_SHARD_BYTES: Final = 1 << 25
"""Most bytes of text of a shard, on average: inverting them takes some sixty times as much memory."""

_BUDGET: Final = 12_000_000
"""Postings that a search looks at for one query; they take some fifteen milliseconds."""

_ALWAYS_SEARCHED: Final = 1000
"""A feature that no more entries have than this is not common, however small the vocabulary."""

_MARGIN: Final = (32, 2048)
"""Fewest and most entries fetched beyond k, so that what the features left out of the search would have put among
the first k is there to be found."""

_MARGIN_SHARE: Final = 4096
"""Between these, one in so many entries: in a large vocabulary more of them stand close together."""

_REST: Final = np.uint64(48)
"""Bits of a pair after the first sixteen."""

_BLOCK: Final = (16, 128)
"""Fewest and most queries searched in one go, by one thread: the more, the less threads wait for each other."""


class SparseSearch:
    """TF-IDF cosine similarity between queries and entries.

    Entries are found by the rarer features of a query, which an inverted index of them knows, and scored by all
    features, which their texts tell.

    Args:
        entries: E entries.
        weights: the weighting fitted on them.
        shards: their postings, one stretch of entries after the other.
        scales: float32 (E): one over the length of the vector of each entry, 0 for one without features.

    Raises:
        ValueError: these do not fit each other.
    """

    def __init__(
        self,
        entries: Entries,
        weights: TfIdf,
        shards: Sequence[Postings],
        scales: npt.NDArray[np.float32],
    ) -> None:
        if scales.dtype != np.float32 or not len(entries) == len(scales) == sum(shard.size for shard in shards):
            raise ValueError("the shards do not fit the entries")
        self.settings = weights.settings
        self.weights = weights
        self._entries = entries
        self._shards = tuple(shards)
        self._scales = scales
        self._common = max(self.settings.search_share * len(entries), _ALWAYS_SEARCHED)
        self._margin = int(np.clip(len(entries) // _MARGIN_SHARE, *_MARGIN))

    @classmethod
    def build(
        cls, entries: Entries, settings: SparseSettings, *, directory: Path | None = None, progress: bool = False
    ) -> SparseSearch:
        """Invert the entries and fit the weighting on them.

        Args:
            entries: what is to be searched.
            settings: by which features.
            directory: a new directory, to which this is written as by :meth:`save`, but memory holds only one
                shard at a time. If ``None``, all is in memory.
            progress: whether to show progress when standard error is a terminal.
        """
        made = _shards(entries, settings, progress=progress)
        shards = list(made) if directory is None else _SavedShards.of(made, directory)
        weights = TfIdf.of(shards, settings)
        search = cls(entries, weights, list(shards), _scales(shards, weights))
        if directory is not None:
            search._save_weights(directory)
        return search

    def search(self, queries: Sequence[str], k: int) -> Hits:
        """The k entries of highest cosine; entries that share no feature with the query are no hits.

        Raises:
            StoreError: the index is damaged.
        """
        found = _in_blocks(lambda block: self._search(queries[block], k), len(queries))
        return Hits(
            np.concatenate([np.zeros((0, k), np.int32), *(hits.rows for hits in found)]),
            np.concatenate([np.zeros((0, k), np.float32), *(hits.scores for hits in found)]),
        )

    def _search(self, queries: Sequence[str], k: int) -> Hits:
        vectors = self._vectors(queries)
        # Each feature of any query is looked up once, in ascending order, which is faster.
        distinct, features = np.unique(vectors.indices, return_inverse=True)
        hashes = self.weights.hashes[distinct]
        searched = []
        for start, end in pairwise(vectors.indptr.tolist()):
            chosen, weights = self._searched(vectors.indices[start:end], vectors.data[start:end])
            searched.append((features[start:end][chosen], weights))
        candidates = [Candidates(k, k + self._margin) for _ in queries]
        first = 0
        # Shard after shard, because the queries have features in common, whose postings stay in the cache.
        for shard in self._shards:
            scales = self._scales[first : first + shard.size]
            places = shard.places(hashes)
            for (chosen, weights), some in zip(searched, candidates, strict=True):
                scores = shard.products(places[:, chosen], weights, sublinear=self.settings.sublinear)
                scores *= scales
                some.add(first, scores)
            first += shard.size
        owners = np.repeat(np.arange(len(queries)), [len(some.rows) for some in candidates])
        rows = np.concatenate([some.rows for some in candidates])
        return best_of(owners, rows, self._cosines(vectors, owners, rows), queries=len(queries), k=k)

    def _searched(
        self, features: npt.NDArray[np.int32], values: Scores
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
        """Which of the features of a query it is searched by, given its vector, and what each adds to a score."""
        frequencies = self.weights.frequencies[features]
        searched = np.flatnonzero(frequencies <= self._common)
        if not len(searched):
            searched = np.arange(len(features))
        frequencies = frequencies[searched]
        weights = values[searched] * self.weights.idf(frequencies)
        stands_for = sample(frequencies, weights, _BUDGET)
        chosen = stands_for > 0
        return searched[chosen], (weights * stands_for)[chosen]

    def score(self, queries: Sequence[str], rows: Rows) -> Scores:
        """The cosines of given entries; see :class:`~nymlink.index.fusion.hits.Searcher`."""
        found = _in_blocks(lambda block: self._score(queries[block], rows[block]), len(queries))
        return np.concatenate([np.zeros((0, rows.shape[1]), np.float32), *found])

    def _score(self, queries: Sequence[str], rows: Rows) -> Scores:
        scores = np.zeros(rows.shape, np.float32)
        owners, places = np.nonzero(rows != NONE)
        scores[owners, places] = self._cosines(self._vectors(queries), owners, rows[owners, places])
        return scores

    def _vectors(self, queries: Sequence[str]) -> csr_matrix:
        """float32 (Q, F): the unit vectors of queries; of a name that of the order in which it is searched."""
        return self.weights.transform([self._entries.searched(query) for query in queries])

    def _cosines(self, vectors: csr_matrix, owners: npt.NDArray[np.int64], rows: Rows) -> Scores:
        """The cosine of each row with the query it is for.

        The texts of the entries are inverted like those of a shard, but every feature is marked with the query it
        is for: a text then has only its own query's features, and one product serves all queries.

        Args:
            vectors: float32 (Q, F): the unit vectors of the queries.
            owners: int (n): which query.
            rows: int32 (n): which entry.
        """
        asked = self.weights.hashes[vectors.indices] << np.uint64(TEXT_BITS)
        asked += _marks(np.repeat(np.arange(vectors.shape[0]), np.diff(vectors.indptr)))
        order = np.argsort(asked)
        asked = asked[order]
        frequencies = self.weights.frequencies[vectors.indices]
        weights = (vectors.data * self.weights.idf(frequencies))[order].astype(np.float64)
        # Most features of a text are not asked for; their first sixteen bits say so quickly.
        wanted = np.zeros(1 << 16, bool)
        wanted[asked >> _REST] = True
        asked >>= np.uint64(TEXT_BITS)
        products = np.zeros(len(rows))
        texts = self._entries.texts.take(pa.array(rows))
        for start, end in chunks(pc.binary_length(texts).to_numpy()):
            pairs = self.settings.features(texts[start:end].to_pylist())
            pairs += _marks(owners[start:end])[pairs & np.uint64((1 << TEXT_BITS) - 1)]
            postings = Postings.of(pairs[wanted[pairs >> _REST]], end - start)
            places = find(asked, postings.features)
            found = np.where(places >= 0, weights[places], 0) if len(weights) else np.zeros(len(places))
            products[start:end] = postings.sums(found, sublinear=self.settings.sublinear)
        return (products * self._scales[rows]).astype(np.float32)

    def save(self, directory: Path) -> None:
        """Write the search into a new directory."""
        _SavedShards.of(self._shards, directory)
        self._save_weights(directory)

    def _save_weights(self, directory: Path) -> None:
        (directory / "settings.json").write_text(json.dumps(self.settings.to_dict()), encoding="utf-8")
        save_array(directory, "hashes", self.weights.hashes)
        save_array(directory, "frequencies", self.weights.frequencies)
        save_array(directory, "scales", self._scales)
        save_array(directory, "sizes", np.array([shard.size for shard in self._shards], np.int64))

    @property
    def files(self) -> list[str]:
        """The names of the files that the search is saved as."""
        arrays = [f"{name}.npy" for name in ("hashes", "frequencies", "scales", "sizes")]
        shards = [f"{number}/{file}" for number in range(len(self._shards)) for file in Postings.FILES]
        return ["settings.json", *arrays, *shards]

    @classmethod
    def load(cls, directory: Path, entries: Entries) -> SparseSearch:
        """Map the search of a directory into memory.

        Raises:
            OSError: a file of it is missing.
            ValueError: the files do not fit each other or the entries.
        """
        settings = SparseSettings.from_dict(json.loads((directory / "settings.json").read_text(encoding="utf-8")))
        hashes, frequencies = map_array(directory, "hashes"), map_array(directory, "frequencies")
        weights = TfIdf(settings, len(entries), hashes, frequencies)
        sizes = map_array(directory, "sizes")
        if sizes.dtype != np.int64:
            raise ValueError(f"the sizes of its shards are {sizes.dtype}")
        shards = list(_SavedShards(directory, sizes.tolist()))
        return cls(entries, weights, shards, map_array(directory, "scales"))


@dataclass(frozen=True, slots=True)
class _SavedShards:
    """Shards in a directory, mapped anew whenever one goes through them.

    What was read of a mapped file counts as memory until that is let go of.

    Attributes:
        directory: where they are.
        sizes: of each.
    """

    directory: Path
    sizes: Sequence[int]

    @classmethod
    def of(cls, shards: Iterable[Postings], directory: Path) -> _SavedShards:
        """Save shards in a new directory, one after the other."""
        directory.mkdir()
        sizes = []
        for number, shard in enumerate(shards):
            shard.save(directory / str(number))
            sizes.append(shard.size)
        return cls(directory, sizes)

    def __iter__(self) -> Iterator[Postings]:
        return (Postings.load(self.directory / str(number), size) for number, size in enumerate(self.sizes))


def _shards(entries: Entries, settings: SparseSettings, *, progress: bool) -> Iterator[Postings]:
    """The entries inverted, shard after shard."""
    count = max(-(-len(entries) // _SHARD), -(-entries.texts.nbytes // _SHARD_BYTES))
    bounds = np.linspace(0, len(entries), count + 1).astype(np.int64).tolist()
    for first, last in track(list(pairwise(bounds)), "indexing", shown=progress):
        texts = entries.texts[first:last]
        yield Postings.joined(
            [
                Postings.of(settings.features(texts[start:end].to_pylist()), end - start)
                for start, end in chunks(pc.binary_length(texts).to_numpy())
            ]
        )


def _scales(shards: Iterable[Postings], weights: TfIdf) -> npt.NDArray[np.float32]:
    """One over the length of the vector of each text of all shards, 0 for one without features."""
    scales = []
    for shard in shards:
        idf = weights.idf(weights.frequencies[find(weights.hashes, shard.features)]).astype(np.float64)
        norms = shard.norms(idf, sublinear=weights.settings.sublinear)
        scales.append(np.divide(1, norms, out=np.zeros(shard.size), where=norms > 0).astype(np.float32))
    return np.concatenate(scales)


def _marks(queries: npt.NDArray[np.int64]) -> Hashes:
    """What is added to a pair's feature to tell it from that of another query, all but surely."""
    return queries.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) << np.uint64(TEXT_BITS)


def _in_blocks(work: Callable[[slice], T], count: int) -> list[T]:
    """Do something with so many queries, a block at a time, on all cores."""
    cores = os.cpu_count() or 1
    size = int(np.clip(-(-count // (2 * cores)), *_BLOCK))
    blocks = [slice(start, start + size) for start in range(0, count, size)]
    if len(blocks) < 2:
        return list(map(work, blocks))
    with ThreadPoolExecutor(cores) as pool:
        return list(pool.map(work, blocks))
