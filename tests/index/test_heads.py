"""Heads rule out entries, and never one of the best."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nymlink.index import heads as module
from nymlink.index.heads import Heads
from nymlink.index.hits import NONE
from nymlink.index.nearest import Kept, Vectors


def drawn(count: int, width: int, *, spread: float, seed: int) -> Vectors:
    """Unit vectors whose coordinates matter the less the later they come, and are turned."""
    draw = np.random.default_rng(seed)
    turn = np.linalg.qr(draw.normal(size=(width, width)))[0]
    vectors = draw.normal(size=(count, width)) * spread ** np.arange(width) @ turn
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def made(vectors: Kept) -> Heads:
    """The heads of vectors, however few and however little that helps."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BYTES", (0, 1 << 40))
        patch.setattr(module, "_LONGEST_REST", 2)
        found = Heads.of(vectors)
    assert found is not None
    return found


def naive(queries: Vectors, vectors: Kept, k: int) -> list[list[int]]:
    """Every product, sorted in full."""
    found = []
    for query in queries:
        products = [round(float(query @ vector.astype(np.float32)), 6) for vector in vectors]
        order = sorted(range(len(vectors)), key=lambda row: (-products[row], row))[:k]
        found.append(order + [NONE] * (k - len(order)))
    return found


def close(found: list[int], expected: list[int], query: Vectors, vectors: Kept) -> bool:
    """Whether two lists have the same products, but for their rounding."""
    one, other = (vectors[rows].astype(np.float32) @ query for rows in (found, expected))
    return len(set(found)) == len(found) == len(expected) and bool(np.allclose(one, other, atol=2e-6))


@settings(max_examples=80, deadline=None)
@given(
    count=st.sampled_from([1, 7, 300, 900]),
    width=st.sampled_from([2, 5, 16]),
    spread=st.sampled_from([1.0, 0.7, 0.2]),
    k=st.sampled_from([1, 3, 12]),
    seed=st.integers(0, 1000),
)
def test_what_is_found_is_what_a_full_sort_finds(count: int, width: int, spread: float, k: int, seed: int) -> None:
    all_of_them = drawn(count + 5, width, spread=spread, seed=seed)
    vectors, queries = all_of_them[:count].astype(np.float16), all_of_them[count:]
    found = made(vectors).search(queries, k).tolist()
    for query, own, expected in zip(queries, found, naive(queries, vectors, k), strict=True):
        given = expected.index(NONE) if NONE in expected else k
        assert own[given:] == expected[given:]
        assert close(own[:given], expected[:given], query, vectors)


def test_equal_entries_come_by_rising_row() -> None:
    vectors = np.repeat(np.eye(4, dtype=np.float16), 200, axis=0)
    found = made(vectors).search(np.eye(4, dtype=np.float32)[[2, 0]], 5)
    assert found.tolist() == [[400, 401, 402, 403, 404], [0, 1, 2, 3, 4]]


def test_few_entries_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = drawn(20_001, 32, spread=0.8, seed=3)
    heads = made(vectors[:-1].astype(np.float16))
    looked_at: list[int] = []
    products = Heads._products

    def counted(self: Heads, query: Vectors, rows: np.ndarray) -> np.ndarray:
        looked_at.append(len(rows))
        return products(self, query, rows)

    monkeypatch.setattr(Heads, "_products", counted)
    heads.search(vectors[-1:], 10)
    assert sum(looked_at) < 500


def test_a_vector_of_zeros_is_as_near_to_all() -> None:
    vectors = drawn(500, 8, spread=0.5, seed=0).astype(np.float16)
    assert made(vectors).search(np.zeros((1, 8), np.float32), 3).tolist() == [[0, 1, 2]]
    assert made(vectors).search(np.zeros((0, 8), np.float32), 3).shape == (0, 3)


def test_they_are_saved_and_mapped(tmp_path: Path) -> None:
    vectors = drawn(400, 6, spread=0.7, seed=1).astype(np.float16)
    before, queries = made(vectors), drawn(4, 6, spread=0.7, seed=2)
    before.save(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(Heads.FILES)
    assert np.array_equal(Heads.load(tmp_path, vectors).search(queries, 9), before.search(queries, 9))
    with pytest.raises(ValueError, match=r"heads are float32 \(400, 4\)"):
        Heads.load(tmp_path, vectors[:-1])


def test_a_bound_is_one_even_where_next_to_nothing_is_left_of_a_vector() -> None:
    draw = np.random.default_rng(4)
    # All but flat in half of the coordinates, and the queries stand all but upright on these.
    vectors = np.zeros((3000, 64), np.float32)
    vectors[:, :32] = drawn(3000, 32, spread=1.0, seed=5)
    vectors[:, -1] = 1e-4
    queries = np.zeros((5, 64), np.float32)
    queries[:, :32], queries[:, -1] = 1e-3 * draw.normal(size=(5, 32)), 1
    kept = vectors.astype(np.float16)
    found = made(kept).search(queries, 20)
    for query, own, expected in zip(queries, found.tolist(), naive(queries, kept, 20), strict=True):
        assert close(own, expected, query, kept)


def test_bounds_of_many_queries_are_held_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = drawn(307, 8, spread=0.5, seed=6).astype(np.float16)
    queries = drawn(7, 8, spread=0.5, seed=7)
    expected = made(vectors).search(queries, 4)
    for size in (1, 2 * 4 * 307, 3 * 4 * 307):
        monkeypatch.setattr(module, "_BOUNDS_BYTES", size)
        assert np.array_equal(made(vectors).search(queries, 4), expected)


def test_there_are_none_where_they_would_not_help(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BYTES", (4 * 3 * 100, 4 * 3 * 200))
    counts = (99, 100, 200, 201)
    falling = drawn(201, 4, spread=0.3, seed=8).astype(np.float16)
    assert [Heads.of(falling[:count]) is not None for count in counts] == [False, True, True, False]
    assert Heads.of(drawn(150, 4, spread=1.0, seed=8).astype(np.float16)) is None
