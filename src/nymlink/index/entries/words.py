"""Words of entries: all of them, their initials, and their order."""

from __future__ import annotations

from functools import cached_property
from itertools import chain
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.core.store.arrays import mix
from nymlink.index.entries.sorted_texts import SortedTexts
from nymlink.index.sparse.features import TEXT_BITS, CodePoints
from nymlink.index.sparse.postings import chunks
from nymlink.text.spelling import is_slip

_AT_ONCE: Final = 1 << 18
"""Texts split into words at a time."""

_BYTES: Final = 4
"""Most bytes of a character in UTF-8."""


class Words:
    """The distinct words of texts, collected at the first access.

    Args:
        texts: large_string (N), words with single spaces between them.
    """

    def __init__(self, texts: pa.LargeStringArray) -> None:
        self._texts = texts

    def __contains__(self, word: str) -> bool:
        return self._sorted.find(word) is not None

    def correction(self, word: str) -> str | None:
        """Find the word of which this is a slip (:func:`~nymlink.text.spelling.is_slip`).

        ``None`` if there are several, or another word that differs only at the end, which is as likely meant.
        """
        length = len(word.encode())
        sizes = range(length - _BYTES, length + _BYTES + 1)
        if any(abs(len(other) - len(word)) <= 1 for other in self._sorted.with_prefix(word[:-1], sizes=sizes)):
            return None
        # One slip leaves one half of the word unchanged.
        middle = (len(word) - 1) // 2
        same_start = self._sorted.with_prefix(word[:middle], sizes=sizes)
        same_end = self._sorted_reversed.with_prefix(word[:middle:-1], sizes=sizes)
        near = {other for other in chain(same_start, map(_reverse, same_end)) if is_slip(word, other)}
        return near.pop() if len(near) == 1 else None

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


def _reverse(word: str) -> str:
    return word[::-1]


_WORDS: Final = r"^\S+( \S+){1,6}$"
"""Names of two to seven words: longer ones are descriptions."""

_FUNCTION_WORDS: Final = r"(?:^| )(?:a|an|and|by|for|from|in|of|on|or|the|to|with)(?: |$)"
"""Words that abbreviations skip."""

_WORD: Final = r" *(\S)\S* *"


class Initials:
    """The initials of texts, collected at the first search.

    Args:
        texts: large_string (N), words with single spaces between them.
    """

    def __init__(self, texts: pa.LargeStringArray) -> None:
        self._texts = texts

    def find(self, letters: str) -> npt.NDArray[np.int64]:
        """Find the texts whose words begin with these letters, words such as "of" skipped.

        Args:
            letters: folded, at least two.

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
        # Doubled, because a match of a function word takes the spaces on both sides.
        spaced = pc.replace_substring(self._texts.filter(several), " ", "  ")
        content = pc.replace_substring_regex(spaced, _FUNCTION_WORDS, "")
        return rows, pc.replace_substring_regex(content, _WORD, r"\1")


_TEXT: Final = np.uint64((1 << TEXT_BITS) - 1)


def word_digests(texts: pa.LargeStringArray) -> npt.NDArray[np.uint64]:
    """Digest E texts by their words: equal for the same words in any order, and almost surely different otherwise.

    Args:
        texts: large_string (E), words separated by single spaces.

    Returns:
        uint64 (E).
    """
    digests = np.zeros(len(texts), np.uint64)
    for start, end in chunks(pc.binary_length(texts).to_numpy()):
        words = CodePoints(texts[start:end].to_pylist()).words()
        # A sum of hashes does not depend on their order.
        np.add.at(digests[start:end], words & _TEXT, mix(words >> np.uint64(TEXT_BITS)))
    return digests
