"""The words of the names of an index, among which misspelt ones are looked for."""

from __future__ import annotations

from functools import cached_property
from itertools import chain
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from nymlink.index.entries.sorted_texts import SortedTexts
from nymlink.text.english.slips import is_slip

_AT_ONCE: Final = 1 << 18
"""Texts that are cut into words at a time."""

_BYTES: Final = 4
"""That a letter has at most."""


class Words:
    """The distinct words of texts; they are collected when first asked for.

    Args:
        texts: large_string (N), words with single spaces between them.
    """

    def __init__(self, texts: pa.LargeStringArray) -> None:
        self._texts = texts

    def __contains__(self, word: str) -> bool:
        return self._sorted.find(word) is not None

    def meant(self, word: str) -> str | None:
        """The word of which this is a slip, see :func:`~nymlink.text.english.slips.is_slip`.

        There is none if there are several, or another that differs at the end alone: that is as likely meant.
        """
        length = len(word.encode())
        sizes = range(length - _BYTES, length + _BYTES + 1)
        if any(abs(len(other) - len(word)) <= 1 for other in self._sorted.starting(word[:-1], sizes=sizes)):
            return None
        # One slip leaves what is before the middle as it is, or what is behind it.
        middle = (len(word) - 1) // 2
        ahead = self._sorted.starting(word[:middle], sizes=sizes)
        behind = self._backwards.starting(word[:middle:-1], sizes=sizes)
        near = {other for other in chain(ahead, map(_turned, behind)) if is_slip(word, other)}
        return near.pop() if len(near) == 1 else None

    @cached_property
    def _sorted(self) -> SortedTexts:
        return SortedTexts(self._distinct)

    @cached_property
    def _backwards(self) -> SortedTexts:
        turned = pc.utf8_reverse(self._distinct)
        return SortedTexts(turned.take(pc.sort_indices(turned)))

    @cached_property
    def _distinct(self) -> pa.LargeStringArray:
        """Each word, in code point order."""
        starts = range(0, len(self._texts), _AT_ONCE)
        parts = [
            pc.split_pattern(self._texts[start : start + _AT_ONCE], " ").flatten().unique() for start in starts
        ]
        words = pa.chunked_array(parts, pa.large_string()).unique()
        return words.take(pc.sort_indices(words))


def _turned(word: str) -> str:
    return word[::-1]
