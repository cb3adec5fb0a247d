"""Count names that were cut to the length an encoder takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from nymlink.core.collected_counts import CollectedCounts


@dataclass(slots=True)
class TruncationCounts(CollectedCounts):
    """Counts of encoded names, and of those that were truncated.

    Attributes:
        truncated: number of names with more tokens than the encoder takes.
        names: number of encoded names.
        max_length: the tokens that they were cut to.
    """

    truncated: int = 0
    names: int = 0
    max_length: int = 0

    def _add(self, other: Self) -> None:
        self.truncated += other.truncated
        self.names += other.names
        self.max_length = other.max_length

    def _message(self) -> str | None:
        if not self.truncated:
            return None
        return (
            f"{self.truncated:,} of {self.names:,} names are longer than {self.max_length} tokens and were cut "
            "(max_length)"
        )
