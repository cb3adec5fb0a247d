"""Other texts by which entries are found: names in another order of words, folded forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nymlink.core.store.arrays import map_array, save_array
from nymlink.index.entries.sorted_texts import SortedTexts, map_texts, save_texts


@dataclass(frozen=True, slots=True)
class OtherTexts:
    """T texts that lead to entries.

    Attributes:
        texts: large_string (T), distinct, in code point order.
        rows: int32 (T): the entry of each.
    """

    texts: pa.LargeStringArray
    rows: npt.NDArray[np.int32]
    _sorted: SortedTexts = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.texts.type != pa.large_string():
            raise ValueError("the other texts of entries are not large strings")
        if self.rows.dtype != np.int32 or self.rows.shape != (len(self.texts),):
            raise ValueError("the rows of other texts of entries do not fit these")
        object.__setattr__(self, "_sorted", SortedTexts(self.texts))

    @classmethod
    def of(cls, row_of: Mapping[str, int]) -> OtherTexts:
        """Sort texts with their rows."""
        texts = sorted(row_of)
        return cls(pa.array(texts, pa.large_string()), np.array([row_of[text] for text in texts], np.int32))

    @classmethod
    def none(cls) -> OtherTexts:
        """Make the table without any text."""
        return cls.of({})

    def check_rows(self, entries: int) -> None:
        """Raise ValueError where a row is that of no entry."""
        if len(self.rows) and not 0 <= self.rows.min() <= self.rows.max() < entries:
            raise ValueError("there are other texts of entries that do not exist")

    def find(self, text: str) -> int | None:
        """Find the entry of a text; ``None`` where there is none."""
        place = self._sorted.find(text)
        return None if place is None else int(self.rows[place])

    @staticmethod
    def files(name: str) -> tuple[str, str]:
        """Name the files that :meth:`save` writes."""
        return f"{name}.arrow", f"{name}_rows.npy"

    def save(self, directory: Path, name: str) -> None:
        """Write the table into a directory."""
        save_texts(directory / f"{name}.arrow", self.texts)
        save_array(directory, f"{name}_rows", self.rows)

    @classmethod
    def load(cls, directory: Path, name: str) -> OtherTexts:
        """Map the table of a directory into memory.

        Raises:
            OSError: a file is missing.
            ValueError, pyarrow.ArrowException: the files hold something else, or do not fit each other.
        """
        return cls(map_texts(directory / f"{name}.arrow"), map_array(directory, f"{name}_rows"))
