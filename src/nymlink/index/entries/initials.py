"""Finding names by their initials, for abbreviations."""

from __future__ import annotations

from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

_WORDS: Final = r"^\S+( \S+){1,6}$"
"""Names of two to seven words: longer ones are descriptions."""

_FUNCTION_WORDS: Final = r"(?:^| )(?:a|an|and|by|for|from|in|of|on|or|the|to|with)(?: |$)"
"""Words that abbreviations skip."""

_WORD: Final = r" *(\S)\S* *"


class Initials:
    """The initials of texts, collected at the first search.

    Args:
        texts: large_string (N), words with single spaces between them.
    """

    def __init__(self, texts: pa.LargeStringArray) -> None:
        self._texts = texts

    def find(self, letters: str) -> npt.NDArray[np.int64]:
        """Find the texts whose words begin with these letters, words such as "of" skipped.

        Args:
            letters: folded, at least two.

        Returns:
            int64: rows of texts, ascending.
        """
        rows, initials = self._initials
        found: npt.NDArray[np.int64] = rows[pc.equal(initials, letters).to_numpy(zero_copy_only=False)]
        return found

    @cached_property
    def _initials(self) -> tuple[npt.NDArray[np.int64], pa.LargeStringArray]:
        several = pc.match_substring_regex(self._texts, _WORDS)
        rows = np.flatnonzero(several.to_numpy(zero_copy_only=False))
        # Doubled, because a match of a function word takes the spaces on both sides.
        spaced = pc.replace_substring(self._texts.filter(several), " ", "  ")
        content = pc.replace_substring_regex(spaced, _FUNCTION_WORDS, "")
        return rows, pc.replace_substring_regex(content, _WORD, r"\1")
