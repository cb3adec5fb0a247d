"""Pseudo-random permutations of 0 … n − 1 that are computed when needed, and not stored.

Let a = ⌈√n⌉. A Feistel network permutes the numbers below a², with any round function. If a result is not below n,
the network is applied to it again (cycle walking); this gives a permutation of 0 … n − 1. These are methods 3 and
2 of Black & Rogaway, "Ciphers with Arbitrary Finite Domains" (CT-RSA 2002). Cycle walking is rare, because a²
exceeds n by less than 2√n + 1. The round function is a hash, not a cipher: use it for shuffling, but not for
secrets.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Final

import numpy as np
import numpy.typing as npt

from nymlink.core.store.arrays import mix

Keys = npt.NDArray[np.uint64]

_ROUNDS: Final = 8
_GOLDEN: Final = 0x9E3779B97F4A7C15  # 2⁶⁴ / golden ratio, odd: gives each round of a key a distant start


def permute(places: npt.NDArray[np.int64], *, size: npt.ArrayLike, key: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Evaluate a pseudo-random permutation of 0 … size − 1 at ``places``.

    Args:
        places: int64 (n), each at least 0 and less than ``size``.
        size: number of permuted numbers (at most 2⁵²): one value, or one per place (n).
        key: key of the permutation, from :func:`seeded_keys`: one value, or one per place (n).

    Returns:
        int64 (n).
    """
    sizes = np.broadcast_to(np.asarray(size, np.uint64), places.shape)
    keys = np.broadcast_to(np.asarray(key, np.uint64), places.shape)
    sides = np.ceil(np.sqrt(sizes)).astype(np.uint64)
    permuted = _feistel(places.astype(np.uint64), sides, keys)
    while len(outside := np.flatnonzero(permuted >= sizes)):
        permuted[outside] = _feistel(permuted[outside], sides[outside], keys[outside])
    return permuted.astype(np.int64)


def seeded_keys(texts: Sequence[str], *, seed: int) -> Keys:
    """Compute a key for each text, depending only on the text and the seed.

    Args:
        texts: n texts.
        seed: any integer.

    Returns:
        uint64 (n), uniformly distributed.
    """
    seeded = blake2b(f"{seed} ".encode(), digest_size=8)

    def key(text: str) -> int:
        hasher = seeded.copy()
        hasher.update(text.encode())
        return int.from_bytes(hasher.digest(), "little")

    return np.fromiter(map(key, texts), np.uint64, len(texts))


def _feistel(value: Keys, side: Keys, key: Keys) -> Keys:
    """Permute numbers below ``side``² (side at most 2²⁶) by a Feistel network on two digits to base ``side``."""
    left, right = np.divmod(value, side)
    for number in range(_ROUNDS):
        # 53 bits: an overflow of the sum would break the permutation.
        noise = mix(right + key + np.uint64(number * _GOLDEN % (1 << 64))) >> np.uint64(11)
        left, right = right, (left + noise) % side
    permuted: Keys = left * side + right
    return permuted
