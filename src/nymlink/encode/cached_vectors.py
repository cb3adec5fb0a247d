"""Encode names with a cache of vectors."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from nymlink.core.environment import vector_cache
from nymlink.core.errors import StoreError
from nymlink.core.store.arrays import HalfVectors, Vectors, as_float32
from nymlink.encode.model.token_batches import Rows
from nymlink.encode.vector_cache import ABSENT, EncoderCache, Keys, name_keys


class EmbeddingCache:
    """A folder of vectors that were encoded earlier, by any number of encoders.

    Vectors are stored as float16 in blocks. A block is written once, atomically. So a killed process loses only
    the vectors after its last block, and several processes may read and write at the same time.

    Args:
        folder: the folder. It is created with the first block.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._encoder_caches: dict[tuple[str, int], EncoderCache] = {}

    @classmethod
    def of_user(cls) -> EmbeddingCache:
        """Open the cache of the user, shared by all indexes."""
        return cls(vector_cache())

    def for_encoder(self, fingerprint: str, *, width: int) -> EncoderCache:
        """Open the part of the cache that belongs to one encoder, with all vectors that are on disk now.

        Args:
            fingerprint: fingerprint of the encoder, 64 hex digits.
            width: length of a vector.
        """
        new = EncoderCache(self.folder / fingerprint, width=width)
        encoder_cache = self._encoder_caches.setdefault((fingerprint, width), new)
        encoder_cache.refresh()
        return encoder_cache


_BLOCK: Final = 1 << 14
"""Number of names in a block. A killed process loses at most so many vectors."""


class CachedVectors:
    """Fills an array of vectors from a cache, and writes new vectors to the cache.

    Used as a context manager, it writes new vectors when the block ends, even after an error.

    Args:
        cache: cache of the encoder; ``None`` to use no cache.
        names: N distinct names.
        vectors: float32 (N, D): the array of their vectors, which is filled.
    """

    def __init__(self, cache: EncoderCache | None, names: Sequence[str], vectors: Vectors) -> None:
        self._cache = cache
        self._names = names
        self._vectors = vectors
        self._unwritten: list[Rows] = []

    def fill(self) -> Rows:
        """Fill the rows of ``vectors`` that are in the cache. Return the other rows: int64, ascending."""
        if self._cache is None:
            return np.arange(len(self._names))
        missing = []
        for start in range(0, len(self._names), _BLOCK):
            known, vectors = _look_up(self._cache, name_keys(self._names[start : start + _BLOCK]))
            self._vectors[start + np.flatnonzero(known)] = _to_unit(vectors)
            missing.append(start + np.flatnonzero(~known))
        return np.concatenate([np.zeros(0, np.int64), *missing])

    def add(self, rows: Rows) -> None:
        """Add encoded rows of ``vectors``. They are written when a block is full."""
        self._unwritten.append(rows)
        if sum(map(len, self._unwritten)) >= _BLOCK:
            self._write()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._write()

    def _write(self) -> None:
        rows, self._unwritten = np.concatenate([np.zeros(0, np.int64), *self._unwritten]), []
        if self._cache is not None and len(rows):
            rounded = self._vectors[rows].astype(np.float16)
            # Round now, so that this run gives the same vectors as the next run, which reads them from the cache.
            self._vectors[rows] = _to_unit(rounded)
            self._cache.try_add(name_keys([self._names[row] for row in rows.tolist()]), rounded)


def _look_up(cache: EncoderCache, keys: Keys) -> tuple[npt.NDArray[np.bool_], HalfVectors]:
    """Look up N names.

    Returns:
        bool (N): whether each name is cached; and the vectors of the cached names.
    """
    while True:
        places = cache.places(keys)
        known = places != ABSENT
        # The cache may notice only now that blocks were removed or damaged. Then look up again.
        with suppress(StoreError):
            return known, cache.vectors(places[known])


def _to_unit(rounded: HalfVectors) -> Vectors:
    """Scale float16 vectors to unit length in float32."""
    vectors = as_float32(rounded)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors
