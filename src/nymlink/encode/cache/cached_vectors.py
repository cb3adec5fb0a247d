"""Between an encoder and its cache: what is kept is not encoded again, what is encoded is kept."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from nymlink.core.errors import StoreError
from nymlink.core.store.arrays import Kept, Vectors, as_float32
from nymlink.encode.cache.embedding_cache import ABSENT, Keys, Shelf, keys_of
from nymlink.encode.model.tokens import Rows

_BLOCK: Final = 1 << 14
"""Names in a block of the cache: what a killed process loses at most."""


class Keeper:
    """Fills ``vectors`` from a shelf, and the shelf from ``vectors``.

    As a context manager it keeps what is encoded when the block ends, however it ends.

    Args:
        shelf: where vectors are kept; ``None`` keeps nothing.
        names: N distinct names.
        vectors: float32 (N, D): their vectors, to be filled.
    """

    def __init__(self, shelf: Shelf | None, names: Sequence[str], vectors: Vectors) -> None:
        self._shelf = shelf
        self._names = names
        self._vectors = vectors
        self._waiting: list[Rows] = []

    def recall(self) -> Rows:
        """Fill the rows of ``vectors`` that are kept; the others, int64, ascending."""
        if self._shelf is None:
            return np.arange(len(self._names))
        missing = []
        for start in range(0, len(self._names), _BLOCK):
            kept, vectors = _recalled(self._shelf, keys_of(self._names[start : start + _BLOCK]))
            self._vectors[start + np.flatnonzero(kept)] = _restored(vectors)
            missing.append(start + np.flatnonzero(~kept))
        return np.concatenate([np.zeros(0, np.int64), *missing])

    def add(self, rows: Rows) -> None:
        """Take note that rows of ``vectors`` are encoded; every so many of them are written."""
        self._waiting.append(rows)
        if sum(map(len, self._waiting)) >= _BLOCK:
            self._write()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._write()

    def _write(self) -> None:
        rows, self._waiting = np.concatenate([np.zeros(0, np.int64), *self._waiting]), []
        if self._shelf is not None and len(rows):
            rounded = self._vectors[rows].astype(np.float16)
            # What the next run finds in the cache is what this one gives.
            self._vectors[rows] = _restored(rounded)
            self._shelf.keep(keys_of([self._names[row] for row in rows.tolist()]), rounded)


def _recalled(shelf: Shelf, keys: Keys) -> tuple[npt.NDArray[np.bool_], Kept]:
    """Which of N names are kept, bool (N), and the vectors of these."""
    while True:
        places = shelf.places(keys)
        kept = places != ABSENT
        # Where somebody removes blocks, the shelf knows of it from the second time on.
        with suppress(StoreError):
            return kept, shelf.vectors(places[kept])


def _restored(kept: Kept) -> Vectors:
    """Unit vectors from rounded ones."""
    vectors = as_float32(kept)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors
