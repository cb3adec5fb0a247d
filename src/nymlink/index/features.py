"""Character n-grams and words of many texts at once, as 64-bit hashes.

Everything is computed on one long array of code points. With an odd multiplier B, arithmetic modulo 2⁶⁴ has an
inverse of B, so the prefix sums ``P[i] = Σ_{k<i} c[k] · B⁻ᵏ`` give the polynomial hash of any stretch ``[i, j)``
as ``(P[j] − P[i]) · Bⁱ``, whatever its length and place: n-grams of all lengths and words come from one pass.
The hashes are then mixed with the feature's length and family. Any two of m features collide with a probability of
about m² / 2⁶⁵: 10⁻⁷ for a million.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

Hashes = npt.NDArray[np.uint64]

_BASE: Final = 0x9E3779B97F4A7C15  # odd
_INVERSE: Final = pow(_BASE, -1, 1 << 64)
# Added to a hash before it is mixed, these keep families of features apart; the n of n-grams is small beside them.
_WITHIN_WORDS: Final = 0x2545F4914F6CDD1D
_WHOLE_WORD: Final = 0xD1B54A32D192ED03
_SPACE: Final = 32


@dataclass(frozen=True, slots=True)
class Features:
    """Features of T texts, one entry an occurrence.

    Attributes:
        text: int32, which text (0 … T − 1), ascending.
        hash: uint64, which feature.
    """

    text: npt.NDArray[np.int32]
    hash: Hashes


def char_ngrams(texts: Sequence[str], sizes: range, *, within_words: bool) -> Features:
    """All character n-grams of texts whose words are separated by single spaces.

    Args:
        texts: T texts.
        sizes: the lengths n, for example ``range(2, 6)``.
        within_words: n-grams of each word with a space on either side (scikit-learn's ``char_wb``, but for words
            shorter than n, which give no n-gram of that size) instead of n-grams of the whole text.
    """
    points = _Points([f" {text} " for text in texts] if within_words else texts)
    rows, hashes = [], []
    for size in sizes:
        starts = points.windows(size, within_words=within_words)
        rows.append(points.text_of(starts))
        hashes.append(points.hash(starts, starts + size, salt=size + _WITHIN_WORDS * within_words))
    return _in_text_order(rows, hashes)


def words(texts: Sequence[str], *, shortest: int = 1, without: Sequence[str] = ()) -> Features:
    """All words of texts whose words are separated by single spaces.

    Args:
        texts: T texts.
        shortest: shorter words are left out.
        without: words left out.
    """
    points = _Points([f" {text} " for text in texts])
    spaces = np.flatnonzero(points.codes == _SPACE)
    starts, ends = spaces[:-1] + 1, spaces[1:]
    kept = ends - starts >= shortest
    starts, ends = starts[kept], ends[kept]
    hashes = points.hash(starts, ends, salt=_WHOLE_WORD)
    if without:
        kept = ~np.isin(hashes, words(without).hash)
        starts, hashes = starts[kept], hashes[kept]
    return _in_text_order([points.text_of(starts)], [hashes])


class _Points:
    """The code points of all texts in one array, with the prefix sums of their hashes."""

    def __init__(self, texts: Sequence[str]) -> None:
        joined = "".join(texts)
        # "surrogatepass": a lone surrogate (from broken JSON, say) is a character like any other here.
        self.codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), np.uint32)
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        self.ends = np.cumsum(lengths)
        self._owner = np.repeat(np.arange(len(texts), dtype=np.int32), lengths)
        self._powers = _powers(_BASE, len(self.codes))
        terms = (self.codes.astype(np.uint64) + np.uint64(1)) * _powers(_INVERSE, len(self.codes))
        self._prefix = np.concatenate([np.zeros(1, np.uint64), np.cumsum(terms, dtype=np.uint64)])

    def windows(self, size: int, *, within_words: bool) -> npt.NDArray[np.int64]:
        """Starts of all stretches of ``size`` that lie in one text (and, on request, in one padded word)."""
        starts = np.arange(max(len(self.codes) - size + 1, 0))
        inside = self._owner[starts] == self._owner[starts + size - 1] if len(starts) else np.zeros(0, bool)
        if within_words:
            # A space may only be the first or the last character.
            spaces = np.concatenate([[0], np.cumsum(self.codes == _SPACE)])
            inner = spaces[starts + size - 1] - spaces[np.minimum(starts + 1, len(self.codes))]
            ends_on_space = (self.codes[starts + size - 1] == _SPACE) & (self.codes[starts] == _SPACE)
            inside &= (inner <= 0) & ~(ends_on_space & (size <= 2))
        kept: npt.NDArray[np.int64] = starts[inside]
        return kept

    def text_of(self, starts: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
        return self._owner[starts]

    def hash(self, starts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64], *, salt: int) -> Hashes:
        if not len(starts):
            return np.zeros(0, np.uint64)
        return _mix((self._prefix[ends] - self._prefix[starts]) * self._powers[starts] + np.uint64(salt))


def _powers(base: int, count: int) -> Hashes:
    """1, base, base², … modulo 2⁶⁴."""
    factors = np.full(count, base, np.uint64)
    factors[:1] = 1
    return np.cumprod(factors, dtype=np.uint64)


def _mix(value: Hashes) -> Hashes:
    """The finaliser of SplitMix64 (Steele, Lea & Flood 2014): every input bit reaches every output bit."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Hashes = value ^ (value >> np.uint64(31))
    return mixed


def _in_text_order(rows: list[npt.NDArray[np.int32]], hashes: list[Hashes]) -> Features:
    row, value = np.concatenate(rows), np.concatenate(hashes)
    order = np.argsort(row, kind="stable")
    return Features(row[order], value[order])
