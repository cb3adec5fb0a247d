"""Character n-grams and words of many texts at once, as hashes.

A feature is a polynomial in the code points of its characters modulo 2⁶⁴, mixed with its length and family and cut
to 48 bits, so that the number of a text fits beside it: a *pair* of a feature and a text is one integer, and
sorting pairs groups them. Any two of m features have the same hash with a probability of about m² / 2⁴⁹, 0.002
for a million; they then count as one feature.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from nymlink.core.store.arrays import mix

Hashes = npt.NDArray[np.uint64]
"""Features: 48-bit integers."""

Pairs = npt.NDArray[np.uint64]
"""Occurrences of features in texts, unordered: the feature in the upper 48 bits, the number of the text below."""

TEXT_BITS: Final = 16
"""Bits of a pair for the number of the text: at most 65,536 texts are processed at a time."""

_BASE: Final = 0x9E3779B97F4A7C15  # odd: it has an inverse modulo 2⁶⁴
_INVERSE: Final = pow(_BASE, -1, 1 << 64)
# Added to a hash before it is mixed, these separate families of features; the n of n-grams is small beside them.
_WITHIN_WORDS: Final = 0x2545F4914F6CDD1D
_WHOLE_WORD: Final = 0xD1B54A32D192ED03
_SPACE: Final = 32
_UPPER: Final = np.uint64(((1 << 64) - 1) >> TEXT_BITS << TEXT_BITS)


class CodePoints:
    """The code points of texts in one array, each text with a space on either side.

    Args:
        texts: at most 65,536 texts whose words are separated by single spaces.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        joined = "".join([f" {text} " for text in texts])
        # "surrogatepass": a lone surrogate (from broken JSON, say) is a character like any other here.
        codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), np.uint32)
        lengths = np.fromiter(map(len, texts), np.int64, len(texts)) + 2
        self._ends = np.cumsum(lengths)
        self._starts = self._ends - lengths
        self._text = np.repeat(np.arange(len(texts), dtype=np.uint64), lengths)
        self._space = codes == _SPACE
        # No character is 0, so that no n-gram is a part of a longer one's polynomial.
        self._values = codes + np.uint64(1)

    def ngrams(self, sizes: range) -> Pairs:
        """Collect all character n-grams of the texts.

        Args:
            sizes: the lengths n, for example ``range(2, 6)``.
        """
        within = np.ones(len(self._values), bool)
        within[self._starts] = within[self._ends - 1] = False
        inside = within
        pairs = []
        for size, hashes in self._polynomials(sizes.stop):
            inside = inside[: len(hashes)] & within[size - 1 :]
            if size in sizes:
                pairs.append(self._pairs(hashes, inside, salt=size))
        return np.concatenate(pairs)

    def word_ngrams(self, sizes: range) -> Pairs:
        """Collect all character n-grams of each word with a space on either side, but spaces alone.

        They are those of scikit-learn's ``char_wb``, but for words shorter than n, which give no n-gram of that
        size.

        Args:
            sizes: the lengths n.
        """
        letter = ~self._space
        inside = letter
        pairs = []
        for size, hashes in self._polynomials(sizes.stop):
            if size == 2:
                inside = letter[:-1] | letter[1:]
            elif size > 2:
                # Only the first and the last may be spaces.
                inside = letter[size - 2 : -1] if size == 3 else inside[:-1] & letter[size - 2 : -1]
            if size in sizes:
                pairs.append(self._pairs(hashes, inside, salt=size + _WITHIN_WORDS))
        return np.concatenate(pairs)

    def words(self, *, shortest: int = 1, without: Sequence[str] = ()) -> Pairs:
        """Collect all words of the texts.

        Args:
            shortest: length of the shortest word that is collected.
            without: words that are left out.
        """
        # With P[i] = Σ_{k<i} c[k] · B⁻ᵏ, the polynomial of characters i to j is (P[j] − P[i]) · Bⁱ.
        terms = self._values * _powers(_INVERSE, len(self._values))
        sums = np.append(np.uint64(0), np.cumsum(terms, dtype=np.uint64))
        spaces = np.flatnonzero(self._space)
        starts, ends = spaces[:-1] + 1, spaces[1:]
        long = ends - starts >= shortest
        starts, ends = starts[long], ends[long]
        hashes = (sums[ends] - sums[starts]) * _powers(_BASE, len(self._values))[starts]
        mixed = mix(hashes + np.uint64(_WHOLE_WORD))
        pairs = mixed & _UPPER | self._text[starts]
        if without:
            pairs = pairs[
                ~np.isin(pairs >> np.uint64(TEXT_BITS), CodePoints(without).words() >> np.uint64(TEXT_BITS))
            ]
        return pairs

    def _polynomials(self, end: int) -> Iterator[tuple[int, npt.NDArray[np.uint64]]]:
        """Yield each n below ``end`` with the polynomials of all substrings of n characters."""
        hashes = self._values
        for size in range(1, end):
            if size > 1:
                hashes = hashes[:-1] * np.uint64(_BASE)
                hashes += self._values[size - 1 :]
            yield size, hashes

    def _pairs(self, hashes: Hashes, inside: npt.NDArray[np.bool_], *, salt: int) -> Pairs:
        """Pair the substrings that begin where ``inside`` is true with their texts."""
        pairs = mix(hashes + np.uint64(salt))
        pairs &= _UPPER
        pairs |= self._text[: len(hashes)]
        return pairs[inside]


def renumber(pairs: Pairs, numbers: Sequence[int]) -> Pairs:
    """Give the texts of pairs other numbers: text i becomes text ``numbers[i]``."""
    renumbered: Pairs = pairs & _UPPER | np.array(numbers, np.uint64)[pairs & ~_UPPER]
    return renumbered


def _powers(base: int, count: int) -> Hashes:
    """Compute 1, base, base², … modulo 2⁶⁴."""
    factors = np.full(count, base, np.uint64)
    factors[:1] = 1
    return np.cumprod(factors, dtype=np.uint64)
