"""Finding the names that an abbreviation may stand for by their initials."""

from __future__ import annotations

from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

_WORDS: Final = r"^\S+( \S+){1,6}$"
"""A name of one word has no initials to speak of, and a very long one is a description."""

_SMALL: Final = r"(?:^| )(?:a|an|and|by|for|from|in|of|on|or|the|to|with)(?: |$)"
"""Words that abbreviations leave out."""

_FIRST: Final = r" *(\S)\S* *"


class Initials:
    """The initials of texts; they are collected when first asked for.

    Args:
        texts: large_string (N), words with single spaces between them.
    """

    def __init__(self, texts: pa.LargeStringArray) -> None:
        self._texts = texts

    def find(self, letters: str) -> npt.NDArray[np.int64]:
        """Find the texts whose words begin with these letters, words such as "of" left out.

        Args:
            letters: folded, at least two.

        Returns:
            int64: their rows, ascending.
        """
        rows, initials = self._collected
        places: npt.NDArray[np.int64] = rows[pc.equal(initials, letters).to_numpy(zero_copy_only=False)]
        return places

    @cached_property
    def _collected(self) -> tuple[npt.NDArray[np.int64], pa.LargeStringArray]:
        several = pc.match_substring_regex(self._texts, _WORDS)
        rows = np.flatnonzero(several.to_numpy(zero_copy_only=False))
        # Two spaces, one for each of two neighbours.
        apart = pc.replace_substring(self._texts.filter(several), " ", "  ")
        said = pc.replace_substring_regex(apart, _SMALL, "")
        return rows, pc.replace_substring_regex(said, _FIRST, r"\1")
