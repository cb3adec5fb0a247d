"""TF-IDF weights of character n-grams and words, as sparse unit vectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from nymlink.core.store.arrays import map_array, save_array, save_blocks
from nymlink.index.hits import Rows
from nymlink.index.sparse.features import Hashes, Pairs, SparseSettings
from nymlink.index.sparse.postings import Postings, chunks, counted, find


@dataclass(frozen=True, slots=True, eq=False)
class SparseVectors:
    """The vectors of T texts, stored as their nonzero values.

    Attributes:
        starts: int64 (T + 1): text i has the values ``starts[i]`` to ``starts[i + 1]``.
        places: int32 (n): the place of each value in its vector, ascending within a text.
        values: float32 (n): the values.
        width: length of a vector.
    """

    starts: npt.NDArray[np.int64]
    places: npt.NDArray[np.int32]
    values: npt.NDArray[np.float32]
    width: int

    def __len__(self) -> int:
        return len(self.starts) - 1


@dataclass(frozen=True, slots=True)
class TfIdf:
    """TF-IDF weights fitted on a set of texts.

    The weight of a feature is its count times ``ln((1 + n) / (1 + df)) + 1`` (scikit-learn's smooth idf); vectors
    have unit length. A feature that no fitted text has cannot match. It still counts in the length of a vector,
    with the idf of df = 0, so a text with many unknown features is not very similar to any other.

    Attributes:
        settings: settings of the features.
        documents: n, the number of fitted texts.
        hashes: uint64 (F): the features of these texts, ascending.
        frequencies: int64 (F): df, the number of texts with each feature.
    """

    settings: SparseSettings
    documents: int
    hashes: Hashes
    frequencies: npt.NDArray[np.int64]

    def __post_init__(self) -> None:
        if self.hashes.dtype != np.uint64 or self.frequencies.dtype != np.int64:
            raise ValueError("the features or their frequencies are of another type")
        if len(self.hashes) != len(self.frequencies):
            raise ValueError("the frequencies do not fit the features")

    @classmethod
    def fit(cls, postings: Iterable[Postings], settings: SparseSettings) -> TfIdf:
        """Count the document frequencies of features in the texts of all postings."""
        hashes, frequencies, documents = [np.zeros(0, np.uint64)], [np.zeros(0, np.int64)], 0
        for part in postings:
            hashes.append(part.features)
            frequencies.append(part.lengths)
            documents += part.size
        distinct, places = np.unique(np.concatenate(hashes), return_inverse=True)
        totals = np.bincount(places, np.concatenate(frequencies), minlength=len(distinct))
        return cls(settings, documents, distinct, totals.astype(np.int64))

    def with_features_of(self, postings: Iterable[Postings]) -> TfIdf:
        """Add the features of a few other texts. A new feature is weighted as if one fitted text had it."""
        other = np.unique(np.concatenate([np.zeros(0, np.uint64), *(part.features for part in postings)]))
        new = other[find(self.hashes, other) < 0]
        places = np.searchsorted(self.hashes, new)
        return TfIdf(
            self.settings,
            self.documents,
            np.insert(self.hashes, places, new),
            np.insert(self.frequencies, places, 1),
        )

    def idf(self, frequencies: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        """Compute the inverse document frequencies of features with these document frequencies: float32."""
        idf: npt.NDArray[np.float32] = (np.log((1 + self.documents) / (1 + frequencies)) + 1).astype(np.float32)
        return idf

    def transform(self, texts: Sequence[str]) -> SparseVectors:
        """Compute the unit vectors, of length F, of T texts. A text without features has only zeros."""
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        parts = [
            self._transform(self.settings.features(texts[start:end]), end - start)
            for start, end in chunks(lengths)
        ]
        if len(parts) == 1:
            return parts[0]
        sizes = [np.zeros(1, np.int64), *(np.diff(part.starts) for part in parts)]
        return SparseVectors(
            np.cumsum(np.concatenate(sizes)),
            np.concatenate([np.zeros(0, np.int32), *(part.places for part in parts)]),
            np.concatenate([np.zeros(0, np.float32), *(part.values for part in parts)]),
            width=len(self.hashes),
        )

    def _transform(self, pairs: Pairs, size: int) -> SparseVectors:
        """Compute the unit vectors of texts.

        Args:
            pairs: the occurrences of features in the texts. This array is sorted in place.
            size: T, the number of texts.
        """
        features, texts, counts = counted(pairs)
        columns = find(self.hashes, features)
        known = columns >= 0
        frequencies = np.zeros(len(columns), np.int64)
        frequencies[known] = self.frequencies[columns[known]]
        idf = self.idf(frequencies)
        weights = (1 + np.log(counts) if self.settings.sublinear else counts.astype(np.float64)) * idf
        # Sums depend on the order of what is added, a little: first come the features that occur once.
        order = np.argsort(counts > 1, kind="stable")
        norms = np.sqrt(np.bincount(texts[order], weights[order] ** 2, minlength=size))
        kept = np.flatnonzero(known)
        if size > 1:
            kept = kept[np.argsort(texts[kept], kind="stable")]
        texts = texts[kept]
        starts = np.append(0, np.cumsum(np.bincount(texts, minlength=size)))
        unit = (weights[kept] / norms[texts]).astype(np.float32)
        return SparseVectors(starts, columns[kept].astype(np.int32), unit, width=len(self.hashes))


@dataclass(frozen=True, slots=True, eq=False)
class FeatureLists:
    """The features of E texts, listed by text.

    Attributes:
        starts: int64 (E + 1): text i has the features ``places[starts[i]:starts[i + 1]]``.
        places: int32 (n): the place of each feature among the hashes of the weights, ascending within a text. A
            feature that occurs several times is there as often.

    Raises:
        ValueError: the arrays do not fit each other.
    """

    FILES: ClassVar = ("text_starts.npy", "text_features.npy")

    starts: npt.NDArray[np.int64]
    places: npt.NDArray[np.int32]
    _zeros: list[npt.NDArray[np.float64]] = field(default_factory=list, init=False, repr=False)
    """Vectors of zeros that no thread uses at the moment. To make one takes as long as to score ten texts."""

    def __post_init__(self) -> None:
        if self.starts.dtype != np.int64 or self.places.dtype != np.int32:
            raise ValueError("the features of texts are of another type")
        if (
            self.starts[0] != 0
            or self.starts[-1] != len(self.places)
            or np.any(self.starts[1:] < self.starts[:-1])
        ):
            raise ValueError("the features of texts do not follow one another")

    @classmethod
    def of(cls, postings: Iterable[Postings], hashes: Hashes, *, directory: Path | None = None) -> FeatureLists:
        """List the features of the texts of postings.

        Args:
            postings: the postings of one range of texts after the other, read several times.
            hashes: uint64 (F), ascending: all features.
            directory: a directory for the files of :meth:`save`, if not everything shall be in memory.
        """
        starts = np.append(0, np.cumsum(np.concatenate([part.occurrences for part in postings])))
        blocks = (_by_text(part, hashes) for part in postings)
        if directory is None:
            return cls(starts, np.concatenate([np.zeros(0, np.int32), *blocks]))
        save_array(directory, "text_starts", starts)
        save_blocks(directory, "text_features", blocks, dtype=np.int32, shape=(int(starts[-1]),))
        return cls.load(directory)

    def sums(
        self,
        vectors: SparseVectors,
        weights: npt.NDArray[np.float64],
        query_numbers: npt.NDArray[np.int64],
        rows: Rows,
        *,
        sublinear: bool,
    ) -> npt.NDArray[np.float64]:
        """For each pair of a query and a text, add up the query's weights times the term frequencies in the text.

        Args:
            vectors: the vectors of Q queries.
            weights: float64: the weight of each value of these vectors.
            query_numbers: int64 (n), ascending: the query of each pair.
            rows: int32 (n): the text of each pair.
            sublinear: take 1 + ln n instead of n for the term frequency.

        Returns:
            float64 (n).
        """
        sums = np.zeros(len(rows))
        # Asking first whether there is one would not be safe, because other threads take them too.
        try:
            weight_of = self._zeros.pop()
        except IndexError:
            weight_of = np.zeros(vectors.width)
        bounds = np.searchsorted(query_numbers, np.arange(len(vectors) + 1)).tolist()
        for (start, end), (first, last) in zip(pairwise(bounds), pairwise(vectors.starts.tolist()), strict=True):
            if start == end or first == last:
                continue
            begin = self.starts[rows[start:end]]
            lengths = self.starts[rows[start:end] + 1] - begin
            ends = np.cumsum(lengths)
            places = self.places.take(np.repeat(begin - ends + lengths, lengths) + np.arange(ends[-1]))
            own = vectors.places[first:last]
            weight_of[own] = weights[first:last]
            values = weight_of.take(places)
            weight_of[own] = 0
            if sublinear:
                values *= _sublinear_shares(places, ends - lengths)
            # A text without features has the sum 0, and reduceat cannot add up nothing.
            listed = np.flatnonzero(lengths)
            sums[start + listed] = np.add.reduceat(values, (ends - lengths)[listed])
        self._zeros.append(weight_of)
        return sums

    def save(self, directory: Path) -> None:
        """Write the lists into a directory."""
        save_array(directory, "text_starts", self.starts)
        save_array(directory, "text_features", self.places)

    @classmethod
    def load(cls, directory: Path) -> FeatureLists:
        """Map the lists of a directory into memory.

        Raises:
            OSError: a file is missing.
            ValueError: the files do not fit each other.
        """
        return cls(map_array(directory, "text_starts"), map_array(directory, "text_features", scattered=True))


def _by_text(postings: Postings, hashes: Hashes) -> npt.NDArray[np.int32]:
    """List the features of texts by text, then by place: int32, repeated features as often as they occur."""
    places = np.repeat(find(hashes, postings.features).astype(np.uint64), postings.lengths)
    # One sort of whole numbers is faster than sorting by two keys.
    pairs = np.repeat(postings.texts.astype(np.uint64) << np.uint64(32) | places, postings.counts)
    pairs.sort()
    return pairs.astype(np.uint32).view(np.int32)


def _sublinear_shares(places: npt.NDArray[np.int32], starts: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Divide 1 + ln n among the n occurrences of each feature of a text.

    Args:
        places: int32 (n): the features of texts, equal ones of a text side by side.
        starts: int64: the first feature of each text.
    """
    new = np.append(True, places[1:] != places[:-1])[: len(places)]
    new[starts[starts < len(places)]] = True
    counts = np.diff(np.flatnonzero(new), append=len(places))
    return np.repeat((1 + np.log(counts)) / counts, counts)


def invert(texts: Sequence[str], settings: SparseSettings) -> Iterator[Postings]:
    """Invert texts in blocks, which bounds memory."""
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    for start, stop in chunks(lengths):
        yield Postings.of(settings.features(texts[start:stop]), stop - start)
