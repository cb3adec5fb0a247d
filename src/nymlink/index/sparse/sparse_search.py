"""Sparse search by TF-IDF cosine.

It uses an inverted index in shards, and no dense matrix of queries and entries.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from nymlink.core.environment import compute_threads
from nymlink.core.store.arrays import Bools, map_array, save_array
from nymlink.core.store.foreign_folders import read_json_file
from nymlink.core.terminal import track
from nymlink.index.entries.entries import Entries
from nymlink.index.hits import NONE, Hits, Rows, Scores, best_of
from nymlink.index.sparse.features import SparseSettings
from nymlink.index.sparse.postings import BestRows, Postings, chunks, find, sample_features
from nymlink.index.sparse.tfidf import FeatureLists, SparseVectors, TfIdf

T = TypeVar("T")

_SHARD: Final = 1 << 18
"""Largest number of entries in a shard. The sums of a query over so many entries stay in the CPU cache."""

_SHARD_BYTES: Final = 1 << 25
"""Largest number of bytes of text in a shard, on average. Inverting takes some sixty times as much memory."""

_BUDGET: Final = 12_000_000
"""Largest number of postings read for a query. Reading so many takes some fifteen milliseconds."""

_ALWAYS_SEARCHED: Final = 1000
"""A feature that at most so many entries have is never too common for the search, in vocabularies of any size."""

_MARGIN: Final = (64, 2048)
"""Smallest and largest number of entries fetched beyond k.

Features that were left out of the search can move such entries into the first k.
"""

_MARGIN_SHARE: Final = 4096
"""Within these bounds, one in so many entries is fetched beyond k, because scores in a large vocabulary are more
similar.
"""

_BLOCK: Final = (16, 128)
"""Smallest and largest number of queries in a block for a thread.

With larger blocks, threads wait less for each other.
"""

_REMEMBERED: Final = 16
"""Number of blocks of queries whose vectors are remembered."""


class SparseSearch:
    """TF-IDF cosine similarity between queries and entries.

    An inverted index finds entries by the rarer features of a query. All features then score the entries that were
    found.

    Args:
        entries: E entries.
        weights: TF-IDF weights that were fitted on the entries.
        shards: the postings of consecutive ranges of entries.
        scales: float32 (E): one over the length of the vector of each entry; 0 for an entry without features.
        lists: the features of each entry.

    Raises:
        ValueError: the arguments do not fit each other.
    """

    def __init__(
        self,
        entries: Entries,
        weights: TfIdf,
        shards: Sequence[Postings],
        scales: npt.NDArray[np.float32],
        lists: FeatureLists,
    ) -> None:
        sizes = (len(scales), len(lists.starts) - 1, sum(shard.size for shard in shards))
        if scales.dtype != np.float32 or set(sizes) != {len(entries)}:
            raise ValueError("the shards do not fit the entries")
        self.settings = weights.settings
        self.weights = weights
        self._entries = entries
        self._shards = tuple(shards)
        self._scales = scales
        self._lists = lists
        self._common = max(self.settings.search_share * len(entries), _ALWAYS_SEARCHED)
        self._margin = int(np.clip(len(entries) // _MARGIN_SHARE, *_MARGIN))
        # The hits of other searches are scored with the same queries right after a search.
        self._vectors = lru_cache(_REMEMBERED)(self._transform)

    @classmethod
    def build(
        cls, entries: Entries, settings: SparseSettings, *, directory: Path | None = None, progress: bool = False
    ) -> SparseSearch:
        """Invert the entries and fit TF-IDF weights on them.

        Args:
            entries: E entries.
            settings: settings of the features.
            directory: a new directory for the search, with the same files as :meth:`save` writes. Only one shard
                is in memory at a time. If ``None``, the whole search is in memory.
            progress: show progress when standard error is a terminal.
        """
        built = _build_shards(entries, settings, progress=progress)
        shards = list(built) if directory is None else _SavedShards.of(built, directory)
        weights = TfIdf.fit(shards, settings)
        lists = FeatureLists.of(shards, weights.hashes, directory=directory)
        search = cls(entries, weights, list(shards), _scales(shards, weights), lists)
        if directory is not None:
            search._save_weights(directory)
        return search

    def over(self, entries: Entries) -> SparseSearch:
        """Make a search over other entries, far fewer, with the same weights, so that scores are comparable."""
        shards = list(_build_shards(entries, self.settings, progress=False))
        weights = self.weights.with_features_of(shards)
        lists = FeatureLists.of(shards, weights.hashes)
        return SparseSearch(entries, weights, shards, _scales(shards, weights), lists)

    def restricted(self, allowed: Bools) -> SparseSearch:
        """Search some entries only, given as bool (E), with the same weights and postings."""
        return SparseSearch(self._entries, self.weights, self._shards, self._scales * allowed, self._lists)

    def search(self, queries: Sequence[str], k: int) -> Hits:
        """Find the k entries of highest cosine with each query.

        An entry that shares no feature with the query is not a hit.

        Raises:
            StoreError: the index is damaged.
        """
        blocks = _map_blocks(lambda block: self._search(queries[block], k), len(queries))
        return Hits(
            np.concatenate([np.zeros((0, k), np.int32), *(hits.rows for hits in blocks)]),
            np.concatenate([np.zeros((0, k), np.float32), *(hits.scores for hits in blocks)]),
        )

    def _search(self, queries: Sequence[str], k: int) -> Hits:
        vectors = self._vectors(tuple(queries))
        # Look up each feature once for all queries. Ascending order is faster; that of a single query ascends.
        distinct, features = vectors.places, np.arange(len(vectors.places))
        if len(queries) > 1:
            distinct, features = np.unique(vectors.places, return_inverse=True)
        hashes = self.weights.hashes[distinct]
        searched = []
        for start, end in pairwise(vectors.starts.tolist()):
            chosen, weights = self._choose_features(vectors.places[start:end], vectors.values[start:end])
            searched.append((features[start:end][chosen], weights))
        best_rows = [BestRows(k, k + self._margin) for _ in queries]
        first = 0
        # Search shard by shard, so that postings of features that queries share stay in the CPU cache.
        for shard in self._shards:
            scales = self._scales[first : first + shard.size]
            places = shard.places(hashes)
            for (chosen, weights), best in zip(searched, best_rows, strict=True):
                scores = shard.products(places[:, chosen], weights, sublinear=self.settings.sublinear)
                scores *= scales
                best.add(first, scores)
            first += shard.size
        query_numbers = np.repeat(np.arange(len(queries)), [len(best.rows) for best in best_rows])
        rows = np.concatenate([best.rows for best in best_rows])
        cosines = self._cosines(vectors, query_numbers, rows)
        return best_of(query_numbers, rows, cosines, queries=len(queries), k=k)

    def _choose_features(
        self, features: npt.NDArray[np.int32], values: Scores
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
        """Choose the features of a query that the search uses, with the contribution of each to a score."""
        frequencies = self.weights.frequencies[features]
        searched = np.flatnonzero(frequencies <= self._common)
        if not len(searched):
            searched = np.arange(len(features))
        frequencies = frequencies[searched]
        weights = values[searched] * self.weights.idf(frequencies)
        multiples = sample_features(frequencies, weights, _BUDGET)
        chosen = multiples > 0
        return searched[chosen], (weights * multiples)[chosen]

    def score(self, queries: Sequence[str], rows: Rows) -> Scores:
        """Compute the cosines of given entries; see :class:`~nymlink.index.hits.Searcher`."""
        blocks = _map_blocks(lambda block: self._score(queries[block], rows[block]), len(queries))
        return np.concatenate([np.zeros((0, rows.shape[1]), np.float32), *blocks])

    def _score(self, queries: Sequence[str], rows: Rows) -> Scores:
        scores = np.zeros(rows.shape, np.float32)
        query_numbers, places = np.nonzero(rows != NONE)
        cosines = self._cosines(self._vectors(tuple(queries)), query_numbers, rows[query_numbers, places])
        scores[query_numbers, places] = cosines
        return scores

    def _transform(self, queries: tuple[str, ...]) -> SparseVectors:
        """Compute the unit vectors, of length F, of Q queries.

        A query that is a name gets the searched order of words.
        """
        return self.weights.transform([self._entries.searched_order(query) for query in queries])

    def _cosines(self, vectors: SparseVectors, query_numbers: npt.NDArray[np.int64], rows: Rows) -> Scores:
        """Compute the cosine of each entry with its query: float32 (n).

        Args:
            vectors: the unit vectors of Q queries.
            query_numbers: int (n), ascending: the query of each entry.
            rows: int32 (n): the entries.
        """
        weights = (vectors.values * self.weights.idf(self.weights.frequencies[vectors.places])).astype(np.float64)
        sums = self._lists.sums(vectors, weights, query_numbers, rows, sublinear=self.settings.sublinear)
        return (sums * self._scales[rows]).astype(np.float32)

    def save(self, directory: Path) -> None:
        """Write the search into a new directory."""
        _SavedShards.of(self._shards, directory)
        self._lists.save(directory)
        self._save_weights(directory)

    def _save_weights(self, directory: Path) -> None:
        (directory / "settings.json").write_text(json.dumps(self.settings.to_dict()), encoding="utf-8")
        save_array(directory, "hashes", self.weights.hashes)
        save_array(directory, "frequencies", self.weights.frequencies)
        save_array(directory, "scales", self._scales)
        save_array(directory, "sizes", np.array([shard.size for shard in self._shards], np.int64))

    @property
    def files(self) -> list[str]:
        """Names of the saved files."""
        arrays = [f"{name}.npy" for name in ("hashes", "frequencies", "scales", "sizes")]
        shards = [f"{number}/{file}" for number in range(len(self._shards)) for file in Postings.FILES]
        return ["settings.json", *arrays, *FeatureLists.FILES, *shards]

    @classmethod
    def load(cls, directory: Path, entries: Entries) -> SparseSearch:
        """Map the search of a directory into memory.

        Raises:
            OSError: a file is missing.
            ValueError: the files do not fit each other or the entries.
        """
        settings = SparseSettings.from_dict(read_json_file(directory / "settings.json"))
        hashes, frequencies = map_array(directory, "hashes"), map_array(directory, "frequencies")
        weights = TfIdf(settings, len(entries), hashes, frequencies)
        sizes = map_array(directory, "sizes")
        if sizes.dtype != np.int64 or sizes.ndim != 1:
            raise ValueError(f"the sizes of its shards are {sizes.dtype} {sizes.shape}")
        shards = list(_SavedShards(directory, sizes.tolist()))
        return cls(entries, weights, shards, map_array(directory, "scales"), FeatureLists.load(directory))


@dataclass(frozen=True, slots=True)
class _SavedShards:
    """Shards in a directory. Each iteration maps them into memory again.

    The reason is that pages of a mapped file count as memory until the mapping is released.

    Attributes:
        directory: the directory of the shards.
        sizes: the number of entries of each shard.
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


def _build_shards(entries: Entries, settings: SparseSettings, *, progress: bool) -> Iterator[Postings]:
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
    """Compute one over the length of each text's vector: float32 (E), 0 for a text without features."""
    scales = []
    for shard in shards:
        idf = weights.idf(weights.frequencies[find(weights.hashes, shard.features)]).astype(np.float64)
        norms = shard.norms(idf, sublinear=weights.settings.sublinear)
        scales.append(np.divide(1, norms, out=np.zeros(shard.size), where=norms > 0).astype(np.float32))
    return np.concatenate(scales)


def _map_blocks(function: Callable[[slice], T], count: int) -> list[T]:
    """Apply a function to blocks of ``count`` queries, on all cores."""
    if count <= _BLOCK[0]:
        return [function(slice(0, count))] if count else []
    cores = compute_threads()
    size = min(max(-(-count // (2 * cores)), _BLOCK[0]), _BLOCK[1])
    blocks = [slice(start, start + size) for start in range(0, count, size)]
    if len(blocks) < 2:
        return list(map(function, blocks))
    with ThreadPoolExecutor(cores) as pool:
        return list(pool.map(function, blocks))
