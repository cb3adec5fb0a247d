"""Postings: for each feature the texts that have it, the inverted index of a set of texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt
from scipy.sparse import csc_matrix

from nymlink.core.errors import StoreError
from nymlink.core.store.arrays import map_array, save_array
from nymlink.index.sparse.features import TEXT_BITS, Hashes, Pairs

_CHARACTERS: Final = 2 << TEXT_BITS
"""Texts are inverted so many characters at a time, the two spaces around each among them: what that takes stays in
the cache, and there are no more texts than a pair can tell apart."""

_AT_ONCE: Final = 1 << 22
"""Postings weighed in one go: bounds the memory of their weights."""

_AGAIN: Final = 24
"""Where in a posting it begins to say how often the feature occurs again, after the first time."""

_TEXTS: Final = (1 << _AGAIN) - 1

_MORE: Final = 1 << 64 - TEXT_BITS
"""Added to a feature, this makes the key of what has it more than once."""

_MOST_OFTEN: Final = 256
"""A feature that occurs more often than this in a text counts as if it occurred this often."""


@dataclass(frozen=True, slots=True)
class Postings:
    """Which of T texts have which features, in P postings: the different (feature, text) pairs there are.

    The texts that have a feature once, nearly all, stand apart from those that have it more often: the postings of
    the former are plain text numbers, and to add up their weights nothing has to be unpacked.

    Attributes:
        size: T.
        keys: uint64 (F): what has postings, ascending: first the features that texts have once, then those that
            texts have more often, with bit 48 set.
        starts: int64 (F + 1): key i has the postings ``starts[i]`` to ``starts[i + 1]``.
        postings: uint32 (P): the texts of each key, ascending, in the lower 24 bits; in the upper 8 how often the
            feature occurs there again, 255 for more.
    """

    FILES: ClassVar = ("keys.npy", "starts.npy", "postings.npy")

    size: int
    keys: Hashes
    starts: npt.NDArray[np.int64]
    postings: npt.NDArray[np.uint32]

    def __post_init__(self) -> None:
        """Check what is small; the postings, which may be gigabytes, are checked where they are followed."""
        types = [array.dtype for array in (self.keys, self.starts, self.postings)]
        if types != [np.uint64, np.int64, np.uint32]:
            raise ValueError(f"the postings are of the types {', '.join(map(str, types))}")
        if len(self.starts) != len(self.keys) + 1:
            raise ValueError("the starts of the postings do not fit the features")
        last = self.starts[-1]
        if self.starts[0] != 0 or last != len(self.postings) or np.any(self.starts[1:] < self.starts[:-1]):
            raise ValueError("the postings of the features do not follow one another")

    @classmethod
    def of(cls, pairs: Pairs, size: int) -> Postings:
        """Group the occurrences of features in texts.

        Args:
            pairs: the occurrences; sorted in place.
            size: how many texts there are.
        """
        pairs.sort()
        firsts = _starts_of_runs(pairs)
        again = np.minimum(np.diff(firsts, append=len(pairs)), _MOST_OFTEN).astype(np.uint32) - np.uint32(1)
        more = again > 0
        pairs = np.concatenate([pairs[firsts[~more]], pairs[firsts[more]]])
        again = again[more]
        keys = pairs >> np.uint64(TEXT_BITS)
        keys[len(keys) - len(again) :] |= np.uint64(_MORE)
        postings = (pairs & np.uint64((1 << TEXT_BITS) - 1)).astype(np.uint32)
        postings[len(keys) - len(again) :] |= again << np.uint32(_AGAIN)
        starts = _starts_of_runs(keys)
        return cls(size, keys[starts], np.append(starts, len(keys)), postings)

    @classmethod
    def joined(cls, parts: Sequence[Postings]) -> Postings:
        """The postings of the texts of at least one part, one part after the other; at most 2²⁴ texts."""
        shifts = np.cumsum([0, *(part.size for part in parts)])
        moved = (part.postings + np.uint32(shift) for part, shift in zip(parts, shifts[:-1], strict=True))
        postings = np.concatenate(list(moved))
        # What one part has of one key is a run; the runs are brought in the order of their keys.
        keys = np.concatenate([part.keys for part in parts])
        lengths = np.concatenate([part.lengths for part in parts])
        order = np.argsort(keys, kind="stable")
        starts = (np.cumsum(lengths) - lengths)[order]
        keys, lengths = keys[order], lengths[order]
        ends = np.cumsum(lengths)
        places = np.repeat(starts - ends + lengths, lengths) + np.arange(len(postings))
        firsts = _starts_of_runs(keys)
        bounds = np.append((ends - lengths)[firsts], len(postings))
        return cls(int(shifts[-1]), keys[firsts], bounds, postings[places])

    @property
    def features(self) -> Hashes:
        """uint64 (F): the feature of each key; up to two are the same."""
        return self.keys & np.uint64(_MORE - 1)

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """int64 (F): how many postings each key has."""
        return np.diff(self.starts)

    @property
    def texts(self) -> npt.NDArray[np.int32]:
        """int32 (P): the text of each posting."""
        return _texts(self.postings).view(np.int32)

    def often(self, *, sublinear: bool) -> npt.NDArray[np.float64]:
        """float64 (P): what the occurrences count that each posting stands for, n or 1 + ln n."""
        return _often(self.postings, np.float64, sublinear=sublinear)

    def places(self, hashes: Hashes) -> npt.NDArray[np.int64]:
        """Where the postings of features are.

        Args:
            hashes: uint64 (m): different features.

        Returns:
            int64 (2, m): the key of the texts that have a feature once, and of those that have it more often; -1
            where there are none.
        """
        return np.stack([find(self.keys, hashes), find(self.keys, hashes | np.uint64(_MORE))])

    def products(
        self, places: npt.NDArray[np.int64], weights: npt.NDArray[Any], *, sublinear: bool
    ) -> npt.NDArray[Any]:
        """For each text the sum of the weights of given features, each times how often it occurs there.

        Args:
            places: int64 (2, m): those of different features, see :meth:`places`.
            weights: float32 or float64 (m): theirs.
            sublinear: count what occurs n times with 1 + ln n instead of n.

        Returns:
            (T), of the type of the weights.

        Raises:
            StoreError: a posting is of a text that does not exist.
        """
        known = places.ravel() >= 0
        singles = np.count_nonzero(known[: len(weights)])
        places, weights = places.ravel()[known], np.concatenate([weights, weights])[known]
        starts, ends = self.starts[places], self.starts[places + 1]
        if 2 * np.sum(ends - starts) > len(self.postings):
            # To go through them all is quicker than to pick most of them.
            every = np.zeros(len(self.keys), weights.dtype)
            every[places] = weights
            return self.sums(every, sublinear=sublinear)
        stretches = zip(starts.tolist(), ends.tolist(), strict=True)
        picked = np.concatenate([self.postings[:0], *[self.postings[start:end] for start, end in stretches]])
        bounds = np.append(0, np.cumsum(ends - starts))
        values = np.ones(len(picked), weights.dtype)
        once = bounds[singles]
        values[once:] = _often(picked[once:], weights.dtype, sublinear=sublinear)
        picked[once:] &= np.uint32(_TEXTS)
        return self._sums(picked, values, bounds, weights)

    def sums(self, weights: npt.NDArray[Any], *, sublinear: bool) -> npt.NDArray[Any]:
        """For each text the sum of the weights of its features, each times how often it occurs there.

        Args:
            weights: float32 or float64 (F): those of the features of all keys.
            sublinear: count what occurs n times with 1 + ln n instead of n.

        Returns:
            (T), of the type of the weights.

        Raises:
            StoreError: a posting is of a text that does not exist.
        """
        values = _often(self.postings, weights.dtype, sublinear=sublinear)
        return self._sums(_texts(self.postings), values, self.starts, weights)

    def _sums(
        self,
        texts: npt.NDArray[np.uint32],
        values: npt.NDArray[Any],
        bounds: npt.NDArray[np.int64],
        weights: npt.NDArray[Any],
    ) -> npt.NDArray[Any]:
        """For each text the sum of its values, those of a stretch between two bounds times its weight."""
        # Compiled code follows these numbers, out of memory where they say so.
        if texts.max(initial=0) >= max(self.size, 1):
            raise StoreError("the index is damaged (a posting is of a text that does not exist): build it again")
        matrix = csc_matrix((values, texts.view(np.int32), bounds), (self.size, len(weights)))
        sums: npt.NDArray[Any] = matrix @ weights
        return sums

    def norms(self, weights: npt.NDArray[np.float64], *, sublinear: bool) -> npt.NDArray[np.float64]:
        """float64 (T): the length of the vector of each text, given the weights of the features of all keys."""
        squares = np.zeros(self.size)
        bounds = np.searchsorted(self.starts, np.arange(0, len(self.postings), _AT_ONCE))
        for first, last in pairwise(np.unique([*bounds, len(self.keys)]).tolist()):
            starts = self.starts[first : last + 1]
            postings = self.postings[starts[0] : starts[-1]]
            each = _often(postings, np.float64, sublinear=sublinear)
            each *= np.repeat(weights[first:last], np.diff(starts))
            squares += np.bincount(_texts(postings).view(np.int32), each**2, minlength=self.size)
        norms: npt.NDArray[np.float64] = np.sqrt(squares)
        return norms

    def save(self, directory: Path) -> None:
        """Write the postings into a new directory."""
        directory.mkdir()
        for name in ("keys", "starts", "postings"):
            save_array(directory, name, getattr(self, name))

    @classmethod
    def load(cls, directory: Path, size: int) -> Postings:
        """Map the postings of a directory into memory.

        Raises:
            OSError: a file of it is missing.
            ValueError: the files do not fit each other.
        """
        return cls(size, *(map_array(directory, name) for name in ("keys", "starts", "postings")))


def find(hashes: Hashes, wanted: Hashes) -> npt.NDArray[np.int64]:
    """The place of each wanted hash among ascending ones, -1 for those that are not there."""
    if not len(hashes):
        return np.full(len(wanted), -1)
    places = np.minimum(np.searchsorted(hashes, wanted), len(hashes) - 1)
    return np.where(hashes[places] == wanted, places, -1)


def chunks(lengths: npt.NDArray[Any]) -> list[tuple[int, int]]:
    """Stretches of texts of these lengths, each short enough to be inverted in one go (but for endless texts)."""
    ends = np.cumsum(lengths + 2)
    starts = np.flatnonzero(np.diff(ends // _CHARACTERS, prepend=-1)).tolist()
    return list(pairwise([*starts, len(lengths)]))


def _texts(postings: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    return postings & np.uint32(_TEXTS)


def _often(postings: npt.NDArray[np.uint32], dtype: npt.DTypeLike, *, sublinear: bool) -> npt.NDArray[Any]:
    # As signed integers, because these become floats quickly.
    often = (postings >> np.uint32(_AGAIN)).view(np.int32).astype(dtype) + 1
    return 1 + np.log(often) if sublinear else often


def _starts_of_runs(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """Where each run of equal values begins."""
    return np.flatnonzero(np.append(True, values[1:] != values[:-1])[: len(values)])
