"""Approximate search with faiss: entries near to a vector, found without looking at all of them.

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
from nymlink.core.progress import track
from nymlink.core.store.arrays import Kept, Vectors
from nymlink.index.fusion.hits import Rows

EXACTLY: Final = "exact"
"""The kind of dense search that needs no faiss: it finds what is the nearest of all."""

_LINKS: Final = 32
"""HNSW: links of an entry to others."""

_LOOKED_AT: Final = 128
"""HNSW: entries kept in sight while the graph is walked, in building and in searching."""

_PROBED: Final = 64
"""IVF: the cells that are searched."""

_REFINED: Final = 4
"""IVF-PQ: entries taken for each that is wanted, because their distances are rough; which are the best is said by
their exact vectors."""

_CODES: Final = 256
"""PQ: values that a byte has."""

_TRAINING: Final = 64
"""IVF-PQ: vectors that the centre of a cell, or a value of a code, is learnt from."""

_ADDED: Final = 1 << 14
"""Vectors turned to float32 and added at a time."""

_SEED: Final = 0


class Neighbours:
    """A faiss index over the vectors of entries.

    faiss is loaded when it is first needed. A graph that several threads build differs a little each time; once
    built, it gives the same answer to the same question.

    Args:
        kind: one of :data:`KINDS`.
        index: the faiss index, or the file it is in.
        count: how many entries it holds.
    """

    FILES: ClassVar = ("neighbours.faiss",)

    def __init__(self, kind: str, index: Any, count: int) -> None:
        if kind not in KINDS:
            raise ValueError(f"no dense search {kind!r}")
        self.kind = kind
        self._source = index
        self._count = count

    @classmethod
    def build(cls, vectors: Kept, kind: str, *, progress: bool = False) -> Neighbours:
        """Make a faiss index of vectors.

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
        return cls(kind, index, len(vectors))

    def search(self, queries: Vectors, k: int) -> Rows:
        """Entries near to each query, most of the nearest among them, in no order that could be relied on.

        Args:
            queries: float32 (Q, D).
            k: how many are wanted.

        Returns:
            int32 (Q, k or more): rows; :data:`~nymlink.index.fusion.hits.NONE` where there are fewer.

        Raises:
            MissingExtraError: faiss is not installed.
            StoreError: the file is damaged.
        """
        faiss = _faiss()
        if self.kind == "hnsw":
            settings = faiss.SearchParametersHNSW(efSearch=max(_LOOKED_AT, k))
        else:
            k = min(k * _REFINED, max(self._count, k))
            settings = faiss.SearchParametersIVF(nprobe=_PROBED)
        _, rows = self._index.search(np.ascontiguousarray(queries), k, params=settings)
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
    def load(cls, directory: Path, kind: str, count: int) -> Neighbours:
        """The index of a directory; it is read when it is first searched.

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
        return index


def check_kind(kind: str, *, count: int | None = None) -> None:
    """See that a kind of dense search can be had, before anything is encoded for it.

    Args:
        kind: ``"exact"``, or one of :data:`KINDS`.
        count: how many entries are to be searched, where that is known.

    Raises:
        UnknownNameError: there is no such kind; the message lists those there are.
        MissingExtraError: it needs faiss, which is not installed.
        InputError: it needs more entries to learn from.
    """
    if kind == EXACTLY:
        return
    if kind not in KINDS:
        raise UnknownNameError(f"unknown dense search {kind!r}; known: {', '.join([EXACTLY, *KINDS])}")
    _faiss()
    if kind == "ivf-pq" and count is not None and count < _CODES:
        raise InputError(f"ivf-pq learns from at least {_CODES} names, and there are {count}: search exactly")


def _faiss() -> Any:
    try:
        import faiss
    except ImportError as error:
        raise MissingExtraError("faiss", purpose="Approximate dense search") from error
    return faiss


def _hnsw(faiss: Any, vectors: Kept) -> Any:
    """A graph of neighbours, with the vectors as float16."""
    index = faiss.index_factory(vectors.shape[1], f"HNSW{_LINKS}_SQfp16", faiss.METRIC_INNER_PRODUCT)
    index.hnsw.efConstruction = _LOOKED_AT
    return index


def _ivf_pq(faiss: Any, vectors: Kept) -> Any:
    """Cells around learnt centres, in them a byte for every four values of a vector."""
    count, width = vectors.shape
    cells = max(1, min(2 * int(count**0.5), count // _TRAINING))
    parts = next(parts for parts in range(max(width // 4, 1), 0, -1) if width % parts == 0)
    # "np": not polysemous, an ordering of codes that takes minutes to learn and is of no use here.
    index = faiss.index_factory(width, f"IVF{cells},PQ{parts}x8np", faiss.METRIC_INNER_PRODUCT)
    for learning in (index.cp, index.pq.cp):
        # faiss advises more vectors than small vocabularies have, on standard error, and of codes takes four times
        # as many, for no better ones.
        learning.min_points_per_centroid, learning.max_points_per_centroid = 1, _TRAINING
    wanted = min(count, _TRAINING * max(cells, _CODES))
    sample = np.random.default_rng(_SEED).choice(count, wanted, replace=False)
    index.train(vectors[np.sort(sample)].astype(np.float32))
    return index


KINDS: Final[Mapping[str, Callable[[Any, Kept], Any]]] = MappingProxyType({"hnsw": _hnsw, "ivf-pq": _ivf_pq})
"""Kind → what makes an empty index, trained where that is needed."""
