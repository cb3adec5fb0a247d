"""Words of entries: the distinct words, initials, digests that ignore the order of words, and numbered words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import ClassVar, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import xxhash

from nymlink.core.computing import remember
from nymlink.core.store.arrays import Ints, map_array, mix, save_array
from nymlink.index.entries.sorted_texts import SortedTexts
from nymlink.index.hits import Rows, Scores
from nymlink.index.sparse.features import TEXT_BITS, CodePoints
from nymlink.index.sparse.postings import chunks
from nymlink.text.numerals import numerals_of_word
from nymlink.text.spelling import is_slip

_AT_ONCE: Final = 1 << 18
"""Number of texts split into words at a time."""

_REMEMBERED: Final = 1 << 15
"""Number of words whose rows and corrections are remembered."""

_BYTES: Final = 4
"""Most bytes of a character in UTF-8."""


class Words:
    """The distinct words of texts. They are collected at the first access.

    Args:
        texts: large_string (N): texts of words separated by single spaces.
    """

    def __init__(self, texts: pa.LargeStringArray) -> None:
        self._texts = texts
        self._find = remember(_REMEMBERED)(lambda word: self._sorted.find(word))
        self.correction = remember(_REMEMBERED)(self._correction)
        self.slips = remember(_REMEMBERED)(self._slips)

    def __contains__(self, word: str) -> bool:
        return self._find(word) is not None

    def _correction(self, word: str) -> str | None:
        """Find the word that was meant by a misspelt word.

        The result is ``None`` if several words are one slip away. It is also ``None`` if a word differs only in
        its end ("lung", "lungs"), because that word may be meant too.
        """
        same = self._sorted.with_prefix(word[:-1], sizes=_sizes(word))
        if any(abs(len(other) - len(word)) <= 1 for other in same):
            return None
        near = self.slips(word)
        return next(iter(near)) if len(near) == 1 else None

    def _slips(self, word: str) -> frozenset[str]:
        """Find the words that differ from a word by one slip (:func:`~nymlink.text.spelling.is_slip`)."""
        sizes = _sizes(word)
        # If there is only one slip, one half of the word is unchanged.
        middle = (len(word) - 1) // 2
        same_start = self._sorted.with_prefix(word[:middle], sizes=sizes)
        same_end = self._sorted_reversed.with_prefix(word[:middle:-1], sizes=sizes)
        return frozenset(other for other in chain(same_start, map(_reverse, same_end)) if is_slip(word, other))

    @cached_property
    def _sorted(self) -> SortedTexts:
        return SortedTexts(self._distinct)

    @cached_property
    def _sorted_reversed(self) -> SortedTexts:
        reversed_words = pc.utf8_reverse(self._distinct)
        return SortedTexts(reversed_words.take(pc.sort_indices(reversed_words)))

    @cached_property
    def _distinct(self) -> pa.LargeStringArray:
        """Distinct words, in code point order."""
        starts = range(0, len(self._texts), _AT_ONCE)
        parts = [
            pc.split_pattern(self._texts[start : start + _AT_ONCE], " ").flatten().unique() for start in starts
        ]
        words = pa.chunked_array(parts, pa.large_string()).unique()
        return words.take(pc.sort_indices(words))


def _sizes(word: str) -> range:
    """Compute the possible lengths in bytes of words that differ by one slip."""
    length = len(word.encode())
    return range(length - _BYTES, length + _BYTES + 1)


def _reverse(word: str) -> str:
    return word[::-1]


_WORDS: Final = r"^\S+( \S+){1,6}$"
"""Pattern of names of two to seven words. Longer names are descriptions."""

_FUNCTION_WORDS: Final = r"(?:^| )(?:a|an|and|by|for|from|in|of|on|or|the|to|with)(?: |$)"
"""Words that abbreviations skip."""

_WORD: Final = r" *(\S)\S* *"


class Initials:
    """The initials of texts. They are collected at the first search.

    Args:
        texts: large_string (N): texts of words separated by single spaces.
    """

    def __init__(self, texts: pa.LargeStringArray) -> None:
        self._texts = texts

    def find(self, letters: str) -> npt.NDArray[np.int64]:
        """Find the texts whose words begin with these letters. Words such as "of" are skipped.

        Args:
            letters: folded letters, at least two.

        Returns:
            int64: rows of texts, ascending.
        """
        rows, initials = self._initials
        found: npt.NDArray[np.int64] = rows[pc.equal(initials, letters).to_numpy(zero_copy_only=False)]
        return found

    @cached_property
    def _initials(self) -> tuple[npt.NDArray[np.int64], pa.LargeStringArray]:
        several = pc.match_substring_regex(self._texts, _WORDS)
        rows = np.flatnonzero(several.to_numpy(zero_copy_only=False))
        # Double the spaces, because a match of a function word takes the spaces on both sides.
        spaced = pc.replace_substring(self._texts.filter(several), " ", "  ")
        content = pc.replace_substring_regex(spaced, _FUNCTION_WORDS, "")
        return rows, pc.replace_substring_regex(content, _WORD, r"\1")


_TEXT: Final = np.uint64((1 << TEXT_BITS) - 1)


def word_digests(texts: pa.LargeStringArray) -> npt.NDArray[np.uint64]:
    """Compute digests of the words of E texts. The order of words does not change the digest.

    Texts with different words almost surely have different digests.

    Args:
        texts: large_string (E), words separated by single spaces.

    Returns:
        uint64 (E).
    """
    digests = np.zeros(len(texts), np.uint64)
    for start, end in chunks(pc.binary_length(texts).to_numpy()):
        words = CodePoints(texts[start:end].to_pylist()).words()
        # Add up hashes, because a sum does not depend on the order.
        np.add.at(digests[start:end], words & _TEXT, mix(words >> np.uint64(TEXT_BITS)))
    return digests


LONGEST: Final = 12
"""Number of words at the beginning of a name or query that are compared."""

_STEM: Final = 5
"""Number of first letters that all forms of a word share ("anaemia", "anaemic").

Shorter words have no other forms.
"""


_UNKNOWN: Final = -1
"""The number of a word that no entry has."""

_FILES: Final = ("hashes", "stems", "stem_of_word", "marks", "weights", "offsets", "numbers")


class NumberedWords(NamedTuple):
    """The first :data:`LONGEST` words of N texts, one after the other.

    Attributes:
        words: int32 (n): number of each word, below 0 for unknown words.
        stems: int32 (n): number of the first letters of each word, below 0 for unknown first letters.
        marks: int32 (n): for a numeral or single letter, a number that all its spellings share
            (:func:`~nymlink.text.numerals.numerals_of_word`); 0 for other words.
        weights: float32 (n): rarity of each word among the entries.
        starts: int64 (N): the first word of each text.
        counts: int64 (N): number of words of each text, at least 1.
    """

    words: Rows
    stems: Rows
    marks: Rows
    weights: Scores
    starts: Ints
    counts: Ints

    def take(self, texts: Ints) -> NumberedWords:
        """Select texts by their numbers."""
        counts = self.counts[texts]
        starts = np.cumsum(counts) - counts
        places = np.repeat(self.starts[texts] - starts, counts) + np.arange(counts.sum())
        return NumberedWords(
            self.words.take(places),
            self.stems.take(places),
            self.marks.take(places),
            self.weights.take(places),
            starts,
            counts,
        )


@dataclass(frozen=True, slots=True, eq=False)
class WordNumbers:
    """The distinct words of E entries, and the words of each entry.

    Words are identified by hashes. Among ten million words, two have the same hash with a probability of 3e-6.

    Attributes:
        hashes: uint64 (D), ascending: XXH3 of each distinct word.
        stems: uint64 (S), ascending: XXH3 of the first letters of words.
        stem_of_word: int32 (D): the stem of each word.
        marks: int32 (D): for a numeral or single letter, its number; 0 for other words.
        weights: float32 (D): logarithm of (E + 1) / (number of occurrences of the word).
        offsets: int64 (E + 1): the words of entry i are ``numbers[offsets[i]:offsets[i + 1]]``.
        numbers: int32: the numbers of the words of each entry, in their order in the entry.
    """

    FILES: ClassVar = tuple(f"word_{name}.npy" for name in _FILES)

    hashes: npt.NDArray[np.uint64]
    stems: npt.NDArray[np.uint64]
    stem_of_word: Rows
    marks: Rows
    weights: Scores
    offsets: Ints
    numbers: Rows

    def __post_init__(self) -> None:
        distinct = len(self.hashes)
        if not distinct == len(self.stem_of_word) == len(self.marks) == len(self.weights):
            raise ValueError("the words of the entries differ in number")
        if len(self.offsets) < 1 or self.offsets[0] != 0 or self.offsets[-1] != len(self.numbers):
            raise ValueError("the offsets of the words of the entries do not fit their numbers")
        if np.any(self.offsets[1:] < self.offsets[:-1]):
            raise ValueError("the offsets of the words of the entries do not ascend")
        for values, count in ((self.numbers, distinct), (self.stem_of_word, len(self.stems))):
            if len(values) and not 0 <= values.min() <= values.max() < count:
                raise ValueError("the entries have words that do not exist")

    @classmethod
    def of(cls, texts: pa.LargeStringArray) -> WordNumbers:
        """Number the words of E texts with single spaces between words."""
        parts = [
            pc.split_pattern(texts[start : start + _AT_ONCE], " ") for start in range(0, len(texts), _AT_ONCE)
        ]
        lengths = np.concatenate(
            [np.zeros(1, np.int64), *(pc.list_value_length(part).to_numpy() for part in parts)]
        )
        flat = pa.chunked_array([pc.list_flatten(part) for part in parts], pa.large_string())
        encoded = flat.combine_chunks().dictionary_encode()
        words = encoded.dictionary.to_pylist()
        hashes = _hashes(words)
        order = np.argsort(hashes)
        place = np.empty(len(order), np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        numbers = place[encoded.indices.to_numpy()] if len(words) else np.zeros(0, np.int32)
        stems, stem_of_word = np.unique(_hashes([word[:_STEM] for word in words])[order], return_inverse=True)
        occurrences = np.bincount(numbers, minlength=len(words))
        return cls(
            hashes=hashes[order],
            stems=stems,
            stem_of_word=stem_of_word.astype(np.int32),
            marks=np.array([_mark(words[row]) for row in order.tolist()], np.int32),
            # In a small vocabulary, a word may occur more often than there are names. Its weight stays above 0.
            weights=np.log((len(texts) + 1) / np.clip(occurrences, 1, max(len(texts), 1))).astype(np.float32),
            offsets=np.cumsum(lengths),
            numbers=numbers,
        )

    @classmethod
    def none(cls) -> WordNumbers:
        """Make the table of no entry."""
        return cls.of(pa.array([], pa.large_string()))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def of_entries(self, rows: Rows) -> NumberedWords:
        """Number the words of N entries, given by their rows."""
        first = self.offsets[rows]
        counts = np.minimum(self.offsets[rows.astype(np.int64) + 1] - first, LONGEST)
        starts = np.cumsum(counts) - counts
        words = self.numbers[np.repeat(first - starts, counts) + np.arange(counts.sum())]
        return NumberedWords(
            words, self.stem_of_word[words], self.marks[words], self.weights[words], starts, counts
        )

    def of_texts(self, texts: Sequence[str]) -> NumberedWords:
        """Number the words of N other texts. Unknown words have the highest rarity."""
        split = [text.split(" ")[:LONGEST] for text in texts]
        counts = np.array([len(words) for words in split], np.int64)
        flat = [word for words in split for word in words]
        numbers, known = _look_up(self.hashes, _hashes(flat))
        stems, has_stem = _look_up(self.stems, _hashes([word[:_STEM] for word in flat]))
        weights = np.full(len(flat), np.log(len(self) + 1), np.float32)
        weights[known] = self.weights[numbers[known]]
        return NumberedWords(
            words=np.where(known, numbers, _UNKNOWN).astype(np.int32),
            stems=np.where(has_stem, stems, _UNKNOWN).astype(np.int32),
            marks=np.array([_mark(word) for word in flat], np.int32),
            weights=weights,
            starts=np.cumsum(counts) - counts,
            counts=counts,
        )

    def save(self, directory: Path) -> None:
        """Write the arrays into a directory."""
        for name in _FILES:
            save_array(directory, f"word_{name}", getattr(self, name))

    @classmethod
    def load(cls, directory: Path) -> WordNumbers:
        """Map the arrays of a directory into memory.

        Raises:
            OSError: a file is missing.
            ValueError: the files hold something else, or do not fit each other.
        """
        return cls(*(map_array(directory, f"word_{name}") for name in _FILES))


def _mark(word: str) -> int:
    """Return the number of a numeral or single letter; 0 for other words.

    All spellings ("II", "2") have the same number.
    """
    values = numerals_of_word(word, None)
    return xxhash.xxh32_intdigest(min(values).encode()) >> 1 | 1 if values else 0


def _hashes(words: Sequence[str]) -> npt.NDArray[np.uint64]:
    digests = (xxhash.xxh3_64_intdigest(word.encode("utf-8", "surrogatepass")) for word in words)
    return np.fromiter(digests, np.uint64, len(words))


def _look_up(
    sorted_hashes: npt.NDArray[np.uint64], wanted: npt.NDArray[np.uint64]
) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """Find the place of each hash, and whether it exists."""
    places = np.minimum(np.searchsorted(sorted_hashes, wanted), max(len(sorted_hashes) - 1, 0))
    if not len(sorted_hashes):
        return places, np.zeros(len(wanted), bool)
    return places, sorted_hashes[places] == wanted
