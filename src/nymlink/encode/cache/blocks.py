"""Block files of the embedding cache: keys of names, their vectors, and a digest of both."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from nymlink.core.errors import StoreError
from nymlink.core.store.arrays import HalfVectors, map_array
from nymlink.core.store.digests import digest

Keys = npt.NDArray[np.uint64]

_KEY: Final = 8
"""A key is 128 bits: eight values of the 16 bits that blocks are made of."""

_DIGEST: Final = 8
"""The last eight values of a block are the digest, 128 bits, of the values before them."""

READ_ERRORS: Final = (OSError, ValueError)
"""Errors raised by reading a damaged block."""


class UndigestedBlockError(ValueError):
    """A block has no digest: an older nymlink wrote it."""


def name_keys(names: Sequence[str]) -> Keys:
    """Hash N names to 128-bit keys, uint64 (N, 2)."""
    digests = (blake2b(name.encode("utf-8", "surrogatepass"), digest_size=2 * _KEY).digest() for name in names)
    return np.frombuffer(bytearray().join(digests), np.uint64).reshape(-1, 2)


def pack_block(keys: Keys, vectors: HalfVectors) -> npt.NDArray[np.uint16]:
    """Join the keys, uint64 (n, 2), and vectors, float16 (n, D), of n names, and their digest, to one array."""
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
        ValueError: the number of values fits no number of names.
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
        ValueError: they differ.
    """
    if digest(values[:-_DIGEST].data) != values[-_DIGEST:].tobytes():
        raise ValueError("its digest is another one")


def check_block(path: Path) -> None:
    """Check that a block file is as it was written.

    Raises:
        StoreError: it is damaged.
    """
    try:
        check_digest(read_block(path))
    except READ_ERRORS as error:
        raise StoreError(f"this block of the cache is damaged ({error}): remove it", path=path) from error
