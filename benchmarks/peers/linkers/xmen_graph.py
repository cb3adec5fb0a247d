"""xMEN's SapBERT-style candidates: a faiss graph of vectors, their mean taken off, with its settings.

The graph knows Euclidean distances: inner products are made such by a further dimension, as xMEN does.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from benchmarks.peers import vectors
from benchmarks.peers.dictionary import NAMES, Dictionary, Search

_NEIGHBOURS: Final = 128
_CONSTRUCTION: Final = 200
_SEARCH: Final = 256


def build(dictionary: Dictionary, index: Path, *, store: str, encoder: str, weights: str) -> None:
    """Build the graph."""
    import faiss
    import numpy as np

    names = vectors.read(dictionary, store, encoder)
    names -= names.mean(0)
    squares = (names**2).sum(1)
    lifted = np.hstack([names, np.sqrt(squares.max() - squares)[:, None]])
    graph = faiss.IndexHNSWFlat(lifted.shape[1], _NEIGHBOURS)
    graph.hnsw.efConstruction = _CONSTRUCTION
    graph.hnsw.efSearch = _SEARCH
    graph.add(lifted.astype(np.float32))
    faiss.write_index(graph, str(index / "graph.faiss"))


def load(dictionary: Dictionary, index: Path, *, store: str, encoder: str, weights: str) -> Search:
    """Read the graph, and load the encoder."""
    import faiss
    import numpy as np

    encode = vectors.encoder(encoder, weights)
    graph = faiss.read_index(str(index / "graph.faiss"))

    def search(block: Sequence[str]) -> list[list[int]]:
        asked = np.asarray(encode(block), np.float32)
        _, rows = graph.search(np.hstack([asked, np.zeros((len(asked), 1), np.float32)]), NAMES)
        return [dictionary.distinct(row for row in line if row >= 0) for line in rows.tolist()]

    return search
