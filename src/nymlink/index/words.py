"""The words of the names of an index, among which misspelt ones are looked for."""

from __future__ import annotations

from functools import cached_property
from itertools import chain
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from nymlink.index.sorted_texts import SortedTexts
from nymlink.text.slips import is_slip

_AT_ONCE: Final = 1 << 20
"""Texts that are cut into words at a time."""

_COUNTS: Final = pa.schema([("values", pa.large_string()), ("counts", pa.int64())])


class Words:
    """The distinct words of texts; they are collected when first asked for.

    Args:
        texts: large_string (N), words with single spaces between them.
    """

    def __init__(self, texts: pa.LargeStringArray) -> None:
        self._texts = texts

    def __contains__(self, word: str) -> bool:
        return self._sorted.find(word) is not None

    def nearest(self, word: str) -> str | None:
        """The word of which this is a slip (see :func:`~nymlink.text.slips.is_slip`), the commonest of several."""
        # One slip leaves what is before the middle as it is, or what is behind it.
        middle = (len(word) - 1) // 2
        back = word[:middle:-1]
        near = {
            other
            for other in chain(self._sorted.starting(word[:middle]), map(_turned, self._backwards.starting(back)))
            if is_slip(word, other)
        }
        return min(near, key=lambda other: (-self._count(other), other), default=None)

    @cached_property
    def _counted(self) -> pa.Table:
        """Each word, in code point order, and how often it is there."""
        parts = [
            pa.Table.from_struct_array(pc.value_counts(pc.split_pattern(texts, " ").flatten()))
            for texts in (self._texts[start : start + _AT_ONCE] for start in range(0, len(self._texts), _AT_ONCE))
        ]
        counts = pa.concat_tables([pa.table({"values": [], "counts": []}, schema=_COUNTS), *parts])
        return counts.group_by("values").aggregate([("counts", "sum")]).sort_by("values").combine_chunks()

    @cached_property
    def _sorted(self) -> SortedTexts:
        return SortedTexts(self._counted["values"].combine_chunks())

    @cached_property
    def _backwards(self) -> SortedTexts:
        turned = pc.utf8_reverse(self._counted["values"].combine_chunks())
        return SortedTexts(turned.take(pc.sort_indices(turned)))

    def _count(self, word: str) -> int:
        row = self._sorted.find(word)
        return 0 if row is None else int(self._counted["counts_sum"][row].as_py())


def _turned(word: str) -> str:
    return word[::-1]
