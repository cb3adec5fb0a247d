"""The searches again, one loop after the other, to hold the real ones against."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from nymlink.index.hits import NONE, Hits
from nymlink.index.sparse.features import SparseSettings
from nymlink.text.english.words import stop_words

Dense = npt.NDArray[np.float64]


def char_ngrams(text: str, sizes: Sequence[int], *, within_words: bool) -> Counter[Hashable]:
    """The n-grams of a text; those of its words, with a space on either side, are never spaces alone."""
    counts: Counter[Hashable] = Counter()
    pieces = [f" {word} " for word in text.split(" ") if word] if within_words else [text]
    for piece in pieces:
        for size in sizes:
            for start in range(len(piece) - size + 1):
                gram = piece[start : start + size]
                if not within_words or gram.strip(" "):
                    counts["word" if within_words else "text", gram] += 1
    return counts


def words(text: str, shortest: int = 1) -> Counter[Hashable]:
    return Counter(("whole", word) for word in text.split(" ") if len(word) >= max(shortest, 1))


def kept_words(text: str, settings: SparseSettings) -> list[str]:
    return [word for word in text.split(" ") if settings.stop_words or word not in stop_words()]


def features(text: str, settings: SparseSettings) -> Counter[Hashable]:
    counts: Counter[Hashable] = Counter()
    if settings.chars is not None:
        counts += char_ngrams(text, range(settings.chars[0], settings.chars[1] + 1), within_words=False)
    if settings.word_chars is not None:
        sizes = range(settings.word_chars[0], settings.word_chars[1] + 1)
        counts += char_ngrams(text, sizes, within_words=True)
    if settings.words:
        counts += words(" ".join(kept_words(text, settings)), settings.shortest_word)
    return counts


def cosines(queries: Sequence[str], names: Sequence[str], settings: SparseSettings) -> Dense:
    """TF-IDF cosine of every query with every name, the weights being fitted on the names."""
    frequencies = Counter(feature for name in names for feature in features(name, settings))

    def vector(text: str) -> dict[Hashable, float]:
        weights = {}
        for feature, count in features(text, settings).items():
            idf = math.log((1 + len(names)) / (1 + frequencies[feature])) + 1
            weights[feature] = (1 + math.log(count) if settings.sublinear else count) * idf
        length = math.sqrt(sum(weight**2 for weight in weights.values()))
        return {feature: weight / length for feature, weight in weights.items()}

    vectors = [vector(name) for name in names]
    found = np.zeros((len(queries), len(names)))
    for row, query in enumerate(map(vector, queries)):
        for column, other in enumerate(vectors):
            found[row, column] = sum(weight * other.get(feature, 0) for feature, weight in query.items())
    return found


def assert_best(hits: Hits, scores: Dense, k: int, *, found: npt.NDArray[np.bool_] | None = None) -> None:
    """Assert that hits are the k best of all entries in the order that every search promises.

    Args:
        hits: what a search gave.
        scores: the right scores, (Q, E); where they are equal but for rounding, so may be the ranks.
        k: how many were asked for.
        found: which entries may be found at all; without it, those with a score above 0.
    """
    found = scores > 1e-9 if found is None else found
    assert hits.rows.shape == (len(scores), k)
    for rows, given, right, allowed in zip(hits.rows.tolist(), hits.scores.tolist(), scores, found, strict=True):
        count = min(k, int(allowed.sum()))
        assert rows[count:] == [NONE] * (k - count)
        assert given[count:] == [0] * (k - count)
        rows, given = rows[:count], given[:count]
        assert len(set(rows)) == count
        assert all(allowed[row] for row in rows)
        np.testing.assert_allclose(given, right[rows], rtol=0, atol=2e-6)
        # Scores are compared to six decimals: what is nearer than that may stand either way.
        for first, second in pairwise(rows):
            assert right[first] > right[second] - 2e-6
            assert first < second or right[first] > right[second] + 1e-9 or _halfway(right[first])
        left_out = np.setdiff1d(np.flatnonzero(allowed), rows)
        if len(left_out) and count:
            last = rows[-1]
            assert right[left_out].max() < right[last] + 2e-6
            assert _halfway(right[last]) or not np.any(
                (np.abs(right[left_out] - right[last]) < 1e-9) & (left_out < last)
            )


def _halfway(score: float) -> bool:
    """Whether a score is so near the middle of two numbers of six decimals that it may be rounded either way."""
    return abs(score * 1e6 % 1 - 0.5) < 0.1 + score / 8
