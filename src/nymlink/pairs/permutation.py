"""Pseudo-random permutations of 0 … n − 1 that are computed, not stored.

A Feistel network on the numbers below a², a = ⌈√n⌉, is a permutation of them whatever its round function is;
walking on along its cycle until a number below n is met makes it a permutation of 0 … n − 1. These are methods 3
and 2 of Black & Rogaway, "Ciphers with Arbitrary Finite Domains" (CT-RSA 2002). As a² exceeds n by less than
2√n + 1, few numbers are walked with at all. The round function is a mixer, not a cipher: good for shuffling, not
for secrets.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Final

import numpy as np
import numpy.typing as npt

from nymlink.core.hashing import mix

Keys = npt.NDArray[np.uint64]

_ROUNDS: Final = 8
_GOLDEN: Final = 0x9E3779B97F4A7C15  # odd: the rounds of one key start far apart


def permute(places: npt.NDArray[np.int64], *, size: npt.ArrayLike, key: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """What a permutation of 0 … size − 1 has at each of ``places``.

    Args:
        places: int64 (n), each at least 0 and less than ``size``.
        size: how many numbers are permuted (at most 2⁵²): one for all places, or one for each (n).
        key: which permutation it is, see :func:`seeded_keys`: one for all places, or one for each (n).

    Returns:
        int64 (n).
    """
    sizes = np.broadcast_to(np.asarray(size, np.uint64), places.shape)
    keys = np.broadcast_to(np.asarray(key, np.uint64), places.shape)
    sides = np.ceil(np.sqrt(sizes)).astype(np.uint64)
    found = _feistel(places.astype(np.uint64), sides, keys)
    while len(outside := np.flatnonzero(found >= sizes)):
        found[outside] = _feistel(found[outside], sides[outside], keys[outside])
    return found.astype(np.int64)


def seeded_keys(texts: Sequence[str], *, seed: int) -> Keys:
    """A key for each text: the same for the same text and seed, in whatever company.

    Args:
        texts: n texts.
        seed: any number.

    Returns:
        uint64 (n), evenly distributed.
    """
    hasher = blake2b(f"{seed} ".encode(), digest_size=8)

    def key(text: str) -> int:
        own = hasher.copy()
        own.update(text.encode())
        return int.from_bytes(own.digest(), "little")

    return np.fromiter(map(key, texts), np.uint64, len(texts))


def _feistel(value: Keys, side: Keys, key: Keys) -> Keys:
    """A permutation of the numbers below ``side``², each taken as two digits to base ``side`` (at most 2²⁶)."""
    left, right = np.divmod(value, side)
    for turn in range(_ROUNDS):
        # 53 bits, so that the sum does not wrap around: two digits could become one.
        noise = mix(right + key + np.uint64(turn * _GOLDEN % (1 << 64))) >> np.uint64(11)
        left, right = right, (left + noise) % side
    joined: Keys = left * side + right
    return joined
