"""sentence-transformers: ``util.semantic_search`` over the vectors of all names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.peers import vectors
from benchmarks.peers.dictionary import NAMES, Dictionary, Search

build = vectors.build


def load(dictionary: Dictionary, index: Path, *, store: str, encoder: str, weights: str) -> Search:
    """Read the vectors, and load the encoder."""
    import numpy as np
    from sentence_transformers.util import semantic_search

    names = np.load(index / "vectors.npy")
    encode = vectors.encoder(encoder, weights)

    def search(block: Sequence[str]) -> list[list[int]]:
        found = semantic_search(np.asarray(encode(block)), names, top_k=NAMES)
        return [dictionary.distinct(one["corpus_id"] for one in line) for line in found]

    return search
