"""Vectors kept on disk by content: encoder and name."""

from __future__ import annotations

import re
import secrets
import warnings
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import Final

import numpy as np
import numpy.typing as npt

from nymlink.core.errors import OutputError, StoreError
from nymlink.core.store.arrays import Kept, map_array
from nymlink.core.store.atomic import atomic_file
from nymlink.core.store.digests import digest
from nymlink.core.user_cache import ELSEWHERE, vector_cache

Keys = npt.NDArray[np.uint64]
Places = npt.NDArray[np.int64]

ABSENT: Final = -1
"""The place of a name that is not kept."""

_KEY: Final = 8
"""A key is 128 bits: eight values of the 16 bits that blocks are made of."""

_DIGEST: Final = 8
"""The last eight values of a block are the digest, 128 bits, of what is before them."""

_FINGERPRINT: Final = re.compile(r"[0-9a-f]{64}")

_GONE: Final = ""
"""The name of a block that is no longer there."""

_DAMAGES: Final = (OSError, ValueError)
"""What reading a damaged block raises."""


class EmbeddingCache:
    """A folder of vectors that were encoded before, of any number of encoders.

    Vectors are kept as float16 in blocks that are written once, each in one step: a killed process loses only what
    came after its last block, and several processes may read and write at once.

    Args:
        folder: made when the first block is written.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._shelves: dict[tuple[str, int], Shelf] = {}

    @classmethod
    def of_user(cls) -> EmbeddingCache:
        """That of the user, which all indexes share."""
        return cls(vector_cache())

    def shelf(self, fingerprint: str, *, width: int) -> Shelf:
        """What is kept of one encoder, as it is on disk now."""
        shelf = self._shelves.setdefault((fingerprint, width), Shelf(self.folder / fingerprint, width=width))
        shelf.refresh()
        return shelf


class Shelf:
    """The vectors of one encoder.

    A block file holds the 128-bit keys of n names, after them their vectors, and last a digest of both. All keys
    are held in memory, sorted (32 bytes a name); vectors are read where they lie, once the block is known to be
    whole: of a damaged one the names count as absent. Threads may share a shelf: a place stays that of its
    name, whatever comes or goes meanwhile.

    Args:
        folder: its folder.
        width: length of a vector.
    """

    def __init__(self, folder: Path, *, width: int) -> None:
        self._folder = folder
        self._width = width
        self._writable = True
        self._lock = Lock()
        # Names and sizes, in the order in which places count through them: none is ever taken out.
        self._blocks: list[tuple[str, int]] = []
        self._whole: set[str] = set()
        self._has_older = False
        self._keys: Keys = np.zeros((0, 2), np.uint64)
        self._places: Places = np.zeros(0, np.int64)

    def __len__(self) -> int:
        return len(self._keys)

    def refresh(self) -> None:
        """Take up blocks that were written since the last time, by whatever process."""
        with self._lock:
            known = {name for name, _ in self._blocks}
            start = sum(size for _, size in self._blocks)
            found = []
            for name in self._names():
                if name not in known:
                    found.append(np.array(self._block(name)[0]))
                    self._blocks.append((name, len(found[-1])))
            if found:
                keys = np.concatenate([self._keys, *found])
                places = np.concatenate([self._places, start + np.arange(len(keys) - len(self._keys))])
                order = np.argsort(keys[:, 0], kind="stable")
                self._keys, self._places = keys[order], places[order]

    def _names(self) -> list[str]:
        """The names of the blocks on disk; none where the folder is another user's and may not be read."""
        try:
            return sorted(path.stem for path in self._folder.glob("*.npy"))
        except OSError:
            return []

    def places(self, keys: Keys) -> Places:
        """int64 (N): where the vectors of these names are, for :meth:`vectors`, or :data:`ABSENT`."""
        with self._lock:
            known, places = self._keys, self._places
        if not len(known):
            return np.full(len(keys), ABSENT)
        rows = np.minimum(np.searchsorted(known[:, 0], keys[:, 0]), len(known) - 1)
        # Of names that agree in the first half of their keys, only one would be found: the others count as absent.
        return np.where((known[rows] == keys).all(1), places[rows], ABSENT)

    def vectors(self, places: Places) -> Kept:
        """float16 (N, D): the vectors at these places.

        Raises:
            StoreError: they were there, and some are gone or damaged now: from then on those are absent.
        """
        vectors = np.empty((len(places), self._width), np.float16)
        with self._lock:
            blocks = list(self._blocks)
        of_block, starts = _numbered(blocks, places)
        gone = []
        for number in np.unique(of_block).tolist():
            rows = np.flatnonzero(of_block == number)
            name, size = blocks[number]
            block = self._block(name, verified=True)[1]
            if len(block) == size:
                vectors[rows] = block[places[rows] - starts[number]]
            else:
                gone.append(number)
        if gone:
            self._forget(gone)
            raise StoreError(
                "vectors of the cache are gone or damaged: ask again which are there", path=self._folder
            )
        return vectors

    def add(self, keys: Keys, vectors: Kept) -> None:
        """Keep vectors of names that are not here, as one block.

        Raises:
            OutputError: the block cannot be written.
        """
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"cannot be made: {error.strerror}", path=self._folder) from error
        values = np.concatenate([keys.view(np.uint16).ravel(), vectors.view(np.uint16).ravel()])
        values = np.append(values, np.frombuffer(digest(values.data), np.uint16))
        path = self._folder / f"{secrets.token_hex(8)}.npy"
        with atomic_file(path, sweep=True) as partial, open(partial, "wb") as file:
            # To a file, not a path: NumPy would add ".npy" to that.
            np.save(file, values, allow_pickle=False)

    def keep(self, keys: Keys, vectors: Kept) -> None:
        """Like :meth:`add`, but where that fails nothing more is written, with a warning: one does without."""
        if not self._writable:
            return
        try:
            self.add(keys, vectors)
        except OutputError as error:
            self._writable = False
            warnings.warn(
                f"{self._folder}: vectors are not kept for the next time ({error.message}); {ELSEWHERE}",
                stacklevel=3,
            )

    def _forget(self, numbers: list[int]) -> None:
        """Take the names of some blocks for absent; what is written in place of such a block is another one."""
        with self._lock:
            left = ~np.isin(_numbered(self._blocks, self._places)[0], numbers)
            self._keys, self._places = self._keys[left], self._places[left]
            for number in numbers:
                self._blocks[number] = (_GONE, self._blocks[number][1])

    def _warn_of_older(self) -> None:
        """Say once that there are blocks without a digest: as many as there are, they are written again."""
        if not self._has_older:
            self._has_older = True
            warnings.warn(
                f"{self._folder}: vectors that an older nymlink kept have no digests and are not used: remove "
                "them (`nymlink verify` names them)",
                stacklevel=5,
            )

    def _block(self, name: str, *, verified: bool = False) -> tuple[Keys, Kept]:
        """Keys and vectors of a block; none of one that is gone or, with a warning, damaged.

        Names of either are encoded again.

        Args:
            name: of the block.
            verified: whether its digest is looked at: it takes reading all of the block, once.
        """
        try:
            values = _values(self._folder, name)
            names, rest = divmod(values.size - _DIGEST, _KEY + self._width)
            if rest == -_DIGEST % (_KEY + self._width):
                self._warn_of_older()
                names, values = 0, values[:0]
            elif rest:
                raise ValueError(f"it has {values.size} values")
            elif verified and name not in self._whole:
                _check_digest(values)
                self._whole.add(name)
        except FileNotFoundError:
            names, values = 0, np.zeros(0, np.uint16)
        except _DAMAGES as error:
            path = self._folder / f"{name}.npy"
            warnings.warn(
                f"{path}: this block of the cache is damaged and not used ({error}): remove it", stacklevel=4
            )
            names, values = 0, np.zeros(0, np.uint16)
        keys = values[: names * _KEY].view(np.uint64).reshape(names, 2)
        vectors = values[names * _KEY : names * (_KEY + self._width)]
        return keys, vectors.view(np.float16).reshape(names, self._width)


def is_shelf(folder: Path) -> bool:
    """Whether a folder is that of one encoder in a cache."""
    return _FINGERPRINT.fullmatch(folder.name) is not None and any(folder.glob("*.npy"))


def check_block(path: Path) -> None:
    """See that a block of a cache is what was written.

    Raises:
        StoreError: it is not.
    """
    try:
        _check_digest(_values(path.parent, path.stem))
    except _DAMAGES as error:
        raise StoreError(f"this block of the cache is damaged ({error}): remove it", path=path) from error


def _values(folder: Path, name: str) -> npt.NDArray[np.uint16]:
    values: npt.NDArray[np.uint16] = map_array(folder, name)
    if values.dtype != np.uint16 or values.ndim != 1 or len(values) < _DIGEST:
        raise ValueError(f"{values.shape} values of {values.dtype}")
    return values


def _check_digest(values: npt.NDArray[np.uint16]) -> None:
    if digest(values[:-_DIGEST].data) != values[-_DIGEST:].tobytes():
        raise ValueError("its digest is another one")


def _numbered(blocks: list[tuple[str, int]], places: Places) -> tuple[Places, Places]:
    """int64 (N): the number of each place's block, and int64: the first place of each block."""
    sizes = np.array([size for _, size in blocks], np.int64)
    ends = np.cumsum(sizes)
    return np.searchsorted(ends, places, side="right"), ends - sizes


def keys_of(names: Sequence[str]) -> Keys:
    """uint64 (N, 2): the keys of names."""
    digests = (blake2b(name.encode("utf-8", "surrogatepass"), digest_size=2 * _KEY).digest() for name in names)
    return np.frombuffer(bytearray().join(digests), np.uint64).reshape(-1, 2)
