"""Phrases that are names: what the parts of a matcher find, and what is chosen among it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import accumulate
from typing import NamedTuple

from nymlink.annotation.names.choice import Choice


class Hit(NamedTuple):
    """A phrase of a text that is a name.

    Attributes:
        start: offset of its first character.
        end: offset one past its last character.
        words: how many of its words are those of the name.
        choice: the name.
    """

    start: int
    end: int
    words: int
    choice: Choice


class Spans:
    """Stretches of a text, among which those that overlap or cover another are found by bisection.

    Args:
        hits: that stand there.
    """

    def __init__(self, hits: Iterable[Hit]) -> None:
        ordered = sorted((hit.start, hit.end) for hit in hits)
        self._starts = [start for start, _ in ordered]
        self._own_ends = [end for _, end in ordered]
        # Of all stretches up to each one, the last end.
        self._ends = list(accumulate((end for _, end in ordered), max))

    def overlap(self, hit: Hit) -> bool:
        """Whether one shares a character with a hit."""
        before = bisect_left(self._starts, hit.end)
        return before > 0 and self._ends[before - 1] > hit.start

    def cover(self, hit: Hit) -> bool:
        """Whether all of a hit is in one."""
        before = bisect_right(self._starts, hit.start)
        return before > 0 and self._ends[before - 1] >= hit.end

    def lie_in(self, start: int, end: int) -> bool:
        """Whether one begins and ends in a stretch."""
        first, last = bisect_left(self._starts, start), bisect_left(self._starts, end)
        return any(own <= end for own in self._own_ends[first:last])


def longest(hits: Iterable[Hit]) -> list[Hit]:
    """Choose hits that do not overlap: those of most words first, then the surest, the longest, the first."""
    chosen: list[Hit] = []
    starts: list[int] = []
    ends: list[int] = []
    for hit in sorted(hits, key=lambda hit: (-hit.words, -hit.choice.confidence, hit.start - hit.end, hit.start)):
        place = bisect_right(starts, hit.start)
        if (place and ends[place - 1] > hit.start) or (place < len(starts) and starts[place] < hit.end):
            continue
        starts.insert(place, hit.start)
        ends.insert(place, hit.end)
        chosen.append(hit)
    return chosen
