"""Approximate search with faiss: graphs (HNSW), and IVF-PQ indexes with the number of cells that a search probes.

HNSW: Malkov & Yashunin, "Efficient and Robust Approximate Nearest Neighbor Search Using Hierarchical Navigable
Small World Graphs" (TPAMI 2020). IVF and PQ: Jégou, Douze & Schmid, "Product Quantization for Nearest Neighbor
Search" (TPAMI 2011).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Final

import numpy as np

from nymlink.core.errors import InputError, MissingExtraError, StoreError, UnknownNameError
from nymlink.core.store.arrays import HalfVectors, Vectors, as_float32
from nymlink.core.terminal import track
from nymlink.index.dense.exact import nearest
from nymlink.index.hits import Rows

PROBED: Final = 8
"""Smallest number of cells that a search probes, if the index has so many."""

_TARGET: Final = 0.975
"""Recall that the number of probed cells should reach."""

_MOVED: Final = 2.0
"""Length of the noise that is added to the unit vector of a name to make a query.

The cosine of the query with the name is 0.45.

Mentions are farther from their neighbours than names are. With 128 of the 536 cells of MEDIC, a search finds 97.6
% of the neighbours of names, 96.6 % of those of mentions, and 97.1 % of those of names with noise. With 128 of the
2,000 cells of a million names, it finds 99.9, 97.6 and 96.4 %.
"""

_GAIN: Final = 0.002
"""Smallest gain of recall that makes it worth to double the cells.

If the gain is smaller, neighbours are missed because of the codes, not because of the cells.
"""

NEIGHBOURS: Final = 20
"""Number of neighbours searched for each sampled vector."""

_PROBED_SAMPLE: Final = 256
"""Number of sampled vectors. The standard error of recall is then about half a percent or less."""

_PROBING_SEED: Final = 1
"""Seed of the sample.

It differs from the seed of :meth:`nymlink.index.dense.dense_search.DenseSearch.recall`, so that the result is
measured on other names.
"""


def fewest_probes(search: Callable[[Vectors, int], Rows], vectors: HalfVectors, *, cells: int) -> int:
    """Find how many cells a search must probe to find enough of the nearest vectors.

    The number is doubled step by step.

    Args:
        search: function that is given queries, float32 (Q, D), and a number of cells to probe. It returns the rows
            of the entries found, int32 (Q, any).
        vectors: float16 (E, D): the searched vectors. To know the nearest ones, all are compared with the sample,
            a block at a time.
        cells: number of cells of the index.

    Returns:
        The number of cells to probe, at most ``cells``.
    """
    count = len(vectors)
    draw = np.random.default_rng(_PROBING_SEED)
    drawn = draw.choice(count, min(_PROBED_SAMPLE, count), replace=False)
    queries = as_float32(vectors[np.sort(drawn)])
    moves = draw.standard_normal(queries.shape, np.float32)
    queries += _MOVED * moves / np.linalg.norm(moves, axis=1, keepdims=True)
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    true_rows = nearest(queries, vectors, min(NEIGHBOURS, count)).rows
    enough, reached, probes = 0, -1.0, min(PROBED, cells)
    while enough < cells and reached < _TARGET:
        rows = search(queries, probes)
        recall = float((true_rows[:, :, None] == rows[:, None, :]).any(axis=2).mean())
        if recall - reached < _GAIN:
            break
        enough, reached, probes = probes, recall, min(2 * probes, cells)
    return enough


EXACT_NEIGHBOURS: Final = "exact"
"""Kind of dense search that always finds the nearest entries, without faiss."""

MOST_EXACT: Final = 1_000_000
"""Number of entries up to which exact search is recommended.

It takes some thirty milliseconds per query for so many entries.
"""

MARGIN: Final = 16
"""Number of entries fetched beyond k.

The cosines of all fetched entries are then computed in float32, and decide the order.
"""

_LINKS: Final = 32
"""HNSW: number of links of each entry (M)."""

_EF: Final = 128
"""HNSW: size of the candidate list in building (efConstruction) and in searching (efSearch)."""

_REFINED: Final = 4
"""IVF-PQ: number of entries fetched for each wanted entry.

Their distances are approximate, so the exact vectors decide which are the best.
"""

_FEWEST: Final = 256
"""IVF-PQ: smallest number of vectors for training."""

_TRAINING: Final = 40
"""IVF-PQ: number of training vectors for each cell centre."""

_ROUNDS: Final = 10
"""IVF-PQ: rounds of k-means."""

_PART: Final = 2
"""IVF-PQ: number of coordinates for each code of 4 bits.

A code of 8 bits for four coordinates would take the same room, but comparing it is slower: 4-bit codes are looked
up in registers (André, Kermarrec & Le Scouarnec 2017).
"""

_ADDED: Final = 1 << 14
"""Number of vectors converted to float32 and added at a time."""

_SAMPLE: Final = 1 << 14
"""IVF-PQ: number of vectors for training, or more if there are many cells."""

_SEED: Final = 0


class FaissIndex:
    """A faiss index over the vectors of entries: a :class:`~nymlink.index.stores.vector_store.Store`.

    faiss is imported when it is first needed. A graph is built by several threads, so it differs a little each
    time it is built. Once built, it always gives the same hits for the same query.

    Args:
        kind: one of :data:`KINDS`.
        index: the faiss index, or the path of its file.
        count: number of its entries.
    """

    FILES: ClassVar[tuple[str, ...]] = ("neighbours.faiss",)
    is_exact: Final = False
    most: Final = int(np.iinfo(np.int32).max)

    def __init__(self, kind: str, index: Any, count: int) -> None:
        if kind not in KINDS:
            raise ValueError(f"no dense search {kind!r}")
        self.kind = kind
        self._source = index
        self._count = count

    @classmethod
    def build(cls, vectors: HalfVectors, kind: str, *, progress: bool = False) -> FaissIndex:
        """Build a faiss index of vectors.

        Args:
            vectors: float16 (E, D): unit vectors.
            kind: one of :data:`KINDS`.
            progress: whether to show progress when standard error is a terminal.

        Raises:
            MissingExtraError: faiss is not installed.
        """
        index = KINDS[kind](_faiss(), vectors)
        for start in track(range(0, len(vectors), _ADDED), f"building {kind}", shown=progress):
            index.add(vectors[start : start + _ADDED].astype(np.float32))
        built = cls(kind, index, len(vectors))
        if kind == "ivf-pq":
            # faiss stores this number in the file of the index.
            index.nprobe = fewest_probes(built._search_cells, vectors, cells=index.nlist)
        return built

    def search(self, queries: Vectors, k: int) -> Rows:
        """Find entries near each query, in no defined order. Some of the nearest entries may be missing.

        Args:
            queries: float32 (Q, D).
            k: number of entries of a query.

        Returns:
            int32 (Q, at least k): rows; :data:`~nymlink.index.hits.NONE` fills the places if there are fewer.

        Raises:
            MissingExtraError: faiss is not installed.
            StoreError: the file is damaged.
        """
        if self.kind == "ivf-pq":
            return self._search_cells(queries, self._index.nprobe, k=k)
        settings = _faiss().SearchParametersHNSW(efSearch=max(_EF, k))
        _, rows = self._index.search(np.ascontiguousarray(queries), k, params=settings)
        return np.asarray(rows, np.int32)

    def _search_cells(self, queries: Vectors, probes: int, *, k: int = NEIGHBOURS + MARGIN) -> Rows:
        """Find entries near each query in the ``probes`` nearest cells.

        Several entries are fetched for each wanted entry.
        """
        settings = _faiss().SearchParametersIVF(nprobe=probes)
        fetched = min(k * _REFINED, max(self._count, k))
        _, rows = self._index.search(np.ascontiguousarray(queries), fetched, params=settings)
        return np.asarray(rows, np.int32)

    def save(self, directory: Path) -> None:
        """Write the index into a directory.

        Raises:
            OSError: it cannot be written.
        """
        try:
            _faiss().write_index(self._index, str(directory / self.FILES[0]))
        except RuntimeError as error:
            raise OSError(f"{self.FILES[0]} could not be written") from error

    @classmethod
    def load(cls, directory: Path, kind: str, count: int) -> FaissIndex:
        """Open the index of a directory. Its file is read at the first search.

        Raises:
            ValueError: there is no such kind.
        """
        return cls(kind, directory / cls.FILES[0], count)

    @cached_property
    def _index(self) -> Any:
        if not isinstance(self._source, Path):
            return self._source
        faiss = _faiss()
        try:
            index = faiss.read_index(str(self._source), faiss.IO_FLAG_MMAP_IFC)
        except RuntimeError as error:
            reason = str(error).strip().splitlines()[-1]
            raise StoreError(f"cannot be read ({reason}): build the index again", path=self._source) from error
        if index.ntotal != self._count:
            raise StoreError(
                f"holds {index.ntotal} vectors, not {self._count}: build the index again", path=self._source
            )
        if self.kind == "ivf-pq" and index.nprobe < min(PROBED, index.nlist):
            # With fewer probed cells, recall would be close to zero.
            raise StoreError("does not say how many cells to probe: build the index again", path=self._source)
        return index


def check_kind(kind: str, *, count: int | None = None) -> None:
    """Check that a kind of dense search is available. An index does this before it encodes names.

    Args:
        kind: ``"exact"``, or one of :data:`KINDS`.
        count: number of entries, if known.

    Raises:
        UnknownNameError: there is no such kind; the message lists the known ones.
        MissingExtraError: it needs faiss, which is not installed.
        InputError: there are too few entries to train it.
    """
    if kind == EXACT_NEIGHBOURS:
        return
    if kind not in KINDS:
        raise UnknownNameError(f"unknown dense search {kind!r}; known: {', '.join([EXACT_NEIGHBOURS, *KINDS])}")
    _faiss()
    if kind == "ivf-pq" and count is not None and count < _FEWEST:
        raise InputError(f"ivf-pq needs at least {_FEWEST} names to train, and there are {count}: choose exact")


def _faiss() -> Any:
    try:
        import faiss
    except ImportError as error:
        raise MissingExtraError("faiss", purpose="Approximate dense search") from error
    return faiss


def _hnsw(faiss: Any, vectors: HalfVectors) -> Any:
    index = faiss.index_factory(vectors.shape[1], f"HNSW{_LINKS}_SQfp16", faiss.METRIC_INNER_PRODUCT)
    index.hnsw.efConstruction = _EF
    return index


def _ivf_pq(faiss: Any, vectors: HalfVectors) -> Any:
    """Train an IVF-PQ index, which stores four bits for every two coordinates of a vector."""
    count, width = vectors.shape
    cells = max(1, min(2 * int(count**0.5), count // _TRAINING))
    parts = next(parts for parts in range(max(width // _PART, 1), 0, -1) if width % parts == 0)
    index = faiss.index_factory(width, f"IVF{cells},PQ{parts}x4fsr", faiss.METRIC_INNER_PRODUCT)
    for learning in (index.cp, index.pq.cp):
        # Without these limits, faiss writes warnings to standard error if the vocabulary is small.
        learning.min_points_per_centroid, learning.max_points_per_centroid = 1, max(_TRAINING, _FEWEST)
        learning.niter = _ROUNDS
    wanted = min(count, max(_TRAINING * cells, _SAMPLE))
    sample = np.random.default_rng(_SEED).choice(count, wanted, replace=False)
    index.train(vectors[np.sort(sample)].astype(np.float32))
    return index


KINDS: Final[Mapping[str, Callable[[Any, HalfVectors], Any]]] = MappingProxyType(
    {"hnsw": _hnsw, "ivf-pq": _ivf_pq}
)
"""Kind → function that makes an index without entries. The index is trained if its kind needs training."""
