"""Finding texts in a sorted Arrow array, without a Python object for each."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

import pyarrow as pa


class SortedTexts:
    """Texts that are found by binary search.

    Args:
        texts: large_string (N), distinct, in code point order, which is the order of their UTF-8 bytes.
    """

    def __init__(self, texts: pa.LargeStringArray) -> None:
        _, ends, letters = texts.buffers()
        self._rows = range(len(texts))
        self._ends = memoryview(ends or bytes(8)).cast("q")[texts.offset :]
        self._bytes = memoryview(letters or b"")

    def find(self, text: str) -> int | None:
        """Find the row of a text; ``None`` where there is none."""
        encoded = text.encode("utf-8", "surrogatepass")
        row = bisect_left(self._rows, encoded, key=self._encoded)
        return row if row < len(self._rows) and self._encoded(row) == encoded else None

    def with_prefix(self, prefix: str, *, sizes: range) -> Iterator[str]:
        """Yield the texts with a prefix whose numbers of bytes are in a range, in order."""
        encoded = prefix.encode()
        # UTF-8 has no byte 0xff.
        first, last = (bisect_left(self._rows, end, key=self._encoded) for end in (encoded, encoded + b"\xff"))
        for row in range(first, last):
            if self._ends[row + 1] - self._ends[row] in sizes:
                yield self._encoded(row).decode()

    def _encoded(self, row: int) -> bytes:
        return self._bytes[self._ends[row] : self._ends[row + 1]].tobytes()
