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
    """A folder of vectors that were encoded before, of any number of encoders.

    Vectors are kept as float16 in blocks that are written once, each in one step: a killed process loses only what
    came after its last block, and several processes may read and write at once.

    Args:
        folder: made when the first block is written.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._encoder_caches: dict[tuple[str, int], EncoderCache] = {}

    @classmethod
    def of_user(cls) -> EmbeddingCache:
        """Open the user's cache, which all indexes share."""
        return cls(vector_cache())

    def for_encoder(self, fingerprint: str, *, width: int) -> EncoderCache:
        """Open the part of one encoder, as it is on disk now.

        Args:
            fingerprint: of the encoder, 64 hex digits.
            width: length of a vector.
        """
        new = EncoderCache(self.folder / fingerprint, width=width)
        encoder_cache = self._encoder_caches.setdefault((fingerprint, width), new)
        encoder_cache.refresh()
        return encoder_cache


_BLOCK: Final = 1 << 14
"""Names in a block of the cache: what a killed process loses at most."""


class CachedVectors:
    """Fill vectors of names from a cache, and write new ones to it.

    As a context manager it writes what was encoded when the block ends, however it ends.

    Args:
        cache: of the encoder; ``None`` for none.
        names: N distinct names.
        vectors: float32 (N, D): their vectors, to be filled.
    """

    def __init__(self, cache: EncoderCache | None, names: Sequence[str], vectors: Vectors) -> None:
        self._cache = cache
        self._names = names
        self._vectors = vectors
        self._unwritten: list[Rows] = []

    def fill(self) -> Rows:
        """Fill the rows of ``vectors`` that are cached; return the other rows, int64, ascending."""
        if self._cache is None:
            return np.arange(len(self._names))
        missing = []
        for start in range(0, len(self._names), _BLOCK):
            known, vectors = _look_up(self._cache, name_keys(self._names[start : start + _BLOCK]))
            self._vectors[start + np.flatnonzero(known)] = _to_unit(vectors)
            missing.append(start + np.flatnonzero(~known))
        return np.concatenate([np.zeros(0, np.int64), *missing])

    def add(self, rows: Rows) -> None:
        """Note that rows of ``vectors`` were encoded; they are written once there are enough for a block."""
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
            # What the next run finds in the cache is what this one gives.
            self._vectors[rows] = _to_unit(rounded)
            self._cache.try_add(name_keys([self._names[row] for row in rows.tolist()]), rounded)


def _look_up(cache: EncoderCache, keys: Keys) -> tuple[npt.NDArray[np.bool_], HalfVectors]:
    """Look up N names: bool (N), which are cached, and their vectors."""
    while True:
        places = cache.places(keys)
        known = places != ABSENT
        # Where blocks were removed or damaged, the cache knows of it from the second time on.
        with suppress(StoreError):
            return known, cache.vectors(places[known])


def _to_unit(rounded: HalfVectors) -> Vectors:
    """Scale float16 vectors to unit length in float32."""
    vectors = as_float32(rounded)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors
