"""Features of texts: character n-grams and words, with their settings.

A feature is a hash of 48 bits: a polynomial in the code points of its characters modulo 2⁶⁴, mixed with the length
and the family of the feature, and cut to 48 bits. One integer, called a *pair*, holds a feature and the number of
a text. Sorting pairs groups them by feature. Among m features, two have the same hash with a probability of about
m² / 2⁴⁹, which is 0.002 for a million. They then count as one feature.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from nymlink.core.errors import UnknownNameError
from nymlink.core.json_files import to_dataclass
from nymlink.core.store.arrays import mix
from nymlink.text.english.words import stop_words
from nymlink.text.normalise import romanise

Hashes = npt.NDArray[np.uint64]
"""Features: 48-bit integers."""

Pairs = npt.NDArray[np.uint64]
"""Occurrences of features in texts, in no order.

The upper 48 bits are the feature, the lower 16 bits the number of the text.
"""

TEXT_BITS: Final = 16
"""Number of bits for the number of a text in a pair. So at most 65,536 texts are processed at a time."""

_BASE: Final = 0x9E3779B97F4A7C15  # an odd number has an inverse modulo 2⁶⁴
_INVERSE: Final = pow(_BASE, -1, 1 << 64)
# These numbers are added to a hash before mixing, so that families of features have different hashes. They are far
# larger than the n of n-grams.
_WITHIN_WORDS: Final = 0x2545F4914F6CDD1D
_WHOLE_WORD: Final = 0xD1B54A32D192ED03
_SPACE: Final = 32
_UPPER: Final = np.uint64(((1 << 64) - 1) >> TEXT_BITS << TEXT_BITS)


class CodePoints:
    """The code points of texts in one array, with a space before and after each text.

    Args:
        texts: at most 65,536 texts of words separated by single spaces.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        joined = "".join([f" {text} " for text in texts])
        # With "surrogatepass", a lone surrogate (for example from broken JSON) is a character like any other.
        codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), np.uint32)
        lengths = np.fromiter(map(len, texts), np.int64, len(texts)) + 2
        self._ends = np.cumsum(lengths)
        self._starts = self._ends - lengths
        self._text = np.repeat(np.arange(len(texts), dtype=np.uint64), lengths)
        self._space = codes == _SPACE
        # Add 1, so that no character is 0. Otherwise an n-gram could have the same polynomial as a longer n-gram.
        self._values = codes + np.uint64(1)
        self._grown = [self._values]

    def ngrams(self, sizes: range) -> Pairs:
        """Collect all character n-grams of the texts.

        Args:
            sizes: the lengths n, for example ``range(2, 6)``.
        """
        within = np.ones(len(self._values), bool)
        within[self._starts] = within[self._ends - 1] = False
        inside = within
        chosen = []
        for size, hashes in self._polynomials(sizes.stop):
            inside = inside[: len(hashes)] & within[size - 1 :]
            if size in sizes:
                chosen.append((hashes, inside, size))
        return self._pairs(chosen)

    def word_ngrams(self, sizes: range) -> Pairs:
        """Collect all character n-grams of each word. A word counts with a space on either side.

        A single space is not an n-gram. The n-grams are those of scikit-learn's ``char_wb``, except that words
        shorter than n give no n-gram of that size.
        """
        letter = ~self._space
        inside = letter
        chosen = []
        for size, hashes in self._polynomials(sizes.stop):
            if size == 2:
                inside = letter[:-1] | letter[1:]
            elif size > 2:
                # Only the first and the last character may be spaces.
                inside = letter[size - 2 : -1] if size == 3 else inside[:-1] & letter[size - 2 : -1]
            if size in sizes:
                chosen.append((hashes, inside, size + _WITHIN_WORDS))
        return self._pairs(chosen)

    def words(self, *, shortest: int = 1, without: Sequence[str] = ()) -> Pairs:
        """Collect all words of the texts.

        Args:
            shortest: length of the shortest collected word.
            without: words to leave out.
        """
        # With P[i] = Σ_{k<i} c[k] · B⁻ᵏ, the polynomial of the characters from i to j is (P[j] − P[i]) · Bⁱ.
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
        for size in range(1, end):
            if size > len(self._grown):
                hashes = self._grown[-1][:-1] * np.uint64(_BASE)
                hashes += self._values[size - 1 :]
                self._grown.append(hashes)
            yield size, self._grown[size - 1]

    def _pairs(self, chosen: Sequence[tuple[Hashes, npt.NDArray[np.bool_], int]]) -> Pairs:
        """Pair substrings with their texts.

        Args:
            chosen: for each size, the polynomials of all substrings, which of them to take, and the number that is
                added to them.
        """
        places = [np.flatnonzero(inside) for _, inside, _ in chosen]
        taken = [hashes[at] + np.uint64(salt) for at, (hashes, _, salt) in zip(places, chosen, strict=True)]
        pairs = mix(np.concatenate(taken))
        pairs &= _UPPER
        pairs |= self._text[np.concatenate(places)]
        return pairs


def renumber(pairs: Pairs, numbers: Sequence[int]) -> Pairs:
    """Change the numbers of texts in pairs: text i becomes text ``numbers[i]``."""
    renumbered: Pairs = pairs & _UPPER | np.array(numbers, np.uint64)[pairs & ~_UPPER]
    return renumbered


def _powers(base: int, count: int) -> Hashes:
    factors = np.full(count, base, np.uint64)
    factors[:1] = 1
    return np.cumprod(factors, dtype=np.uint64)


_LONGEST: Final = 64
"""Largest allowed length of n-grams."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SparseSettings:
    """Settings of the features of texts, their weights and their search.

    Attributes:
        chars: shortest and longest character n-gram of the whole text; ``None`` for none.
        word_chars: shortest and longest character n-gram of each word, which counts with a space on either side.
            These features do not depend on the order of words. ``None`` for none.
        words: whether words are features.
        shortest_word: shorter words are not features.
        stop_words: whether English function words are features.
        romanised: whether texts that are not ASCII also have the features of their romanised form. In other
            scripts, names of drugs and diseases are mostly transliterated.
        sublinear: whether a feature that occurs n times in a text counts 1 + ln n instead of n.
        search_share: the search finds entries only by features that at most this share of the entries has, if the
            query has such features. More common features would slow the search down and change little. They still
            count in the scores.
    """

    chars: tuple[int, int] | None = None
    word_chars: tuple[int, int] | None = None
    words: bool = False
    shortest_word: int = 1
    stop_words: bool = True
    romanised: bool = False
    sublinear: bool = False
    search_share: float = 1.0

    def __post_init__(self) -> None:
        if self.chars is None and self.word_chars is None and not self.words:
            raise ValueError("sparse settings need character n-grams, words or both")
        for sizes in (self.chars, self.word_chars):
            if sizes is not None and not _are_lengths(sizes):
                raise ValueError(f"character n-grams must go from 1 or more to at most {_LONGEST}, not {sizes}")
        if self.shortest_word < 1:
            raise ValueError(f"shortest_word must be at least 1, not {self.shortest_word}")
        if not 0 < self.search_share <= 1:
            raise ValueError(f"search_share must be above 0 and at most 1, not {self.search_share}")

    def features(self, texts: Sequence[str]) -> Pairs:
        """Collect the features of at most 65,536 texts, which are words separated by single spaces."""
        pairs = self._features(texts)
        others = [number for number, text in enumerate(texts) if not text.isascii()] if self.romanised else []
        if not others:
            return pairs
        romanised = renumber(self._features([romanise(texts[number]) for number in others]), others)
        return np.concatenate([pairs, romanised])

    def _features(self, texts: Sequence[str]) -> Pairs:
        points = CodePoints(texts)
        pairs = []
        if self.chars is not None:
            pairs.append(points.ngrams(range(self.chars[0], self.chars[1] + 1)))
        if self.word_chars is not None:
            pairs.append(points.word_ngrams(range(self.word_chars[0], self.word_chars[1] + 1)))
        if self.words:
            # Leave out English words in texts of all languages, as the published system does. Other settings leave
            # out no words.
            without = () if self.stop_words else stop_words()
            pairs.append(points.words(shortest=self.shortest_word, without=without))
        return np.concatenate(pairs)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, value: Any) -> SparseSettings:
        """Read the result of :meth:`to_dict`.

        Raises:
            ValueError: the value is damaged.
        """
        if isinstance(value, dict):
            # JSON has lists in place of tuples.
            value = {key: tuple(item) if isinstance(item, list) else item for key, item in value.items()}
        return to_dataclass(cls, value)


def _are_lengths(sizes: Any) -> bool:
    return (
        isinstance(sizes, tuple)
        and [type(size) for size in sizes] == [int, int]
        and 1 <= sizes[0] <= sizes[1] <= _LONGEST
    )


DEFAULT_PRESET: Final = "nymlink"

PRESETS: Final[Mapping[str, Mapping[str, SparseSettings]]] = MappingProxyType(
    {
        # Chosen on the development sets of NCBI and BC5CDR: see docs/howto/evaluation.md.
        "nymlink": {"sparse": SparseSettings(chars=(1, 2), word_chars=(3, 4), romanised=True, search_share=0.05)},
        # Sung et al. 2020 (BioSyn), section 3.2.
        "biosyn": {"sparse": SparseSettings(chars=(1, 2))},
        # Le & Nguyen 2023, section 3.1: two searches with merged lists, here by the mean of their scores.
        "le-nguyen": {
            "characters": SparseSettings(chars=(2, 5)),
            "words": SparseSettings(words=True, shortest_word=2, stop_words=False),
        },
        # Exact search alone, as a baseline for other searches.
        "none": {},
    }
)
"""Preset → name of a score part → settings of the sparse search with this name."""


def preset(name: str) -> Mapping[str, SparseSettings]:
    """Look up the sparse searches of a preset.

    Raises:
        UnknownNameError: there is no such preset; the message lists the known ones.
    """
    if name not in PRESETS:
        raise UnknownNameError(f"unknown sparse setting {name!r}; known: {', '.join(PRESETS)}")
    return PRESETS[name]
