"""TF-IDF weights of character n-grams and words, as sparse unit vectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nymlink.index.sparse.features import Hashes, SparseSettings
from nymlink.index.sparse.postings import Postings, chunks, find


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
        parts = [self._transform(postings) for postings in invert(texts, self.settings)]
        lengths = [np.zeros(1, np.int64), *(np.diff(part.starts) for part in parts)]
        return SparseVectors(
            np.cumsum(np.concatenate(lengths)),
            np.concatenate([np.zeros(0, np.int32), *(part.places for part in parts)]),
            np.concatenate([np.zeros(0, np.float32), *(part.values for part in parts)]),
            width=len(self.hashes),
        )

    def _transform(self, postings: Postings) -> SparseVectors:
        places = find(self.hashes, postings.features)
        known = places >= 0
        frequencies = np.zeros(len(places), np.int64)
        frequencies[known] = self.frequencies[places[known]]
        idf = np.repeat(self.idf(frequencies), postings.lengths)
        weights = postings.term_frequencies(sublinear=self.settings.sublinear) * idf
        texts = postings.texts
        norms = np.sqrt(np.bincount(texts, weights**2, minlength=postings.size))
        unit = (weights / norms[texts]).astype(np.float32)
        columns = np.repeat(places, postings.lengths)
        kept = np.flatnonzero(columns >= 0)
        kept = kept[np.lexsort((columns[kept], texts[kept]))]
        starts = np.append(0, np.cumsum(np.bincount(texts[kept], minlength=postings.size)))
        return SparseVectors(starts, columns[kept].astype(np.int32), unit[kept], width=len(self.hashes))


def invert(texts: Sequence[str], settings: SparseSettings) -> Iterator[Postings]:
    """Invert texts in blocks, which bounds memory."""
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    for start, stop in chunks(lengths):
        yield Postings.of(settings.features(texts[start:stop]), stop - start)
