"""Choose how many cells of an IVF index a search probes, by the recall that it reaches on vectors of the index."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from nymlink.core.store.arrays import HalfVectors, Vectors, as_float32
from nymlink.index.dense.nearest import nearest
from nymlink.index.fusion.hits import Rows

PROBED: Final = 8
"""Cells probed at least, where there are so many."""

_TARGET: Final = 0.99
"""Recall that is looked for. Queries are farther from their neighbours than names of the index are: where 98.0 %
of the neighbours of names of MEDIC are found, 96.5 % of those of mentions are."""

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
    drawn = np.random.default_rng(_SEED).choice(count, min(_SAMPLE, count), replace=False)
    queries = as_float32(vectors[np.sort(drawn)])
    # Each vector is its own neighbour, too.
    true_rows = nearest(queries, vectors, min(NEIGHBOURS + 1, count)).rows
    enough, reached, probes = 0, -1.0, min(PROBED, cells)
    while enough < cells and reached < _TARGET:
        rows = search(queries, probes)
        recall = float((true_rows[:, :, None] == rows[:, None, :]).any(axis=2).mean())
        if recall - reached < _GAIN:
            break
        enough, reached, probes = probes, recall, min(2 * probes, cells)
    return enough
