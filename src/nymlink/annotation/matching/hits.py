"""Phrases that are names: what the parts of a matcher find, and what is chosen among it."""

from __future__ import annotations

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

    def overlaps(self, start: int, end: int) -> bool:
        """Whether it shares a character with a stretch of the text."""
        return self.start < end and start < self.end


def longest(hits: list[Hit]) -> list[Hit]:
    """Choose hits that do not overlap: those of most words first, then the surest, the longest, the first."""
    chosen: list[Hit] = []
    for hit in sorted(hits, key=lambda hit: (-hit.words, -hit.choice.confidence, hit.start - hit.end, hit.start)):
        if not any(hit.overlaps(other.start, other.end) for other in chosen):
            chosen.append(hit)
    return chosen
