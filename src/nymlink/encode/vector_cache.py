"""The cache of name vectors on disk. Hashes of the names are the keys."""

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

from nymlink.core.environment import CACHE_HINT
from nymlink.core.errors import OutputError, StoreError
from nymlink.core.store.arrays import HalfVectors, map_array
from nymlink.core.store.atomic import atomic_file
from nymlink.core.store.digests import digest

Keys = npt.NDArray[np.uint64]

_KEY: Final = 8
"""Number of values of a key. A key has 128 bits, which are eight values of 16 bits."""

_DIGEST: Final = 8
"""Number of values of a digest.

The last eight values of a block are the digest (128 bits) of all values before them.
"""

READ_ERRORS: Final = (OSError, ValueError)
"""Errors that reading a damaged block raises."""


class UndigestedBlockError(ValueError):
    """A block of an older version of nymlink, without a digest."""


def name_keys(names: Sequence[str]) -> Keys:
    """Hash N names to 128-bit keys, uint64 (N, 2)."""
    digests = (blake2b(name.encode("utf-8", "surrogatepass"), digest_size=2 * _KEY).digest() for name in names)
    return np.frombuffer(bytearray().join(digests), np.uint64).reshape(-1, 2)


def pack_block(keys: Keys, vectors: HalfVectors) -> npt.NDArray[np.uint16]:
    """Join the keys, uint64 (n, 2), the vectors, float16 (n, D), and a digest of both to one array."""
    values = np.concatenate([keys.view(np.uint16).ravel(), vectors.view(np.uint16).ravel()])
    return np.append(values, np.frombuffer(digest(values.data), np.uint16))


def read_block(path: Path) -> npt.NDArray[np.uint16]:
    """Map the values of a block file into memory.

    Raises:
        FileNotFoundError: there is no such file.
        OSError, ValueError: it is damaged.
    """
    values: npt.NDArray[np.uint16] = map_array(path.parent, path.stem)
    if values.dtype != np.uint16 or values.ndim != 1 or len(values) < _DIGEST:
        raise ValueError(f"{values.shape} values of {values.dtype}")
    return values


def split_block(values: npt.NDArray[np.uint16], *, width: int) -> tuple[Keys, HalfVectors]:
    """Split the values of a block into keys, uint64 (n, 2), and vectors, float16 (n, ``width``).

    Raises:
        UndigestedBlockError: the block has no digest.
        ValueError: the number of values is not right for any number of names.
    """
    count, rest = divmod(values.size - _DIGEST, _KEY + width)
    if rest == -_DIGEST % (_KEY + width):
        raise UndigestedBlockError
    if rest:
        raise ValueError(f"it has {values.size} values")
    keys = values[: count * _KEY].view(np.uint64).reshape(count, 2)
    vectors = values[count * _KEY : count * (_KEY + width)]
    return keys, vectors.view(np.float16).reshape(count, width)


def check_digest(values: npt.NDArray[np.uint16]) -> None:
    """Compare the digest of a block with its values.

    Raises:
        ValueError: the digest is wrong.
    """
    if digest(values[:-_DIGEST].data) != values[-_DIGEST:].tobytes():
        raise ValueError("its digest is another one")


def check_block(path: Path) -> None:
    """Check that a block file is unchanged.

    Raises:
        StoreError: it is damaged.
    """
    try:
        check_digest(read_block(path))
    except READ_ERRORS as error:
        raise StoreError(f"this block of the cache is damaged ({error}): remove it", path=path) from error


Places = npt.NDArray[np.int64]

ABSENT: Final = -1
"""Place of a name that the cache does not have."""

_FINGERPRINT: Final = re.compile(r"[0-9a-f]{64}")

_REMOVED: Final = ""
"""Name of a removed block."""


class EncoderCache:
    """The cached vectors of one encoder.

    A block file has the 128-bit keys of n names, their vectors, and a digest of both. All keys are in memory,
    sorted (32 bytes for each name). Vectors are read from the mapped file after the digest of the file was
    checked. Names of a damaged block count as absent. Threads may share a cache, because the place of a name never
    changes.

    Args:
        folder: folder of its blocks.
        width: length of a vector.
    """

    def __init__(self, folder: Path, *, width: int) -> None:
        self._folder = folder
        self._width = width
        self._writable = True
        self._lock = Lock()
        # Names and sizes of blocks, in the order of places. No item is ever removed.
        self._blocks: list[tuple[str, int]] = []
        self._verified: set[str] = set()
        self._warned_of_older = False
        self._keys: Keys = np.zeros((0, 2), np.uint64)
        self._places: Places = np.zeros(0, np.int64)

    def __len__(self) -> int:
        return len(self._keys)

    def refresh(self) -> None:
        """Read the keys of blocks that this or another process has written since the last call."""
        with self._lock:
            known = {name for name, _ in self._blocks}
            start = sum(size for _, size in self._blocks)
            new_keys = []
            for name in self._block_names():
                if name not in known:
                    new_keys.append(np.array(self._block(name)[0]))
                    self._blocks.append((name, len(new_keys[-1])))
            if new_keys:
                keys = np.concatenate([self._keys, *new_keys])
                places = np.concatenate([self._places, start + np.arange(len(keys) - len(self._keys))])
                order = np.argsort(keys[:, 0], kind="stable")
                self._keys, self._places = keys[order], places[order]

    def _block_names(self) -> list[str]:
        """List the blocks on disk. If the folder belongs to another user and cannot be read, there are none."""
        try:
            return sorted(path.stem for path in self._folder.glob("*.npy"))
        except OSError:
            return []

    def places(self, keys: Keys) -> Places:
        """Look up the places of the vectors of N names.

        Args:
            keys: uint64 (N, 2).

        Returns:
            int64 (N): places for :meth:`vectors`, or :data:`ABSENT`.
        """
        with self._lock:
            known, places = self._keys, self._places
        if not len(known):
            return np.full(len(keys), ABSENT)
        rows = np.minimum(np.searchsorted(known[:, 0], keys[:, 0]), len(known) - 1)
        # If several names have the same first half of the key, only one is found. The others count as absent.
        return np.where((known[rows] == keys).all(1), places[rows], ABSENT)

    def vectors(self, places: Places) -> HalfVectors:
        """Read the vectors at N places.

        Args:
            places: int64 (N), none of them :data:`ABSENT`.

        Returns:
            float16 (N, D).

        Raises:
            StoreError: some vectors were removed or damaged since they were looked up. Their names count as absent
                from then on.
        """
        vectors = np.empty((len(places), self._width), np.float16)
        with self._lock:
            blocks = list(self._blocks)
        block_of_place, starts = _locate(blocks, places)
        lost = []
        for number in np.unique(block_of_place).tolist():
            rows = np.flatnonzero(block_of_place == number)
            name, size = blocks[number]
            block = self._block(name, verified=True)[1]
            if len(block) == size:
                vectors[rows] = block[places[rows] - starts[number]]
            else:
                lost.append(number)
        if lost:
            self._forget(lost)
            raise StoreError(
                "vectors of the cache were removed or damaged: look up the names again", path=self._folder
            )
        return vectors

    def add(self, keys: Keys, vectors: HalfVectors) -> None:
        """Write vectors of names that the cache does not have, as one block.

        Args:
            keys: uint64 (n, 2).
            vectors: float16 (n, D).

        Raises:
            OutputError: the block cannot be written.
        """
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"cannot be made: {error.strerror}", path=self._folder) from error
        path = self._folder / f"{secrets.token_hex(8)}.npy"
        with atomic_file(path, sweep=True) as partial, open(partial, "wb") as file:
            # Give NumPy an open file. To a path, it would add ".npy".
            np.save(file, pack_block(keys, vectors), allow_pickle=False)

    def try_add(self, keys: Keys, vectors: HalfVectors) -> None:
        """Write vectors like :meth:`add`. After an error, warn once and write nothing more."""
        if not self._writable:
            return
        try:
            self.add(keys, vectors)
        except OutputError as error:
            self._writable = False
            warnings.warn(
                f"{self._folder}: vectors are not kept for the next time ({error.message}); {CACHE_HINT}",
                stacklevel=3,
            )

    def _forget(self, numbers: list[int]) -> None:
        """Mark the names of some blocks as absent."""
        with self._lock:
            left = ~np.isin(_locate(self._blocks, self._places)[0], numbers)
            self._keys, self._places = self._keys[left], self._places[left]
            for number in numbers:
                self._blocks[number] = (_REMOVED, self._blocks[number][1])

    def _warn_of_older(self) -> None:
        """Warn once about blocks without a digest. Their names are encoded again."""
        if not self._warned_of_older:
            self._warned_of_older = True
            warnings.warn(
                f"{self._folder}: vectors that an older nymlink kept have no digests and are not used: remove "
                "them (`nymlink verify` names them)",
                stacklevel=5,
            )

    def _block(self, name: str, *, verified: bool = False) -> tuple[Keys, HalfVectors]:
        """Read the keys and vectors of a block.

        If the block was removed or is damaged, the result is empty. A damaged block gives a warning.

        Args:
            name: name of the block.
            verified: whether to check its digest. This reads the whole block.
        """
        path = self._folder / f"{name}.npy"
        try:
            values = read_block(path)
            keys, vectors = split_block(values, width=self._width)
            if verified and name not in self._verified:
                check_digest(values)
                self._verified.add(name)
            return keys, vectors
        except FileNotFoundError:
            pass
        except UndigestedBlockError:
            self._warn_of_older()
        except READ_ERRORS as error:
            warnings.warn(
                f"{path}: this block of the cache is damaged and not used ({error}): remove it", stacklevel=4
            )
        return np.zeros((0, 2), np.uint64), np.zeros((0, self._width), np.float16)


def is_encoder_cache(folder: Path) -> bool:
    """Whether a folder is the part of an embedding cache that belongs to one encoder."""
    return _FINGERPRINT.fullmatch(folder.name) is not None and any(folder.glob("*.npy"))


def _locate(blocks: list[tuple[str, int]], places: Places) -> tuple[Places, Places]:
    """Find the block of each place.

    Returns:
        int64 (N): the number of each place's block; int64 (blocks): the first place of each block.
    """
    sizes = np.array([size for _, size in blocks], np.int64)
    ends = np.cumsum(sizes)
    return np.searchsorted(ends, places, side="right"), ends - sizes
