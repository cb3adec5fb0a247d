"""Names that were cut: told of in one warning, in however many calls they were encoded."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final


@dataclass(slots=True)
class Cuts:
    """How many names were cut.

    Attributes:
        cut: how many names had more tokens than the encoder takes.
        names: how many names were encoded.
        max_length: the tokens that they were cut to.
    """

    cut: int = 0
    names: int = 0
    max_length: int = 0

    @contextmanager
    def collected(self) -> Iterator[None]:
        """Add up what is said in this block, in its context, instead of warning of it."""
        token = _COLLECTING.set(self)
        try:
            yield
        finally:
            _COLLECTING.reset(token)

    def say(self, *, stacklevel: int) -> None:
        """Warn of them, if there are any, or leave that to the block that collects them.

        Args:
            stacklevel: whose line the warning is of: 1 for the caller's, 2 for the line that called that.
        """
        collecting = _COLLECTING.get()
        if collecting is not None:
            collecting.cut += self.cut
            collecting.names += self.names
            collecting.max_length = self.max_length
        elif self.cut:
            warnings.warn(
                f"{self.cut:,} of {self.names:,} names are longer than {self.max_length} tokens and were cut "
                "(max_length)",
                stacklevel=stacklevel + 1,
            )


_COLLECTING: Final[ContextVar[Cuts | None]] = ContextVar("cuts that are being collected", default=None)
