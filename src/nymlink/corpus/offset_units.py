"""Translate offsets in a text that count bytes or UTF-16 units to such that count code points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

import numpy as np

OffsetUnit = Literal["characters", "utf-16", "bytes"]

OFFSET_UNITS: Final[tuple[OffsetUnit, ...]] = ("characters", "utf-16", "bytes")
"""What offsets may count: Unicode code points, units of UTF-16 (Java, JavaScript), bytes of UTF-8."""

_FIRST_OF_TWO: Final = {"utf-16": [0x10000], "bytes": [0x80, 0x800, 0x10000]}
"""Code points from which on a character takes one unit more."""


def unit_length(text: str, unit: OffsetUnit) -> int:
    """Count the units of a text."""
    if unit == "characters" or text.isascii():
        return len(text)
    return len(text) + sum(int((_code_points(text) >= first).sum()) for first in _FIRST_OF_TWO[unit])


def to_code_points(text: str, unit: OffsetUnit) -> Callable[[int], int]:
    """Make a function that translates offsets in a text to code points.

    An offset within a character becomes that of the character; one outside the text stays outside.
    """
    if unit == "characters" or text.isascii():
        return lambda offset: offset
    points = _code_points(text)
    widths = 1 + sum((points >= first).astype(np.int64) for first in _FIRST_OF_TWO[unit])
    starts = np.concatenate([[0], np.cumsum(widths)])

    def translate(offset: int) -> int:
        if not 0 <= offset <= starts[-1]:
            return offset if offset < 0 else len(text) + offset - int(starts[-1])
        return int(np.searchsorted(starts, offset, side="right")) - 1

    return translate


def _code_points(text: str) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    return np.frombuffer(text.encode("utf-32-le", errors="surrogatepass"), dtype="<u4")
