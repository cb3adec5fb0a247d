"""Encode names with a cache of vectors."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, NamedTuple, Self
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from nymlink.core.environment import vector_cache
from nymlink.core.errors import StoreError
from nymlink.core.store.arrays import HalfVectors, Vectors, as_float32
from nymlink.core.store.atomic import atomic_file
from nymlink.encode.model.token_batches import Rows
from nymlink.encode.vector_cache import ABSENT, READ_ERRORS, EncoderCache, Keys, name_keys

_STEP: Final = np.float32(0.025)
"""Distance of two codes of :class:`KnownVectors`. The cosine of a vector and its codes is then 0.99."""


class KnownVectors(NamedTuple):
    """Vectors of names that come with an encoder, in codes of some five bits for each of D values.

    Attributes:
        fingerprint: fingerprint of the encoder.
        keys: uint64 (N), ascending: the first half of the hash of each name.
        codes: int8 (N, D): distances from the mean, in steps.
        mean: float32 (D).
    """

    fingerprint: str
    keys: npt.NDArray[np.uint64]
    codes: npt.NDArray[np.int8]
    mean: npt.NDArray[np.float32]

    @classmethod
    def of(cls, fingerprint: str, names: Sequence[str], vectors: Vectors) -> Self:
        """Code the vectors of N distinct names, float32 (N, D); names with a vector of zeros are left out."""
        keys, mean = name_keys(names)[:, 0], vectors.mean(axis=0)
        order = np.argsort(keys)
        order = order[vectors[order].any(axis=1)]
        return cls(fingerprint, keys[order], np.rint((vectors[order] - mean) / _STEP).astype(np.int8), mean)

    @classmethod
    def load(cls, path: Path) -> Self | None:
        """Read a file that :meth:`save` wrote; ``None`` if there is none.

        Raises:
            StoreError: it is damaged.
        """
        try:
            with np.load(path, allow_pickle=False) as file:
                return cls(str(file["fingerprint"]), file["keys"], file["codes"].T, file["mean"])
        except FileNotFoundError:
            return None
        except (*READ_ERRORS, LookupError, BadZipFile) as error:
            raise StoreError(f"the file is damaged ({error}): install nymlink again", path=path) from error

    def save(self, path: Path) -> None:
        """Write a file, compressed, and the same bytes every time."""
        values = self._asdict() | {"codes": np.ascontiguousarray(self.codes.T)}
        with atomic_file(path) as partial, partial.open("wb") as file:
            np.savez_compressed(file, **values)

    def fill(self, names: Sequence[str], vectors: Vectors) -> npt.NDArray[np.bool_]:
        """Fill the rows of N names that are known. Return which these are: bool (N)."""
        keys = name_keys(names)[:, 0]
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        known: npt.NDArray[np.bool_] = self.keys[places] == keys
        vectors[known] = _to_unit(self.codes[places[known]] * _STEP + self.mean)
        return known


class EmbeddingCache:
    """A folder of vectors that were encoded earlier, by any number of encoders.

    Vectors are stored as float16 in blocks. A block is written once, atomically. So a killed process loses only
    the vectors after its last block, and several processes may read and write at the same time.

    Args:
        folder: the folder. It is created with the first block.
        known: vectors of an encoder, taken before those in the folder, so that they do not depend on the folder.
    """

    def __init__(self, folder: str | Path, known: KnownVectors | None = None) -> None:
        self.folder = Path(folder)
        self.known = known
        self._encoder_caches: dict[tuple[str, int], EncoderCache] = {}

    @classmethod
    def of_user(cls, known: KnownVectors | None = None) -> EmbeddingCache:
        """Open the cache of the user, shared by all indexes."""
        return cls(vector_cache(), known)

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

    def known_to(self, fingerprint: str) -> KnownVectors | None:
        """Return the known vectors if they are of an encoder with this fingerprint."""
        return self.known if self.known is not None and self.known.fingerprint == fingerprint else None


_BLOCK: Final = 1 << 14
"""Number of names in a block. A killed process loses at most so many vectors."""


class CachedVectors:
    """Fills an array of vectors from a cache, and writes new vectors to the cache.

    Used as a context manager, it writes new vectors when the block ends, even after an error.

    Args:
        cache: cache of the encoder; ``None`` to use no cache.
        names: N distinct names.
        vectors: float32 (N, D): the array of their vectors, which is filled.
        known: vectors that are taken before those of the cache.
    """

    def __init__(
        self,
        cache: EncoderCache | None,
        names: Sequence[str],
        vectors: Vectors,
        *,
        known: KnownVectors | None = None,
    ) -> None:
        self._cache = cache
        self._known = known
        self._names = names
        self._vectors = vectors
        self._unwritten: list[Rows] = []

    def fill(self) -> Rows:
        """Fill the rows of ``vectors`` that are in the cache. Return the other rows: int64, ascending."""
        if self._cache is None:
            return np.arange(len(self._names))
        missing = []
        for start in range(0, len(self._names), _BLOCK):
            names = self._names[start : start + _BLOCK]
            rows = start + np.arange(len(names))
            if self._known is not None:
                rows = rows[~self._known.fill(names, self._vectors[start : start + _BLOCK])]
            known, vectors = _look_up(self._cache, name_keys([self._names[row] for row in rows.tolist()]))
            self._vectors[rows[known]] = _to_unit(vectors)
            missing.append(rows[~known])
        return np.concatenate([np.zeros(0, np.int64), *missing])

    def add(self, rows: Rows) -> None:
        """Add encoded rows of ``vectors``. They are written when a block is full."""
        if self._cache is None:
            return
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
        if self._cache is not None and self._unwritten:
            rows, self._unwritten = np.concatenate(self._unwritten), []
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


def _to_unit(rounded: HalfVectors | Vectors) -> Vectors:
    """Scale vectors to unit length in float32."""
    halved = rounded.dtype == np.float16
    vectors: Vectors = as_float32(rounded) if halved else rounded.astype(np.float32, copy=False)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors
