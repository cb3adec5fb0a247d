"""Int8 codes rule out entries, and never one of the best."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nymlink.core.store.arrays import HalfVectors, Vectors
from nymlink.index.dense import exact as module
from nymlink.index.dense.exact import Int8Codes
from nymlink.index.dense.products import _GRAPH, LARGEST_LEFT, Multiplier, is_exact


def drawn(count: int, width: int, *, spread: float, seed: int) -> Vectors:
    """Unit vectors, some coordinates of which matter more than others."""
    draw = np.random.default_rng(seed)
    vectors = draw.normal(size=(count, width)) * spread ** np.arange(width)
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


@contextmanager
def small_blocks(*, entries: int = 64, packed: int = 24, share: int = 1, few: int = 16) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_ENTRIES", entries)
        patch.setattr(module, "_PACKED", packed)
        patch.setattr(module, "_AT_ONCE", 24)
        patch.setattr(module, "_SHARE", share)
        patch.setattr(module, "_FEW_QUERIES", few)
        yield


def best(query: Vectors, vectors: HalfVectors, k: int) -> set[int]:
    """The rows whose products are among the k best, equal ones included, by a full sort."""
    products = [float(np.dot(query.astype(float), vector.astype(float))) for vector in vectors]
    least = sorted(products)[-k]
    return {row for row, one in enumerate(products) if one >= least - 1e-6}


@given(
    count=st.sampled_from([50, 64, 65, 300, 777]),
    width=st.sampled_from([1, 5, 16, 33]),
    spread=st.sampled_from([1.0, 0.7, 0.2]),
    k=st.sampled_from([1, 3, 12]),
    long=st.sampled_from([1.0, 0.1, 30.0]),
    few=st.sampled_from([0, 16]),
    seed=st.integers(0, 1000),
)
def test_the_best_are_among_the_candidates(
    count: int, width: int, spread: float, k: int, long: float, few: int, seed: int
) -> None:
    all_of_them = drawn(count + 5, width, spread=spread, seed=seed)
    vectors, queries = all_of_them[:count].astype(np.float16), long * all_of_them[count:]
    with small_blocks(few=few):
        found = Int8Codes.of(vectors).candidates(queries, k)
    if k > count // 16:
        assert found is None
        return
    assert found is not None
    query_numbers, rows = found
    assert query_numbers.dtype == np.int64
    assert rows.dtype == np.int32
    assert query_numbers.tolist() == sorted(query_numbers.tolist())
    for place, query in enumerate(queries):
        own = rows[query_numbers == place].tolist()
        assert len(set(own)) == len(own)
        assert best(query, vectors, k) <= set(own) <= set(range(count))


def test_few_entries_are_candidates() -> None:
    vectors = drawn(20_003, 64, spread=0.97, seed=3)
    found = Int8Codes.of(vectors[:-3].astype(np.float16)).candidates(vectors[-3:], 10)
    assert found is not None
    assert 30 <= len(found[0]) < 300


def test_where_many_are_alike_there_are_none() -> None:
    draw = np.random.default_rng(0)
    alike = np.eye(1, 32) + 0.001 * draw.normal(size=(3000, 32))
    alike = (alike / np.linalg.norm(alike, axis=1, keepdims=True)).astype(np.float16)
    assert Int8Codes.of(alike).candidates(alike[:4].astype(np.float32), 5) is None
    assert Int8Codes.of(alike).candidates(np.zeros((1, 32), np.float32), 5) is None


def test_nothing_is_asked_or_there() -> None:
    vectors = drawn(500, 8, spread=0.5, seed=0).astype(np.float16)
    found = Int8Codes.of(vectors).candidates(np.zeros((0, 8), np.float32), 3)
    assert found is not None
    assert [len(column) for column in found] == [0, 0]
    for empty in (vectors[:0], np.zeros((0, 0), np.float16)):
        assert Int8Codes.of(empty).candidates(np.zeros((2, empty.shape[1]), np.float32), 3) is None
    flat = np.zeros((700, 4), np.float16)
    with small_blocks():
        found = Int8Codes.of(flat).candidates(np.ones((1, 4), np.float32), 3)
    assert found is not None
    assert sorted(found[1].tolist()) == list(range(700))


def test_they_are_saved_written_and_mapped(tmp_path: Path) -> None:
    vectors = drawn(400, 6, spread=0.7, seed=1).astype(np.float16)
    queries = drawn(4, 6, spread=0.7, seed=2)
    with small_blocks():
        (tmp_path / "saved").mkdir()
        (tmp_path / "written").mkdir()
        before = Int8Codes.of(vectors)
        before.save(tmp_path / "saved")
        written = Int8Codes.write(tmp_path / "written", vectors)
        expected = before.candidates(queries, 9)
        assert expected is not None
        for one in (written, Int8Codes.load(tmp_path / "saved", vectors)):
            found = one.candidates(queries, 9)
            assert found is not None
            assert [column.tolist() for column in found] == [column.tolist() for column in expected]
    for name in Int8Codes.FILES:
        assert (tmp_path / "saved" / name).read_bytes() == (tmp_path / "written" / name).read_bytes()
    assert len(list((tmp_path / "saved").iterdir())) == len(Int8Codes.FILES)
    with pytest.raises(ValueError, match=r"codes are of 2,400 coordinates, its vectors have 2,394"):
        Int8Codes.load(tmp_path / "saved", vectors[:-1])


def rounded_entries() -> tuple[Vectors, Vectors]:
    """What rounding does to the best entry, and to all others, stands along the query."""
    query = np.full((1, 16), 0.25, np.float32)
    codes = np.full((1000, 16), 20, np.float32)
    codes[1:, :14] += 1
    codes[0] += 0.49
    codes[1:] -= 0.49
    # Half of them are not rounded at all, and the step is 1 / 128.
    codes[500:] = 0
    codes[999, 0] = 127
    return query, codes


def rounded_query() -> tuple[Vectors, Vectors]:
    """What rounding does to the query stands along the best entry, and against all others."""
    query = np.zeros((1, 17), np.float32)
    query[0, 0] = 63
    query[0, 1:9], query[0, 9:] = 10.49, 9.51
    codes = np.zeros((1000, 17), np.float32)
    codes[0, 1:9], codes[0, 9:] = 32, -32
    codes[1:, 1:9], codes[1:, 9:] = -29, 34
    codes[500:] = 0
    codes[500:, 0] = -20
    codes[999] = 0
    codes[999, 0] = -127
    return query / 63, codes


@pytest.mark.parametrize("worst", [rounded_entries, rounded_query])
def test_the_bound_is_wide_enough(worst: Callable[[], tuple[Vectors, Vectors]]) -> None:
    query, codes = worst()
    vectors = (codes / 128).astype(np.float16)
    assert int((vectors.astype(float) @ query[0].astype(float)).argmax()) == 0
    with small_blocks(entries=1 << 16):
        found = Int8Codes.of(vectors).candidates(query, 1)
    assert found is not None
    assert 0 in found[1]


def test_wrong_products_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_exact()
    vectors = drawn(900, 16, spread=0.5, seed=0).astype(np.float16)
    codes = Int8Codes.of(vectors)
    with small_blocks():
        assert codes.candidates(vectors[:1].astype(np.float32), 3) is not None
        monkeypatch.setattr(module, "is_exact", lambda: False)
        assert codes.candidates(vectors[:1].astype(np.float32), 3) is None


@pytest.mark.parametrize(
    ("codes", "bounds", "message"),
    [
        (np.zeros(8, np.uint8), np.zeros(3, np.float32), r"codes are uint8 \(8,\), not of width 4"),
        (np.zeros(9, np.int8), np.zeros(3, np.float32), r"codes are int8 \(9,\), not of width 4"),
        (np.zeros((2, 4), np.int8), np.zeros(3, np.float32), r"codes are int8 \(2, 4\), not of width 4"),
        (np.zeros(8, np.int8), np.zeros(2, np.float32), r"bounds of its codes are float32 \(2,\)"),
        (np.zeros(8, np.int8), np.zeros(3), r"bounds of its codes are float64 \(3,\)"),
    ],
)
def test_what_does_not_fit_is_refused(codes: np.ndarray, bounds: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Int8Codes(codes, bounds, width=4)


@given(
    shape=st.tuples(st.integers(1, 9), st.integers(1, 40), st.integers(1, 70)),
    largest=st.booleans(),
    seed=st.integers(0, 99),
)
def test_products_of_integers_are_exact(shape: tuple[int, int, int], largest: bool, seed: int) -> None:
    queries, width, entries = shape
    draw = np.random.default_rng(seed)
    ends = [(-LARGEST_LEFT, LARGEST_LEFT), (-127, 127)]
    left, right = (
        (draw.choice(end, size) if largest else draw.integers(end[0], end[1] + 1, size)).astype(np.int8)
        for end, size in zip(ends, ((queries, width), (width, entries)), strict=True)
    )
    found = Multiplier(right)(left)
    assert found.dtype == np.int32
    assert found.tolist() == (left.astype(int) @ right.astype(int)).tolist()


def test_the_graph_is_what_it_is_said_to_be() -> None:
    onnx = pytest.importorskip("onnx")
    of, helper = onnx.TensorProto, onnx.helper
    graph = helper.make_graph(
        [helper.make_node("MatMulInteger", ["a", "b", "zero"], ["c"])],
        "product",
        [helper.make_tensor_value_info("a", of.UINT8, ["q", "d"])],
        [helper.make_tensor_value_info("c", of.INT32, ["q", "e"])],
        [helper.make_tensor("zero", of.UINT8, [], [LARGEST_LEFT + 1])],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 10)], ir_version=8)
    assert made == onnx.load_from_string(_GRAPH)
