"""Make the vectors that stores search, of names and generated ones, and find those truly nearest to a query."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.common import inputs

if TYPE_CHECKING:
    import numpy as np

_BLOCK: Final = 1 << 15
_MOVED: Final = 0.8
"""Largest length of what is added to a unit vector of MEDIC to generate another: about the distance of the 20th
neighbour of a name in MEDIC."""

_DIMENSION: Final = 4
"""The distance of the k-th neighbour grows as k to the power of one over this: among the names of MEDIC from 0.39
for the first to 0.83 for the 20th, 2.15 times, and 20 to the power of 1/4 is 2.11."""


def encode(source: str, queries: str, folder: str) -> dict[str, Any]:
    """Write ``names.npy`` (float16) and ``queries.npy`` (float32) unless they are there.

    Returns:
        ``count`` of names, and ``folder``: that of the encoder, in the given one. Vectors of another encoder that
        are kept there are not taken for these.
    """
    import numpy as np

    from nymlink.core.store.arrays import map_array, save_array
    from nymlink.encode.cached_vectors import EmbeddingCache
    from nymlink.encode.encoder import Encoder
    from nymlink.encode.model.folder import MINI
    from nymlink.index.entries.entries import Entries
    from nymlink.vocabulary.read import read_vocabulary

    encoder, cache = Encoder.load(MINI), EmbeddingCache.of_user()
    target = Path(folder) / encoder.fingerprint[:12]
    if not (target / "queries.npy").exists():
        target.mkdir(exist_ok=True)
        texts = Entries.of(read_vocabulary(source)).texts.to_pylist()
        save_array(target, "names", encoder.encode(texts, cache=cache, progress=True).astype(np.float16))
        save_array(target, "queries", encoder.encode(inputs.read_queries(queries, 2000)))
    return {"count": len(map_array(target, "names")), "folder": str(target)}


def generate(folder: str, file: str, *, count: int) -> dict[str, Any]:
    """Write a file of vectors of ``names.npy`` moved a little, unless it is there."""
    import numpy as np

    from nymlink.core.store.arrays import map_array, save_blocks

    names = map_array(Path(folder), "names")
    draw = np.random.default_rng(0)

    def blocks() -> Iterator[np.ndarray]:
        for start in range(0, count, _BLOCK):
            size = min(_BLOCK, count - start)
            moves = draw.standard_normal((size, names.shape[1]), np.float32)
            lengths = _MOVED * draw.random((size, 1), np.float32) ** (1 / _DIMENSION)
            moves *= lengths / np.linalg.norm(moves, axis=1, keepdims=True)
            moved = names[draw.integers(0, len(names), size)].astype(np.float32) + moves
            yield (moved / np.linalg.norm(moved, axis=1, keepdims=True)).astype(np.float16)

    if not (Path(folder) / f"{file}.npy").exists():
        save_blocks(Path(folder), file, blocks(), dtype=np.float16, shape=(count, names.shape[1]))
    return {"count": count}


def find_nearest(folder: str, file: str, *, count: int, k: int) -> dict[str, Any]:
    """Write the rows of the vectors that are truly nearest to each query, unless they are there."""
    import numpy as np

    from nymlink.core.store.arrays import map_array, save_array
    from nymlink.index.dense.exact import nearest

    target = Path(folder)
    if not (target / f"{file}-{count}-{k}.npy").exists():
        queries = np.array(map_array(target, "queries")[:count])
        save_array(target, f"{file}-{count}-{k}", nearest(queries, map_array(target, file), k).rows)
    return {}
