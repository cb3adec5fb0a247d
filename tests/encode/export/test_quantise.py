from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

from nymlink.encode.quantise import quantise

Floats = npt.NDArray[np.float32]


def lookup_and_product(table: Floats, weights: Floats) -> ModelProto:
    """``table[ids] @ weights``."""
    ids = helper.make_tensor_value_info("ids", TensorProto.INT64, ["b", "t"])
    result = helper.make_tensor_value_info("result", TensorProto.FLOAT, ["b", "t", weights.shape[1]])
    nodes = [
        helper.make_node("Gather", ["table", "ids"], ["rows"]),
        helper.make_node("MatMul", ["rows", "weights"], ["result"]),
    ]
    constants = [numpy_helper.from_array(table, "table"), numpy_helper.from_array(weights, "weights")]
    graph = helper.make_graph(nodes, "product", [ids], [result], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)


def run(graph: ModelProto, ids: npt.NDArray[Any]) -> Floats:
    session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    result: Floats = session.run(None, {"ids": ids})[0]
    return result


def rounded(rows: Floats, steps: float) -> Floats:
    """Each row on a grid of its own with so many steps to either side, number by number."""
    found = np.zeros_like(rows)
    for at, row in enumerate(rows):
        step = max(abs(row)) / steps or 1
        for place, number in enumerate(row):
            found[at, place] = round(float(number / step)) * step
    return found


def rounded_weights(weights: Floats) -> Floats:
    """Each output on a grid of its own: 125.5 steps for its largest two neighbours of one sign."""
    found = np.zeros_like(weights)
    for output in range(weights.shape[1]):
        column = weights[:, output]
        largest = 0.0
        for first, second in zip(column[::2], column[1::2], strict=True):
            same_sign = first * second > 0
            largest = max(largest, abs(first + second) if same_sign else max(abs(first), abs(second)))
        for place, number in enumerate(column):
            found[place, output] = round(float(number / (largest / 125.5))) * (largest / 125.5)
    return found


@pytest.mark.parametrize("words", [40, 9000])
def test_products_are_of_rounded_numbers(words: int) -> None:
    draw = np.random.default_rng(0)
    table, weights = (draw.normal(size=size).astype(np.float32) for size in ((words, 32), (32, 8)))
    table[3] *= 1000
    table[4] = 0
    graph = lookup_and_product(table, weights)
    quantise(graph)
    ids = np.array([[1, 2, 3], [4, 5, 3]])
    # A large table is rounded itself.
    stored = table if words < 100 else rounded(table, 125.5)
    expected = np.array([rounded(stored[each], 127) @ rounded_weights(weights) for each in ids])
    assert np.allclose(run(graph, ids), expected, rtol=1e-4, atol=1e-4)


def in_4_bits(rows: Floats) -> Floats:
    """Each 32 numbers of a row on a grid of their own, from -8 to 7 steps; the largest is -8 steps."""
    found = np.zeros_like(rows)
    for at, row in enumerate(rows):
        for start in range(0, len(row), 32):
            group = row[start : start + 32]
            step = float(np.float16(max(group, key=abs) / -8)) or 1.0
            for place, number in enumerate(group):
                found[at, start + place] = min(7, max(-8, round(float(number / step)))) * step
    return found


def test_tables_may_have_4_bits() -> None:
    draw = np.random.default_rng(6)
    table, weights = (draw.normal(size=size).astype(np.float32) for size in ((4100, 64), (64, 8)))
    table[4] = 0
    graph = lookup_and_product(table, weights)
    before = graph.ByteSize()
    quantise(graph, table_bits=4)
    assert graph.ByteSize() < 0.15 * before
    stored = in_4_bits(table[:8])
    ids = np.array([[1, 2, 3], [4, 5, 3]])
    expected = np.array([rounded(stored[each], 127) @ rounded_weights(weights) for each in ids])
    np.testing.assert_allclose(run(graph, ids), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("size", [32, 33, 384])
@pytest.mark.parametrize("tokens", [1, 2, 40])
def test_products_of_the_largest_numbers_are_exact(size: int, tokens: int) -> None:
    """Processors without VNNI instructions add two products of unsigned and signed bytes in 16 bits."""
    draw = np.random.default_rng(5)
    signs = draw.choice(np.array([-1, 1], np.float32), (size, 8))
    for weights in (np.ones_like(signs), signs, signs * draw.choice(np.array([1, 127], np.float32), signs.shape)):
        table = np.sign(weights[:, 0]) * np.ones((40, size), np.float32)
        graph = lookup_and_product(table.astype(np.float32), weights)
        quantise(graph)
        found = run(graph, np.arange(tokens)[None])[0]
        # A sum that saturates is a half of what it should be.
        np.testing.assert_allclose(found, table[:tokens] @ weights, atol=0.01 * np.abs(weights).sum(0).max())


def test_a_softmax_in_steps_is_one_softmax() -> None:
    scores = np.random.default_rng(4).normal(size=(2, 3, 25)).astype(np.float32) * 30
    given = helper.make_tensor_value_info("ids", TensorProto.FLOAT, ["b", "t", "k"])
    result = helper.make_tensor_value_info("result", TensorProto.FLOAT, ["b", "t", "k"])
    for attributes, axis in (({}, -1), ({"axis": 2}, 2), ({"axis": 1}, 1)):
        graph = helper.make_graph(
            [helper.make_node("Softmax", ["ids"], ["result"], **attributes)], "softmax", [given], [result]
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
        quantise(model)
        assert "Softmax" not in {node.op_type for node in model.graph.node}
        powers = np.exp(scores.astype(np.float64))
        np.testing.assert_allclose(
            run(model, scores), powers / powers.sum(axis, keepdims=True), rtol=1e-5, atol=1e-30
        )


def test_a_large_token_does_not_make_others_coarse() -> None:
    draw = np.random.default_rng(1)
    table, weights = (draw.normal(size=size).astype(np.float32) for size in ((40, 32), (32, 8)))
    table[3] *= 1e6
    graph = lookup_and_product(table, weights)
    quantise(graph)
    assert np.allclose(run(graph, np.array([[1, 3]]))[0, 0], run(graph, np.array([[1, 1]]))[0, 0])


def test_weights_are_stored_as_bytes() -> None:
    draw = np.random.default_rng(2)
    graph = lookup_and_product(*(draw.normal(size=size).astype(np.float32) for size in ((9000, 32), (32, 512))))
    before = graph.ByteSize()
    quantise(graph)
    assert graph.ByteSize() < 0.31 * before


def read_from_int8(largest: int) -> Floats:
    """Weights in whole steps, as many for the largest neighbours."""
    draw = np.random.default_rng(3)
    weights = draw.integers(-(largest // 2), largest // 2 + 1, (512, 64)).astype(np.float32)
    weights[0], weights[1] = largest - 40, 40
    return weights


def test_small_changes_of_weights_that_were_read_from_int8_are_kept() -> None:
    weights = read_from_int8(127)
    change = np.full_like(weights, 0.3)
    change[:2] = 0
    table = np.eye(512, dtype=np.float32)[:40]
    # Each output is a weight; a token of one number is quantised without a loss.
    changed = lookup_and_product(table, weights + change)
    quantise(changed)
    found = run(changed, np.arange(2, 40)[None])[0] - weights[2:40]
    assert found.mean() == pytest.approx(0.3, abs=0.1)


@pytest.mark.parametrize("largest", [125, 126, 127, 128])
def test_weights_that_were_read_from_int8_stay_as_they_are(largest: int) -> None:
    weights = read_from_int8(largest) * np.float32(0.0123)
    graph = lookup_and_product(np.eye(512, dtype=np.float32)[:40], weights.astype(np.float32))
    quantise(graph)
    np.testing.assert_allclose(run(graph, np.arange(1, 40)[None])[0], weights[1:40], rtol=1e-5, atol=1e-5)


def test_a_weight_without_neighbours_has_its_place() -> None:
    weights = np.zeros((32, 8), np.float32)
    weights[4], weights[6] = 128, 64
    graph = lookup_and_product(np.ones((40, 32), np.float32), weights)
    quantise(graph)
    np.testing.assert_allclose(run(graph, np.array([[1]])), 192, rtol=1e-5)


def test_rows_that_were_quantised_once_stay_as_they_are() -> None:
    draw = np.random.default_rng(3)
    table = draw.standard_normal((4096, 512)).astype(np.float32)
    for _ in range(2):
        graph = lookup_and_product(table, np.eye(512, dtype=np.float32))
        quantise(graph)
        constants = {each.name: numpy_helper.to_array(each) for each in graph.graph.initializer}
        (rows,) = (value for name, value in constants.items() if name.endswith("_rows"))
        (scales,) = (value for name, value in constants.items() if name.endswith("_row_scales"))
        before, table = table, rows * scales
    np.testing.assert_allclose(table, before, rtol=1e-5)
