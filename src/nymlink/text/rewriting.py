"""Replace parts of a text and map offsets; find pairs of brackets."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

from nymlink.core.errors import InputError

_CLOSING: Final = {"(": ")", "[": "]", "{": "}"}
_BRACKET: Final = re.compile(r"[()\[\]{}]")


class Bracket(NamedTuple):
    """A pair of brackets: the offsets of the opening and of the closing character."""

    opening: int
    closing: int


def brackets(text: str) -> tuple[Bracket, ...]:
    """Find the pairs of round, square and curly brackets, including nested pairs.

    The pairs are sorted by the offset of the opening bracket. A bracket without a partner is ignored. Pairs never
    cross.
    """
    waiting: list[int] = []
    open_kinds = dict.fromkeys(_CLOSING.values(), 0)
    pairs: list[Bracket] = []
    for match in _BRACKET.finditer(text):
        offset, char = match.start(), match[0]
        if char in _CLOSING:
            waiting.append(offset)
            open_kinds[_CLOSING[char]] += 1
        elif open_kinds.get(char):
            # Brackets that opened after the partner remain without one.
            while True:
                opening = waiting.pop()
                open_kinds[_CLOSING[text[opening]]] -= 1
                if _CLOSING[text[opening]] == char:
                    break
            pairs.append(Bracket(opening, offset))
    return tuple(sorted(pairs))


def is_balanced(text: str) -> bool:
    """Whether every bracket in the text has its partner in it."""
    signs = sum(map(text.count, "()[]{}"))
    return signs == 0 or 2 * len(brackets(text)) == signs


@dataclass(frozen=True, slots=True, order=True)
class Replacement:
    """Replacement of ``text[start:end]``; offsets are half-open, in code points."""

    start: int
    end: int
    text: str


class Rewritten:
    """A text with replacements, which maps offsets of the old text to the new one.

    Attributes:
        text: the new text.
        replacements: the replacements, in order; offsets are for the old text.
    """

    def __init__(self, old: str, replacements: Sequence[Replacement]) -> None:
        self.replacements = tuple(replacements)
        pieces: list[str] = []
        # Spans of the replacements in the old and in the new text.
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
        self._old_length = len(old)

    def to_new(self, offset: int) -> int:
        """Map an offset of the old text to the new one; inside a replaced span, to the start of its replacement.

        Raises:
            InputError: the offset is not in the old text.
        """
        return self._map(offset)[0]

    def span_to_new(self, start: int, end: int) -> tuple[int, int]:
        """Map a span of the old text to the new one, widened to whole replacements.

        Raises:
            InputError: an offset is not in the old text.
        """
        new_start = self.to_new(start)
        return new_start, max(new_start, self._map(end)[1])

    def _map(self, offset: int) -> tuple[int, int]:
        """Map an offset to the new text.

        Returns:
        The new offset if this one starts a span, and the new offset if it ends a span.
        """
        if not 0 <= offset <= self._old_length:
            raise InputError(f"offset {offset} is outside a text of {self._old_length} characters")
        place = bisect_right(self._old, (offset, self._old_length)) - 1
        if place < 0:
            return offset, offset
        (start, end), (new_start, new_end) = self._old[place], self._new[place]
        if start < offset < end:
            return new_start, new_end
        if offset == start:
            return new_start, new_start
        return new_end + offset - end, new_end + offset - end


def rewrite(text: str, replacements: Iterable[Replacement]) -> Rewritten:
    """Replace spans of a text.

    Args:
        text: the old text.
        replacements: in any order.

    Raises:
        InputError: two of them overlap, or one is empty or reaches outside the text.
    """
    ordered = sorted(replacements)
    for replacement in ordered:
        if not 0 <= replacement.start < replacement.end <= len(text):
            raise InputError(
                f"cannot replace {replacement.start}-{replacement.end} in a text of {len(text)} characters"
            )
    for first, second in pairwise(ordered):
        if second.start < first.end:
            raise InputError(
                f"replacements {first.start}-{first.end} and {second.start}-{second.end} overlap: keep one of them"
            )
    return Rewritten(text, ordered)
