"""The words of the names of an index, with which misspelt words are corrected."""

from __future__ import annotations

from functools import cached_property
from itertools import chain
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from nymlink.index.entries.sorted_texts import SortedTexts
from nymlink.text.slips import is_slip

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
        """Find the word of which this is a slip (:func:`~nymlink.text.slips.is_slip`).

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
