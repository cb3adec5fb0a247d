"""The table of a matcher: digests of names, sorted, each with the names that have it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt

from nymlink.annotation.names.levels import Level
from nymlink.core.store.arrays import map_array, save_array

_SPARSE: Final = 16
"""Places of the filter for each digest, so that few digests of no name pass it."""

_SMALLEST, _LARGEST = 10, 28
"""Bits of the number of a place in the smallest and in the largest filter."""


@dataclass(slots=True)
class NameTable:
    """K digests of names in order, and a filter that most other digests do not pass.

    Attributes:
        digests: uint64 (K), ascending.
        levels: uint8 (K): the level of each.
        rows: int32 (K): the row of its name in the vocabulary.
        filter: uint8 (2**b): whether a digest has these first b bits.
        places: the filter, whose items are read faster.
        shift: by how many bits a digest is shifted to its place in the filter.
    """

    FILES: ClassVar = ("digests.npy", "levels.npy", "rows.npy", "filter.npy")

    digests: npt.NDArray[np.uint64]
    levels: npt.NDArray[np.uint8]
    rows: npt.NDArray[np.int32]
    filter: npt.NDArray[np.uint8]
    places: memoryview = field(init=False)
    shift: int = field(init=False)

    def __post_init__(self) -> None:
        if not len(self.digests) == len(self.levels) == len(self.rows):
            raise ValueError("the digests of names do not fit their levels and rows")
        bits = len(self.filter).bit_length() - 1
        if len(self.filter) != 1 << bits:
            raise ValueError("the filter of the names is none")
        self.places = memoryview(np.ascontiguousarray(self.filter))  # type: ignore[arg-type]
        self.shift = 64 - bits

    @classmethod
    def of(cls, entries: Sequence[tuple[int, Level, int]]) -> NameTable:
        """Make a table of (digest, level, row of the name)."""
        digests = np.array([digest for digest, _, _ in entries], np.uint64)
        order = np.argsort(digests, kind="stable")
        digests = digests[order]
        bits = min(max((_SPARSE * len(digests)).bit_length(), _SMALLEST), _LARGEST)
        places = np.zeros(1 << bits, np.uint8)
        places[digests >> np.uint64(64 - bits)] = 1
        levels = np.array([level for _, level, _ in entries], np.uint8)[order]
        return cls(digests, levels, np.array([row for _, _, row in entries], np.int32)[order], places)

    def passes(self, digest: int) -> int:
        """Whether there may be names with a digest; 0 where there are none."""
        return self.places[digest >> self.shift]

    def find(self, digest: int) -> list[tuple[Level, int]]:
        """Find the names with a digest, each with the level at which it has it."""
        if not self.places[digest >> self.shift]:
            return []
        wanted = np.uint64(digest)
        start, end = (int(np.searchsorted(self.digests, wanted, side)) for side in ("left", "right"))
        return [
            (Level(level), row)
            for level, row in zip(self.levels[start:end].tolist(), self.rows[start:end].tolist(), strict=True)
        ]

    def save(self, directory: Path) -> None:
        """Write the table into a directory."""
        for name in self.FILES:
            stem = name.removesuffix(".npy")
            save_array(directory, stem, getattr(self, stem))

    @classmethod
    def load(cls, directory: Path) -> NameTable:
        """Map the table of a directory into memory.

        Raises:
            OSError: a file is missing.
            ValueError: the files hold something else, or do not fit each other.
        """
        return cls(*(map_array(directory, name.removesuffix(".npy")) for name in cls.FILES))
