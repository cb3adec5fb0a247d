"""Changing a text while keeping the way from old offsets to new ones and back."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from nymlink.core.errors import InputError


@dataclass(frozen=True, slots=True, order=True)
class Replacement:
    """Replacement of ``text[start:end]``; offsets are half-open, in code points."""

    start: int
    end: int
    text: str


class Rewritten:
    """A text in which stretches were replaced.

    Attributes:
        text: the new text.
        replacements: what was replaced, in order; offsets count in the old text.
    """

    def __init__(self, old: str, replacements: Sequence[Replacement]) -> None:
        self.replacements = tuple(replacements)
        pieces: list[str] = []
        # Stretches of (start, end) in the old and in the new text that stand for each other.
        self._old: list[tuple[int, int]] = []
        self._new: list[tuple[int, int]] = []
        old_end = new_end = 0
        for replacement in self.replacements:
            kept = old[old_end : replacement.start]
            pieces += [kept, replacement.text]
            start = new_end + len(kept)
            old_end, new_end = replacement.end, start + len(replacement.text)
            self._old.append((replacement.start, old_end))
            self._new.append((start, new_end))
        self.text = "".join([*pieces, old[old_end:]])
        self._lengths = (len(old), len(self.text))

    def to_new(self, offset: int) -> int:
        """Map an offset of the old text to the new one; inside a replaced stretch, to its replacement.

        Raises:
            InputError: the offset is not in the old text.
        """
        return _across(offset, self._old, self._new, self._lengths[0])[0]

    def to_old(self, offset: int) -> int:
        """Map an offset of the new text to the old one; inside a replacement, to the start of what it replaces.

        Raises:
            InputError: the offset is not in the new text.
        """
        return _across(offset, self._new, self._old, self._lengths[1])[0]

    def span_to_new(self, start: int, end: int) -> tuple[int, int]:
        """The stretch of the new text for one of the old, widened to whole replacements.

        Raises:
            InputError: an offset is not in the old text.
        """
        new_start = self.to_new(start)
        return new_start, max(new_start, _across(end, self._old, self._new, self._lengths[0])[1])

    def span_to_old(self, start: int, end: int) -> tuple[int, int]:
        """The stretch of the old text for one of the new, widened to whole replacements.

        Raises:
            InputError: an offset is not in the new text.
        """
        old_start = self.to_old(start)
        return old_start, max(old_start, _across(end, self._new, self._old, self._lengths[1])[1])


def rewrite(text: str, replacements: Iterable[Replacement]) -> Rewritten:
    """Replace stretches of a text.

    Args:
        text: the old text.
        replacements: in any order.

    Raises:
        InputError: two of them overlap, or one is empty or reaches outside the text.
    """
    ordered = sorted(replacements)
    for one in ordered:
        if not 0 <= one.start < one.end <= len(text):
            raise InputError(f"cannot replace {one.start}-{one.end} in a text of {len(text)} characters")
    for first, second in pairwise(ordered):
        if second.start < first.end:
            raise InputError(
                f"replacements {first.start}-{first.end} and {second.start}-{second.end} overlap: keep one of them"
            )
    return Rewritten(text, ordered)


def _across(
    offset: int, here: Sequence[tuple[int, int]], there: Sequence[tuple[int, int]], length: int
) -> tuple[int, int]:
    """The offset on the other side, twice: as the start of a span, and as the end of one."""
    if not 0 <= offset <= length:
        raise InputError(f"offset {offset} is outside a text of {length} characters")
    place = bisect_right(here, (offset, length)) - 1
    if place < 0:
        return offset, offset
    (start, end), (other_start, other_end) = here[place], there[place]
    if start < offset < end:
        return other_start, other_end
    if offset == start:
        return other_start, other_start
    return other_end + offset - end, other_end + offset - end
