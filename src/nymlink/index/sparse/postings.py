"""Postings: the inverted index of a set of texts, which lists the texts of each feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from nymlink.core.errors import StoreError
from nymlink.core.store.arrays import map_array, save_array, starts_of_runs
from nymlink.index.hits import Rows, Scores
from nymlink.index.sparse.features import TEXT_BITS, Hashes, Pairs

_EQUAL: Final = 1e-6
"""Scores whose difference is smaller count as equal, as in :func:`~nymlink.index.hits.best`."""

_COLUMNS: Final = 64


class BestRows:
    """The entries with the highest estimated scores so far.

    At least ``fetched`` entries are kept, and all entries with the k-th best score. Their exact scores and their
    rows decide the order later.

    Args:
        k: number of wanted entries.
        fetched: number of kept entries, at least k.

    Attributes:
        rows: int32 (n): the rows of the kept entries.
    """

    def __init__(self, k: int, fetched: int) -> None:
        self.rows: Rows = np.zeros(0, np.int32)
        self._scores: Scores = np.zeros(0, np.float32)
        self._k = k
        self._fetched = fetched
        self._lowest = 0.0

    def add(self, first: int, scores: Scores) -> None:
        """Add consecutive entries. Entries with score 0 are not kept.

        Args:
            first: the row of the first entry.
            scores: float32 (n): their scores.
        """
        lowest = self._lowest or _kth_score_bound(scores, self._fetched) - _EQUAL
        good = np.flatnonzero(scores >= lowest if lowest > 0 else scores > 0)
        self.rows = np.concatenate([self.rows, (first + good).astype(np.int32)])
        self._scores = np.concatenate([self._scores, scores[good]])
        if len(self.rows) > self._fetched:
            parted = np.partition(self._scores, (-self._fetched, -self._k))
            self._lowest = min(parted[-self._fetched], parted[-self._k] - _EQUAL)
            kept = self._scores >= self._lowest
            self.rows, self._scores = self.rows[kept], self._scores[kept]


def _kth_score_bound(scores: Scores, k: int) -> float:
    """Compute a lower bound of the k-th highest score: the k-th highest maximum of groups of scores.

    The bound is 0 if there are fewer than k groups.
    """
    highest = scores[: len(scores) // _COLUMNS * _COLUMNS].reshape(_COLUMNS, -1).max(axis=0)
    return float(np.partition(highest, -k)[-k]) if len(highest) >= k else 0.0


def sample_features(
    frequencies: npt.NDArray[np.int64], weights: npt.NDArray[Any], budget: int
) -> npt.NDArray[np.float32]:
    """Sample features so that their frequencies add up to about a budget.

    Feature i is chosen with the probability pᵢ = min(1, c wᵢ / √dfᵢ), where c makes Σ pᵢ dfᵢ equal to the budget.
    A chosen feature represents 1 / pᵢ features. So sums over all features are estimated without bias (Horvitz &
    Thompson 1952), and with the least variance for the cost (Neyman allocation with costs: Cochran 1977, section
    5.5). Sampling is systematic. In descending order of pᵢ, a feature is chosen whenever the sum of the pᵢ so far
    passes a half, one and a half, two and a half, and so on. The n-grams of a common word have similar pᵢ and
    follow one another, so every common word keeps its share of n-grams.

    Args:
        frequencies: int64 (m), at least 1: number of texts with each feature, which is the cost of the feature.
        weights: float (m), above 0: contribution of each feature to the score of a text that has it.
        budget: most (feature, text) pairs. It is raised to the frequency of the most common feature if it is
            lower.

    Returns:
        float32 (m): the number of features that each feature represents: 0 if it is left out, 1 if it represents
        only itself, more if it represents others too.
    """
    if frequencies.sum() <= budget:
        return np.ones(len(frequencies), np.float32)
    worth = weights / np.sqrt(frequencies)
    order = np.argsort(-worth, kind="stable")
    worth, costs = worth[order].astype(np.float64), frequencies[order]
    # factors[i] is c if the first i features have p = 1. The right i is the first for which the next feature has p
    # ≤ 1.
    left = np.maximum(max(budget, costs.max()) - np.cumsum(costs) + costs, 0)
    factors = left / np.cumsum((worth * costs)[::-1])[::-1]
    probabilities = np.minimum(factors[np.argmax(factors * worth <= 1)] * worth, 1)
    passed = np.floor(np.cumsum(probabilities) + 0.5)
    counts = np.zeros(len(frequencies), np.float32)
    counts[order] = np.where(np.diff(passed, prepend=0) > 0, 1 / probabilities, 0)
    return counts


_CHARACTERS: Final = 2 << TEXT_BITS
"""Number of characters inverted at a time, counting two spaces for each text.

The pairs then stay in the CPU cache, and the number of a text fits into a pair.
"""

_AT_ONCE: Final = 1 << 22
"""Number of postings weighted at a time. It bounds the memory of their weights."""

_REPEAT_SHIFT: Final = 24
"""First bit of the number of repetitions in a posting.

Repetitions are the occurrences of the feature after the first.
"""

_TEXTS: Final = (1 << _REPEAT_SHIFT) - 1

_REPEATED: Final = 1 << 64 - TEXT_BITS
"""This bit marks a key whose texts have several occurrences of the feature."""

_HIGHEST_COUNT: Final = 256
"""Highest count of a feature in a text. Higher counts are reduced to this number."""


@dataclass(frozen=True, slots=True)
class Postings:
    """The features of T texts, as P postings. A posting is a distinct pair of a feature and a text.

    Most texts have a feature only once. These postings are kept apart from the others: they are plain numbers of
    texts, so that sums need no unpacking.

    Attributes:
        size: T, the number of texts.
        keys: uint64 (F), ascending. First come the features that occur once in a text, then the features that
            occur several times in a text, with bit 48 set. A feature may have both keys.
        starts: int64 (F + 1): key i has the postings ``starts[i]`` to ``starts[i + 1]``.
        postings: uint32 (P): the texts of each key, ascending. The lower 24 bits are the number of the text, the
            upper 8 bits the number of repetitions in the text, at most 255.
    """

    FILES: ClassVar = ("keys.npy", "starts.npy", "postings.npy")

    size: int
    keys: Hashes
    starts: npt.NDArray[np.int64]
    postings: npt.NDArray[np.uint32]

    def __post_init__(self) -> None:
        """Check keys and starts. The postings may be gigabytes and are checked when they are used."""
        types = [array.dtype for array in (self.keys, self.starts, self.postings)]
        if types != [np.uint64, np.int64, np.uint32]:
            raise ValueError(f"keys, starts and postings are of the types {', '.join(map(str, types))}")
        if len(self.starts) != len(self.keys) + 1:
            raise ValueError("the starts of the postings do not fit the features")
        last = self.starts[-1]
        if self.starts[0] != 0 or last != len(self.postings) or np.any(self.starts[1:] < self.starts[:-1]):
            raise ValueError("the postings of the features do not follow one another")

    @classmethod
    def of(cls, pairs: Pairs, size: int) -> Postings:
        """Group the occurrences of features in texts.

        Args:
            pairs: the occurrences. This array is sorted in place.
            size: number of texts.
        """
        features, texts, counts = counted(pairs)
        once, several = np.flatnonzero(counts == 1), np.flatnonzero(counts > 1)
        repeats = (counts[several] - 1).astype(np.uint32)
        keys = np.concatenate([features[once], features[several] | np.uint64(_REPEATED)])
        postings = np.concatenate([texts[once], texts[several]]).astype(np.uint32)
        postings[len(once) :] |= repeats << np.uint32(_REPEAT_SHIFT)
        starts = starts_of_runs(keys)
        return cls(size, keys[starts], np.append(starts, len(keys)), postings)

    @classmethod
    def joined(cls, parts: Sequence[Postings]) -> Postings:
        """Join the postings of parts.

        Texts are numbered one part after the other, and there may be at most 2²⁴.
        """
        shifts = np.cumsum([0, *(part.size for part in parts)])
        renumbered = (part.postings + np.uint32(shift) for part, shift in zip(parts, shifts[:-1], strict=True))
        postings = np.concatenate(list(renumbered))
        # The postings of one key in one part are a run. Sort the runs by key.
        keys = np.concatenate([part.keys for part in parts])
        lengths = np.concatenate([part.lengths for part in parts])
        order = np.argsort(keys, kind="stable")
        starts = (np.cumsum(lengths) - lengths)[order]
        keys, lengths = keys[order], lengths[order]
        ends = np.cumsum(lengths)
        places = np.repeat(starts - ends + lengths, lengths) + np.arange(len(postings))
        firsts = starts_of_runs(keys)
        bounds = np.append((ends - lengths)[firsts], len(postings))
        return cls(int(shifts[-1]), keys[firsts], bounds, postings[places])

    @property
    def features(self) -> Hashes:
        """Feature of each key: uint64 (F). A feature may have two keys."""
        return self.keys & np.uint64(_REPEATED - 1)

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Number of postings of each key: int64 (F)."""
        return np.diff(self.starts)

    @property
    def texts(self) -> npt.NDArray[np.int32]:
        """Text of each posting: int32 (P)."""
        return _texts(self.postings).view(np.int32)

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """How often the text of each posting has the feature: int64 (P)."""
        return (self.postings >> np.uint32(_REPEAT_SHIFT)).astype(np.int64) + 1

    @property
    def occurrences(self) -> npt.NDArray[np.int64]:
        """Number of occurrences of features in each text: int64 (T)."""
        return np.bincount(self.texts, self.counts, minlength=self.size).astype(np.int64)

    def places(self, hashes: Hashes) -> npt.NDArray[np.int64]:
        """Look up the keys of features.

        Args:
            hashes: uint64 (m): distinct features.

        Returns:
            int64 (2, m): the place of the key for texts with one occurrence, and of the key for texts with more;
            -1 if there is no such key.
        """
        return np.stack([find(self.keys, hashes), find(self.keys, hashes | np.uint64(_REPEATED))])

    def products(
        self, places: npt.NDArray[np.int64], weights: npt.NDArray[Any], *, sublinear: bool
    ) -> npt.NDArray[Any]:
        """For each text, add up the weights of given features times their term frequencies in the text.

        Args:
            places: int64 (2, m): places of the keys of distinct features, see :meth:`places`.
            weights: float32 or float64 (m): weights of the features.
            sublinear: take 1 + ln n instead of n for the term frequency.

        Returns:
            (T), of the type of the weights.

        Raises:
            StoreError: a posting is of a text that does not exist.
        """
        known = places.ravel() >= 0
        singles = np.count_nonzero(known[: len(weights)])
        places, weights = places.ravel()[known], np.concatenate([weights, weights])[known]
        starts, ends = self.starts[places], self.starts[places + 1]
        lengths = ends - starts
        if 2 * lengths.sum() > len(self.postings):
            # If most postings are needed, going through all of them is faster than selecting.
            every = np.zeros(len(self.keys), weights.dtype)
            every[places] = weights
            return self.sums(every, sublinear=sublinear)
        ranges = zip(starts.tolist(), ends.tolist(), strict=True)
        parts = [self.postings[:0], *[self.postings[start:end] for start, end in ranges]]
        # Use the type of indices, to avoid a later conversion.
        selected = np.concatenate(parts, dtype=np.intp)
        return self._sums(selected, weights, lengths, lengths[:singles].sum(), sublinear=sublinear)

    def sums(self, weights: npt.NDArray[Any], *, sublinear: bool) -> npt.NDArray[Any]:
        """For each text, add up the weights of all its features times their term frequencies in the text.

        Args:
            weights: float32 or float64 (F): weights of the features of all keys.
            sublinear: take 1 + ln n instead of n for the term frequency.

        Returns:
            (T), of the type of the weights.

        Raises:
            StoreError: a posting is of a text that does not exist.
        """
        once = self.starts[np.searchsorted(self.keys, np.uint64(_REPEATED))]
        return self._sums(self.postings.astype(np.intp), weights, self.lengths, once, sublinear=sublinear)

    def _sums(
        self,
        postings: npt.NDArray[np.intp],
        weights: npt.NDArray[Any],
        lengths: npt.NDArray[np.int64],
        once: np.int64,
        *,
        sublinear: bool,
    ) -> npt.NDArray[Any]:
        """Add up the weights of each text, given the postings of keys. The postings are overwritten.

        Args:
            postings: intp (n): the postings of one key after the other.
            weights: float32 or float64 (m): weights of the keys.
            lengths: int64 (m): the number of postings of each key.
            once: number of postings of features that occur once in their text. These postings come first.
            sublinear: see :meth:`products`.
        """
        values = np.repeat(weights, lengths)
        repeated = postings[once:]
        values[once:] *= _term_frequencies(repeated.astype(np.uint32), weights.dtype, sublinear=sublinear)
        repeated &= _TEXTS
        sums = np.zeros(self.size, weights.dtype)
        try:
            np.add.at(sums, postings, values)
        except IndexError as error:
            message = "the index is damaged (a posting is of a text that does not exist): build it again"
            raise StoreError(message) from error
        return sums

    def norms(self, weights: npt.NDArray[np.float64], *, sublinear: bool) -> npt.NDArray[np.float64]:
        """Compute the length of the vector of each text, float64 (T), given the weights of all keys, (F)."""
        squares = np.zeros(self.size)
        bounds = np.searchsorted(self.starts, np.arange(0, len(self.postings), _AT_ONCE))
        for first, last in pairwise(np.unique([*bounds, len(self.keys)]).tolist()):
            starts = self.starts[first : last + 1]
            postings = self.postings[starts[0] : starts[-1]]
            values = _term_frequencies(postings, np.float64, sublinear=sublinear)
            values *= np.repeat(weights[first:last], np.diff(starts))
            squares += np.bincount(_texts(postings).view(np.int32), values**2, minlength=self.size)
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
            OSError: a file is missing.
            ValueError: the files do not fit each other.
        """
        return cls(size, *(map_array(directory, name) for name in ("keys", "starts", "postings")))


def counted(pairs: Pairs) -> tuple[Hashes, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Count the occurrences of features in texts.

    Args:
        pairs: the occurrences. This array is sorted in place.

    Returns:
        For each distinct pair, ascending: the feature, uint64 (P); the text, int64 (P); and how often the text has
        the feature, int64 (P), at most 256.
    """
    pairs.sort()
    firsts = starts_of_runs(pairs)
    counts = np.empty(len(firsts), np.int64)
    np.subtract(firsts[1:], firsts[:-1], out=counts[:-1])
    counts[-1:] = len(pairs) - firsts[-1:]
    distinct = pairs[firsts]
    texts = (distinct & np.uint64((1 << TEXT_BITS) - 1)).view(np.int64)
    return distinct >> np.uint64(TEXT_BITS), texts, np.minimum(counts, _HIGHEST_COUNT)


def find(hashes: Hashes, wanted: Hashes) -> npt.NDArray[np.int64]:
    """Find the places of wanted hashes in an ascending array: int64 (m), -1 for hashes that are not there."""
    if not len(hashes):
        return np.full(len(wanted), -1)
    places = np.minimum(np.searchsorted(hashes, wanted), len(hashes) - 1)
    return np.where(hashes[places] == wanted, places, -1)


def chunks(lengths: npt.NDArray[Any]) -> list[tuple[int, int]]:
    """Split texts of these lengths into ranges (start, end). The texts of a range are inverted together."""
    ends = np.cumsum(lengths + 2)
    if len(ends) and ends[-1] < _CHARACTERS:
        return [(0, len(ends))]
    starts = np.flatnonzero(np.diff(ends // _CHARACTERS, prepend=-1)).tolist()
    return list(pairwise([*starts, len(lengths)]))


def _texts(postings: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    return postings & np.uint32(_TEXTS)


def _term_frequencies(
    postings: npt.NDArray[np.uint32], dtype: npt.DTypeLike, *, sublinear: bool
) -> npt.NDArray[Any]:
    # Signed integers are converted to floats faster.
    counts = (postings >> np.uint32(_REPEAT_SHIFT)).view(np.int32).astype(dtype) + 1
    return 1 + np.log(counts) if sublinear else counts
