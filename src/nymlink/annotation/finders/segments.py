"""Cut long texts into segments, so that a document of any length is read in little memory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

LONGEST: Final = 100_000
"""Characters of the longest text that is read at once, and of a segment."""

_TAIL: Final = 2_000
"""Characters at the end of a segment among which it is cut: at a paragraph, else a line, a sentence, a space."""

_ENDS: Final = tuple(map(re.compile, (r"\n\s*\n", r"\n", r"[.!?]\s+", r"\s+")))


def segments_of(text: str) -> Iterator[tuple[int, str]]:
    """Yield the segments of a text, each with its offset; a text that is not long is one."""
    start = 0
    while len(text) - start > LONGEST:
        end = _cut(text, start + LONGEST)
        yield start, text[start:end]
        start = end
    yield start, text[start:] if start else text


def _cut(text: str, end: int) -> int:
    """Find the best place to cut a text, not after ``end``."""
    for pattern in _ENDS:
        ends = [match.end() for match in pattern.finditer(text, end - _TAIL, end)]
        if ends:
            return ends[-1]
    return end
