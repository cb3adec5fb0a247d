from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.index.dense import exact as module
from nymlink.index.dense.exact import nearest
from nymlink.index.hits import NONE


def naive(queries: np.ndarray, vectors: np.ndarray, k: int) -> list[list[tuple[int, float]]]:
    """Every product, sorted in full."""
    found = []
    for query in queries:
        scores = [float(np.float32(query @ vector.astype(np.float32))) for vector in vectors]
        found.append(sorted(enumerate(scores), key=lambda pair: (-pair[1], pair[0]))[:k])
    return found


@given(
    queries=st.integers(0, 9),
    vectors=st.integers(0, 60),
    k=st.integers(1, 12),
    dtype=st.sampled_from([np.float16, np.float32]),
    seed=st.integers(0, 1000),
)
def test_blocks_give_what_a_full_sort_gives(queries: int, vectors: int, k: int, dtype: type, seed: int) -> None:
    # Small integers: products are exact, and many are equal.
    draw = np.random.default_rng(seed)
    asked = draw.integers(-2, 3, (queries, 4)).astype(np.float32)
    stored = draw.integers(-2, 3, (vectors, 4)).astype(dtype)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_QUERIES", 4)
        patch.setattr(module, "_VECTORS", 7)
        hits = nearest(asked, stored, k)
    for row, scores, expected in zip(hits.rows, hits.scores, naive(asked, stored, k), strict=True):
        missing = k - len(expected)
        assert row.tolist() == [at for at, _ in expected] + [NONE] * missing
        assert scores.tolist() == [score for _, score in expected] + [0.0] * missing


def test_vectors_of_another_width_are_refused() -> None:
    with pytest.raises(ValueError, match="differ in width"):
        nearest(np.zeros((1, 3), np.float32), np.zeros((2, 4), np.float32), 1)
