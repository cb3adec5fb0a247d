"""SapBERT's way of evaluation: all names encoded, the inner product with each of them, the largest sorted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.peers import vectors
from benchmarks.peers.dictionary import Dictionary, Search, largest

build = vectors.build


def load(dictionary: Dictionary, index: Path, *, store: str, encoder: str, weights: str) -> Search:
    """Read the vectors, and load the encoder."""
    import numpy as np

    names = np.load(index / "vectors.npy")
    encode = vectors.encoder(encoder, weights)

    def search(block: Sequence[str]) -> list[list[int]]:
        return list(map(dictionary.distinct, largest(np.asarray(encode(block)) @ names.T)))

    return search
