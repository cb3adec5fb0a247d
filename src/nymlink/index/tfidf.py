"""TF-IDF weights of character n-grams and words, as sparse unit vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, vstack

from nymlink.index.features import Features, Hashes, char_ngrams, words
from nymlink.progress import track
from nymlink.text.stop_words import STOP_WORDS

_CHUNK: Final = 1_000_000
"""Characters looked at in one go: bounds the memory that their features take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SparseSettings:
    """What a text's features are.

    Attributes:
        chars: shortest and longest character n-gram of the whole text; ``None`` for none.
        word_chars: shortest and longest character n-gram of each word, padded with a space on either side; they
            do not change when words change places. ``None`` for none.
        words: whether words are features.
        shortest_word: shorter words are none.
        stop_words: whether English function words are words.
        sublinear: weigh a feature that occurs n times with 1 + ln n instead of n.
        search_share: look for entries only by the features that at most this share of the entries have (where a
            query has such). Commoner ones make a search slow and decide little; they still count in the score
            of what was found.
    """

    chars: tuple[int, int] | None = None
    word_chars: tuple[int, int] | None = None
    words: bool = False
    shortest_word: int = 1
    stop_words: bool = True
    sublinear: bool = False
    search_share: float = 1.0

    def __post_init__(self) -> None:
        if self.chars is None and self.word_chars is None and not self.words:
            raise ValueError("sparse settings need character n-grams, words or both")
        for sizes in (self.chars, self.word_chars):
            if sizes is not None and not 1 <= sizes[0] <= sizes[1]:
                raise ValueError(f"character n-grams must go from a length of at least 1 upwards, not {sizes}")
        if self.shortest_word < 1:
            raise ValueError(f"shortest_word must be at least 1, not {self.shortest_word}")
        if not 0 < self.search_share <= 1:
            raise ValueError(f"search_share must be above 0 and at most 1, not {self.search_share}")

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, value: dict[str, Any]) -> SparseSettings:
        sizes = {name: value[name] and tuple(value[name]) for name in ("chars", "word_chars")}
        return cls(**{**value, **sizes})


@dataclass(frozen=True, slots=True)
class TfIdf:
    """The weighting fitted on a set of texts.

    The weight of a feature is its count times ``ln((1 + n) / (1 + df)) + 1`` (scikit-learn's smooth idf); vectors
    have unit length. Features that no fitted text has cannot match but count in a vector's length, with the idf
    of df = 0: a text half of which is unknown is at most half similar to anything.

    Attributes:
        settings: what the features are.
        hashes: uint64 (F): the fitted features, ascending.
        idf: float32 (F): their inverse document frequencies.
        unknown: the idf of a feature that no fitted text has.
    """

    settings: SparseSettings
    hashes: Hashes
    idf: npt.NDArray[np.float32]
    unknown: float

    @classmethod
    def fit(cls, texts: Sequence[str], settings: SparseSettings, *, progress: bool = False) -> TfIdf:
        """Count in how many of ``texts`` each feature occurs."""
        hashes, frequencies = np.zeros(0, np.uint64), np.zeros(0, np.int64)
        for chunk in _chunks(texts, "counting", progress):
            features = _features(chunk, settings)
            found, codes = np.unique(features.hash, return_inverse=True)
            pairs = np.unique(features.text.astype(np.int64) * max(len(found), 1) + codes)
            counts = np.bincount(pairs % max(len(found), 1), minlength=len(found))
            hashes, places = np.unique(np.concatenate([hashes, found]), return_inverse=True)
            frequencies = np.bincount(places, np.concatenate([frequencies, counts]), minlength=len(hashes))
        documents = len(texts)
        idf = np.log((1 + documents) / (1 + frequencies)) + 1
        return cls(settings, hashes, idf.astype(np.float32), float(np.log(1 + documents) + 1))

    def transform(self, texts: Sequence[str], *, progress: bool = False) -> csr_matrix:
        """The unit vectors of T texts: float32 (T, F), sparse. A text without features has a zero vector."""
        parts = [self._transform(chunk) for chunk in _chunks(texts, "weighing", progress)]
        return vstack(parts, format="csr") if parts else csr_matrix((0, len(self.hashes)), dtype=np.float32)

    def _transform(self, texts: Sequence[str]) -> csr_matrix:
        features = _features(texts, self.settings)
        found, codes = np.unique(features.hash, return_inverse=True)
        width = max(len(found), 1)
        pairs, counts = np.unique(features.text.astype(np.int64) * width + codes, return_counts=True)
        rows, codes = pairs // width, pairs % width
        columns = np.searchsorted(self.hashes, found)
        columns[columns == len(self.hashes)] = 0
        known = (self.hashes[columns] == found) if len(self.hashes) else np.zeros(len(found), bool)
        idf = (
            np.where(known, self.idf[columns], self.unknown) if len(self.hashes) else np.full(width, self.unknown)
        )
        weights = (1 + np.log(counts) if self.settings.sublinear else counts) * idf[codes]
        lengths = np.sqrt(np.bincount(rows, weights**2, minlength=len(texts)))
        kept = known[codes]
        rows, columns, weights = rows[kept], columns[codes[kept]], weights[kept]
        order = np.lexsort((columns, rows))
        data = (weights[order] / lengths[rows[order]]).astype(np.float32)
        indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(texts)))])
        shape = (len(texts), len(self.hashes))
        return csr_matrix((data, columns[order].astype(np.int32), indptr.astype(np.int32)), shape=shape)


def _features(texts: Sequence[str], settings: SparseSettings) -> Features:
    found = []
    for sizes, within_words in ((settings.chars, False), (settings.word_chars, True)):
        if sizes is not None:
            found.append(char_ngrams(texts, range(sizes[0], sizes[1] + 1), within_words=within_words))
    if settings.words:
        without = () if settings.stop_words else STOP_WORDS
        found.append(words(texts, shortest=settings.shortest_word, without=without))
    return Features(
        np.concatenate([features.text for features in found]),
        np.concatenate([features.hash for features in found]),
    )


def _chunks(texts: Sequence[str], label: str, progress: bool) -> Iterator[Sequence[str]]:
    ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))
    starts = np.flatnonzero(np.diff(ends // _CHUNK, prepend=-1)).tolist()
    stretches = list(pairwise([*starts, len(texts)]))
    return (texts[start:end] for start, end in track(stretches, label, shown=progress))
