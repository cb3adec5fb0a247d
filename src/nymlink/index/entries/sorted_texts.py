"""Finding texts among many that are sorted, without a Python object for each of these."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

import pyarrow as pa


class SortedTexts:
    """Texts in code point order, that of their UTF-8, in which they are looked up as they lie in memory.

    Args:
        texts: large_string (N), distinct.
    """

    def __init__(self, texts: pa.LargeStringArray) -> None:
        _, ends, letters = texts.buffers()
        self._rows = range(len(texts))
        self._ends = memoryview(ends or bytes(8)).cast("q")[texts.offset :]
        self._letters = memoryview(letters or b"")

    def find(self, text: str) -> int | None:
        """The row of a text; ``None`` where it is not there."""
        wanted = text.encode("utf-8", "surrogatepass")
        row = bisect_left(self._rows, wanted, key=self._encoded)
        return row if row < len(self._rows) and self._encoded(row) == wanted else None

    def starting(self, start: str, *, sizes: range) -> Iterator[str]:
        """The texts that start so and have so many bytes, in order."""
        wanted = start.encode()
        # No byte of a text is as large as this one.
        first, last = (bisect_left(self._rows, end, key=self._encoded) for end in (wanted, wanted + b"\xff"))
        for row in range(first, last):
            if self._ends[row + 1] - self._ends[row] in sizes:
                yield self._encoded(row).decode()

    def _encoded(self, row: int) -> bytes:
        return self._letters[self._ends[row] : self._ends[row + 1]].tobytes()
