from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nymlink.core.errors import StoreError
from nymlink.index.dense.approximate import PROBED, FaissIndex, fewest_probes
from nymlink.index.dense.exact import nearest
from tests.index.stores.test_conformance import drawn


def vectors_of(count: int) -> np.ndarray:
    return drawn(count).astype(np.float16)


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        ({8: 0.5, 16: 0.9, 32: 0.995, 64: 1.0}, 32),
        ({8: 1.0}, 8),
        # The codes lose the rest: more cells find no more.
        ({8: 0.5, 16: 0.8, 32: 0.801, 64: 0.802}, 16),
        # All cells are not enough.
        ({8: 0.5, 16: 0.6, 32: 0.7, 64: 0.8, 100: 0.9}, 100),
    ],
)
def test_cells_are_doubled_until_enough_is_found(shares: dict[int, float], expected: int) -> None:
    vectors = vectors_of(300)

    def search(queries: np.ndarray, probes: int) -> np.ndarray:
        rows = nearest(queries, vectors, 21).rows
        lost = np.random.default_rng(0).random(rows.shape) >= shares[probes]
        return np.where(lost, -1, rows).astype(np.int32)

    assert fewest_probes(search, vectors, cells=100) == expected


def test_few_cells_are_all_probed() -> None:
    vectors = vectors_of(10)
    assert fewest_probes(lambda queries, _: nearest(queries, vectors, 10).rows, vectors, cells=3) == 3


def test_a_saved_index_probes_as_many_cells_as_it_was_built_for(tmp_path: Path) -> None:
    faiss = pytest.importorskip("faiss")
    vectors = vectors_of(4000)
    built = FaissIndex.build(vectors, "ivf-pq")
    built.save(tmp_path)
    file = str(tmp_path / FaissIndex.FILES[0])
    index = faiss.read_index(file)
    assert PROBED <= index.nprobe <= index.nlist
    queries = vectors[:50].astype(np.float32)
    loaded = FaissIndex.load(tmp_path, "ivf-pq", len(vectors))
    np.testing.assert_array_equal(loaded.search(queries, 5), built.search(queries, 5))
    # As faiss writes it where nobody chose.
    index.nprobe = 1
    faiss.write_index(index, file)
    with pytest.raises(StoreError, match="how many cells to probe: build the index again"):
        FaissIndex.load(tmp_path, "ivf-pq", len(vectors)).search(queries, 5)
