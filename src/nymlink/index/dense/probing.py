"""Choose how many cells of an IVF index a search probes, by the recall near vectors of the index."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from nymlink.core.store.arrays import HalfVectors, Vectors, as_float32
from nymlink.index.dense.nearest import nearest
from nymlink.index.fusion.hits import Rows

PROBED: Final = 8
"""Cells probed at least, where there are so many."""

_TARGET: Final = 0.975
"""Recall that is looked for."""

_MOVED: Final = 2.0
"""Length of what is added to the unit vector of a name to ask for it: the cosine of both is then 0.45. Mentions
are farther from their neighbours than names are from theirs: in 128 of the 536 cells of MEDIC 97.6 % of the
neighbours of names are found, 96.6 % of those of mentions, and 97.1 % of those of names moved so; in 128 of the
2,000 cells of a million names 99.9, 97.6 and 96.4 %."""

_GAIN: Final = 0.002
"""Where twice the cells find less than this share more, the codes lose neighbours, not the cells."""

NEIGHBOURS: Final = 20
"""Neighbours that are looked for."""

_SAMPLE: Final = 256
"""Vectors whose neighbours are looked for: a standard error of recall of about half a percent or less."""

_SEED: Final = 1
"""Not that of :meth:`nymlink.index.dense.dense_search.DenseSearch.recall`, which measures what was chosen here."""


def fewest_probes(search: Callable[[Vectors, int], Rows], vectors: HalfVectors, *, cells: int) -> int:
    """Find the fewest cells, by doubling, with which a search finds enough of the nearest vectors.

    Args:
        search: finds entries of queries, float32 (Q, D), in a number of cells: int32 (Q, any).
        vectors: float16 (E, D): what is searched. All are compared with the sample, a block at a time.
        cells: how many there are.

    Returns:
        A number of cells, at most all.
    """
    count = len(vectors)
    draw = np.random.default_rng(_SEED)
    drawn = draw.choice(count, min(_SAMPLE, count), replace=False)
    queries = as_float32(vectors[np.sort(drawn)])
    moves = draw.standard_normal(queries.shape, np.float32)
    queries += _MOVED * moves / np.linalg.norm(moves, axis=1, keepdims=True)
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    true_rows = nearest(queries, vectors, min(NEIGHBOURS, count)).rows
    enough, reached, probes = 0, -1.0, min(PROBED, cells)
    while enough < cells and reached < _TARGET:
        rows = search(queries, probes)
        recall = float((true_rows[:, :, None] == rows[:, None, :]).any(axis=2).mean())
        if recall - reached < _GAIN:
            break
        enough, reached, probes = probes, recall, min(2 * probes, cells)
    return enough
