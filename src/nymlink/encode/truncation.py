"""Counts of names that were cut to the length an encoder takes, for one warning over many calls."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final


@dataclass(slots=True)
class TruncationCounts:
    """Counts of encoded names, and of those that were truncated.

    Attributes:
        truncated: number of names with more tokens than the encoder takes.
        names: number of encoded names.
        max_length: the tokens that they were cut to.
    """

    truncated: int = 0
    names: int = 0
    max_length: int = 0

    @contextmanager
    def collected(self) -> Iterator[None]:
        """Add up the counts of the encoders called in this block, in its context, instead of warning of each."""
        token = _COLLECTING.set(self)
        try:
            yield
        finally:
            _COLLECTING.reset(token)

    def warn(self, *, stacklevel: int) -> None:
        """Warn of names that were cut, if there are any, or leave that to the block that collects counts.

        Args:
            stacklevel: the line that the warning names: 1 for the caller's, 2 for the line that called that.
        """
        collecting = _COLLECTING.get()
        if collecting is not None:
            collecting.truncated += self.truncated
            collecting.names += self.names
            collecting.max_length = self.max_length
        elif self.truncated:
            warnings.warn(
                f"{self.truncated:,} of {self.names:,} names are longer than {self.max_length} tokens and were "
                "cut (max_length)",
                stacklevel=stacklevel + 1,
            )


_COLLECTING: Final[ContextVar[TruncationCounts | None]] = ContextVar("truncation counts", default=None)
