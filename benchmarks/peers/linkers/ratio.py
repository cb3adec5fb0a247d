"""rapidfuzz: ``fuzz.ratio`` with all names, on all cores."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.peers.dictionary import Dictionary, Search, largest


def load(dictionary: Dictionary, index: Path) -> Search:
    """Read the names."""
    import numpy as np
    from rapidfuzz import fuzz, process

    names = dictionary.names

    def search(block: Sequence[str]) -> list[list[int]]:
        scores = process.cdist(block, names, scorer=fuzz.ratio, workers=-1, dtype=np.float32)
        return list(map(dictionary.distinct, largest(scores)))

    return search
