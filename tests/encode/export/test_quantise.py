from __future__ import annotations

import numpy as np
import numpy.typing as npt
import onnxruntime
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

from nymlink.encode.export.quantise import quantise

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


def run(graph: ModelProto, ids: npt.NDArray[np.int64]) -> Floats:
    session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    result: Floats = session.run(None, {"ids": ids})[0]
    return result


def rounded(rows: Floats) -> Floats:
    """Each row on a grid of its own with 127 steps to either side, number by number."""
    found = np.zeros_like(rows)
    for at, row in enumerate(rows):
        step = max(abs(row)) / 127 or 1
        for place, number in enumerate(row):
            found[at, place] = round(float(number / step)) * step
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
    # A large table is rounded itself; what comes out of it is then on the grid already.
    expected = np.array([rounded(table[each]) @ rounded(weights.T).T for each in ids])
    assert np.allclose(run(graph, ids), expected, rtol=1e-4, atol=1e-4)


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
