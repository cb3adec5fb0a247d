"""Quantisation of the matrix products of a graph to int8, with a scale for each token and for each output.

ONNX Runtime's own quantiser has one scale for a whole batch. Then the vector of a name depends on the other names
of its batch. With a scale for each token (Yao et al. 2022, ZeroQuant, section 4.2), the vector does not depend on
other names, and is closer to fp32: a token with large values does not make the steps coarse for other tokens.

The graph gives the same vectors on every processor:

- Products are exact. A processor without VNNI instructions multiplies two unsigned activations (up to 255) with
  two signed weights, and adds the products in 16 bits, which can overflow. So the steps of an output's weights are
  so large that two neighbouring weights of the same sign sum to at most 128 steps: 255 · 128 < 2¹⁵. This makes
  steps a quarter larger. ONNX Runtime's remedy, weights of seven bits, makes all steps twice as large.
- A softmax is written as single operations. ONNX Runtime's own softmax adds more than 16 numbers in an order that
  depends on the width of the processor's registers. This changes only the last bit. But if a number is then
  rounded to another step, the vector changes in its third digit.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from nymlink.core.errors import InputError

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto


_RUNTIME: Final = "com.microsoft"
"""The domain of ONNX Runtime's own operators."""

PRODUCT: Final = "MatMulIntegerToFloat"
"""The operator for scaled products of activations and weights in int8."""

_STEPS: Final = 127
_WEIGHT_STEPS: Final = 125.5
"""Number of steps for the largest weight, or for the largest two neighbours.

It is lower than the possible maximum.

The reason are weights that were read from int8 and trained further. They are near whole numbers of 127 steps.
Training changes most of them by less than half a step, so rounding to the same steps would remove the changes.
"""

_STEPS_READ: Final = (128, 127, 126, 125)
"""Numbers of steps that weights read from int8 may have, because of rounding. Such weights keep their steps."""

_ON_STEPS: Final = 1e-3
"""Weights count as read from int8 if their distance to whole steps is at most this share of a step."""

_ZERO: Final = 128
_SMALLEST: Final = 1e-30
"""Smallest scale. It keeps the scale of a token of zeros above 0."""

_SMALL_TABLE: Final = 1 << 18
"""Tables of embeddings with fewer numbers stay float32."""

_GROUP: Final = 32
"""Numbers of a row that have one scale, in a table of 4 bits."""


def quantise(graph: ModelProto, *, table_bits: int = 8) -> None:
    """Quantise the weights of a graph to int8, including word embeddings.

    Products of activations with each other, normalisations and the pooling stay float32.

    Args:
        graph: a graph made by :func:`nymlink.encode.onnx_graph.write_graph`. It is changed in place.
        table_bits: bits of a number of word embeddings: 8, with a scale for each row; or 4, with a scale for each
            32 numbers of a row.
    """
    from onnx import helper, numpy_helper

    weights = {
        each.name: numpy_helper.to_array(each)
        for each in graph.graph.initializer
        if each.data_type == each.FLOAT and len(each.dims) == 2
    }
    writer = _Writer(weights)
    for node in graph.graph.node:
        if node.op_type == "MatMul" and node.input[1] in weights:
            writer.add_product(*node.input, result=node.output[0])
        elif node.op_type == "Softmax":
            writer.add_softmax(node)
        elif node.op_type == "Gather" and weights.get(node.input[0], np.zeros(0)).size >= _SMALL_TABLE:
            add_lookup = writer.add_lookup if table_bits == 8 else writer.add_lookup_of_4_bits
            add_lookup(*node.input, result=node.output[0])
        else:
            writer.nodes.append(node)
    del graph.graph.node[:]
    graph.graph.node.extend(writer.nodes)
    used = {name for node in writer.nodes for name in node.input}
    kept = [each for each in graph.graph.initializer if each.name in used]
    del graph.graph.initializer[:]
    graph.graph.initializer.extend(kept)
    graph.graph.initializer.extend(
        numpy_helper.from_array(value, name) for name, value in writer.constants.items() if name in used
    )
    if not any(each.domain == _RUNTIME for each in graph.opset_import):
        graph.opset_import.append(helper.make_opsetid(_RUNTIME, 1))


class _Writer:
    """Writes the nodes of the quantised graph one after another.

    Args:
        weights: the float32 matrices of the graph, by name.
    """

    def __init__(self, weights: dict[str, npt.NDArray[np.float32]]) -> None:
        self.nodes: list[NodeProto] = []
        self.constants: dict[str, npt.NDArray[Any]] = {
            "int8_one": np.array(1, np.float32),
            "int8_step": np.array(1 / _STEPS, np.float32),
            "int8_smallest": np.array(_SMALLEST, np.float32),
            "int8_zero": np.array(_ZERO, np.uint8),
            "int8_weight_zero": np.array(0, np.int8),
            "int8_last_axis": np.array([-1], np.int64),
        }
        self._weights = weights

    def add_product(self, activations: str, weights: str, *, result: str) -> None:
        """Add ``activations @ weights``: float32 (B, T, K) and (K, N) → (B, T, N)."""
        self._quantise_columns(weights)
        self._quantise_tokens(activations, size=len(self._weights[weights]))
        self._node(
            PRODUCT,
            [
                f"{activations}_int8",
                f"{weights}_int8",
                "int8_one",
                f"{weights}_scales",
                "int8_zero",
                "int8_weight_zero",
            ],
            f"{result}_unscaled",
            domain=_RUNTIME,
        )
        self._node("Mul", [f"{result}_unscaled", f"{activations}_scales"], result)

    def add_softmax(self, softmax: NodeProto) -> None:
        """Add the operations of a softmax: the exponentials of numbers, divided by their sum."""
        [scores], [result] = softmax.input, softmax.output
        axis = f"{result}_axis"
        self.constants[axis] = np.array([each.i for each in softmax.attribute if each.name == "axis"] or [-1])
        self._node("ReduceMax", [scores, axis], f"{result}_largest", keepdims=1)
        self._node("Sub", [scores, f"{result}_largest"], f"{result}_differences")
        self._node("Exp", [f"{result}_differences"], f"{result}_powers")
        self._node("ReduceSum", [f"{result}_powers", axis], f"{result}_sum", keepdims=1)
        self._node("Div", [f"{result}_powers", f"{result}_sum"], result)

    def add_lookup(self, table: str, ids: str, *, result: str) -> None:
        """Add ``table[ids]``: float32 (W, D) and int64 (B, T) → (B, T, D)."""
        from onnx import TensorProto

        if f"{table}_rows" not in self.constants:
            scales = _scales(self._weights[table], np.abs(self._weights[table]).max(1, keepdims=True), axis=1)
            self.constants[f"{table}_rows"] = np.round(self._weights[table] / scales).astype(np.int8)
            self.constants[f"{table}_row_scales"] = scales
        self._node("Gather", [f"{table}_rows", ids], f"{result}_stored")
        self._node("Cast", [f"{result}_stored"], f"{result}_unscaled", to=TensorProto.FLOAT)
        self._node("Gather", [f"{table}_row_scales", ids], f"{result}_row_scales")
        self._node("Mul", [f"{result}_unscaled", f"{result}_row_scales"], result)

    def add_lookup_of_4_bits(self, table: str, ids: str, *, result: str) -> None:
        """Add ``table[ids]``: float32 (W, D) and int64 (B, T) → (B, T, D); D is a multiple of 64.

        A byte has a number of the first half of a row in its lower bits, and one of the second half in its upper
        bits.
        """
        from onnx import TensorProto

        weights = self._weights[table]
        width = weights.shape[1]
        if f"{table}_nibbles" not in self.constants:
            groups = weights.reshape(len(weights), -1, _GROUP)
            # The number with the largest size is -8 steps, because 4 bits have one more number below zero.
            largest = np.take_along_axis(groups, np.abs(groups).argmax(-1)[..., None], -1)
            scales = (largest[..., 0] / -8).astype(np.float16)
            steps = np.where(scales == 0, 1, scales).astype(np.float32)[..., None]
            numbers = np.clip(np.round(groups / steps) + 8, 0, 15).astype(np.uint8).reshape(weights.shape)
            self.constants[f"{table}_nibbles"] = numbers[:, : width // 2] | numbers[:, width // 2 :] << 4
            self.constants[f"{table}_group_scales"] = scales
            self.constants |= {
                "int4_mask": np.array(15, np.uint8),
                "int4_shift": np.array(4, np.uint8),
                "int4_zero": np.array(8, np.float32),
                "int4_groups": np.array([0, 0, -1, _GROUP], np.int64),
                "int4_rows": np.array([0, 0, -1], np.int64),
            }
        self._node("Gather", [f"{table}_nibbles", ids], f"{result}_stored")
        self._node("BitwiseAnd", [f"{result}_stored", "int4_mask"], f"{result}_lower")
        self._node("BitShift", [f"{result}_stored", "int4_shift"], f"{result}_upper", direction="RIGHT")
        self._node("Concat", [f"{result}_lower", f"{result}_upper"], f"{result}_bits", axis=-1)
        self._node("Cast", [f"{result}_bits"], f"{result}_numbers", to=TensorProto.FLOAT)
        self._node("Sub", [f"{result}_numbers", "int4_zero"], f"{result}_signed")
        self._node("Reshape", [f"{result}_signed", "int4_groups"], f"{result}_unscaled")
        self._node("Gather", [f"{table}_group_scales", ids], f"{result}_halves")
        self._node("Cast", [f"{result}_halves"], f"{result}_wide", to=TensorProto.FLOAT)
        self._node("Unsqueeze", [f"{result}_wide", "int8_last_axis"], f"{result}_group_scales")
        self._node("Mul", [f"{result}_unscaled", f"{result}_group_scales"], f"{result}_groups")
        self._node("Reshape", [f"{result}_groups", "int4_rows"], result)

    def _quantise_columns(self, weights: str) -> None:
        if f"{weights}_int8" not in self.constants:
            scales = _scales(self._weights[weights], _largest_neighbours(self._weights[weights]), axis=0)
            self.constants[f"{weights}_int8"] = np.round(self._weights[weights] / scales).astype(np.int8)
            self.constants[f"{weights}_scales"] = scales[0]

    def _quantise_tokens(self, name: str, *, size: int) -> None:
        """Quantise float32 (B, T, K) to uint8 and scales (B, T, 1), once for all products that use the result."""
        if any(f"{name}_int8" in node.output for node in self.nodes):
            return
        self.constants[f"{name}_flat"] = np.array([-1, size], np.int64)
        self._node("Shape", [name], f"{name}_shape")
        self._node("Abs", [name], f"{name}_absolute")
        self._node("ReduceMax", [f"{name}_absolute", "int8_last_axis"], f"{name}_largest", keepdims=1)
        self._node("Mul", [f"{name}_largest", "int8_step"], f"{name}_steps")
        self._node("Max", [f"{name}_steps", "int8_smallest"], f"{name}_scales")
        # QuantizeLinear takes a scale for each row of a matrix, but not of a stack of matrices. So flatten the
        # stack.
        self._node("Reshape", [name, f"{name}_flat"], f"{name}_tokens")
        self._node("Reshape", [f"{name}_scales", "int8_last_axis"], f"{name}_token_scales")
        self._node("Shape", [f"{name}_token_scales"], f"{name}_count")
        self._node("Expand", ["int8_zero", f"{name}_count"], f"{name}_zeros")
        self._node(
            "QuantizeLinear",
            [f"{name}_tokens", f"{name}_token_scales", f"{name}_zeros"],
            f"{name}_token_int8",
            axis=0,
        )
        self._node("Reshape", [f"{name}_token_int8", f"{name}_shape"], f"{name}_int8")

    def _node(self, kind: str, inputs: list[str], output: str, **attributes: Any) -> None:
        from onnx import helper

        self.nodes.append(helper.make_node(kind, inputs, [output], **attributes))


def _scales(
    weights: npt.NDArray[np.float32], largest: npt.NDArray[np.float32], *, axis: int
) -> npt.NDArray[np.float32]:
    """Choose the size of a step for each row or column from its largest value: float32 (R, 1) or (1, C)."""
    largest = np.maximum(largest, _SMALLEST)
    steps = np.full(largest.shape, _WEIGHT_STEPS)
    for read in _STEPS_READ:
        in_steps = weights / largest * read
        on_steps = (np.abs(in_steps - np.round(in_steps)) < _ON_STEPS) & (np.abs(in_steps) < _ZERO)
        steps[on_steps.all(axis, keepdims=True)] = read
    scales: npt.NDArray[np.float32] = (largest / steps).astype(np.float32)
    return scales


def _largest_neighbours(weights: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Find the largest sum of two weights of one sign that a processor adds together: (K, N) → (1, N)."""
    even = np.concatenate([weights, np.zeros((len(weights) % 2, weights.shape[1]), np.float32)])
    sums = [np.maximum(sign * even, 0).reshape(-1, 2, weights.shape[1]).sum(1) for sign in (1, -1)]
    largest: npt.NDArray[np.float32] = np.concatenate(sums).max(0, keepdims=True)
    return largest


_ROOT = "model.transformer."
"""Prefix of the transformer's weights in a graph (see :mod:`nymlink.encode.onnx_export`)."""


def float_weights(path: Path) -> dict[str, npt.NDArray[np.float32]]:
    """Restore the weights of a graph quantised by :func:`nymlink.encode.quantise.quantise`, by name.

    Each weight differs from the original weight by at most half a quantisation step. A matrix has no name in a
    graph, so its name is made from the bias that is added to its product. A matrix without a bias is not found.

    Args:
        path: an int8 graph exported by nymlink.

    Raises:
        InputError: the file is damaged, or another graph.
    """
    import onnx
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
    from onnx import numpy_helper
    from onnx.checker import ValidationError

    try:
        graph = onnx.load(path).graph
        constants = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
        weights = {**_float_weights(constants), **_embeddings(constants), **_linear_weights(graph, constants)}
    # ValidationError: the graph refers to a file outside of the folder for its numbers.
    except (DecodeError, KeyError, ValueError, ValidationError, OSError) as error:
        raise InputError(
            f"not an int8 graph that nymlink exported, or a damaged one: export the model again ({error})",
            path=path,
        ) from error
    return {name.removeprefix(_ROOT): value for name, value in weights.items()}


def _float_weights(constants: dict[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[np.float32]]:
    """Collect the weights that stayed float32."""
    return {
        name: value.copy()
        for name, value in constants.items()
        if name.startswith(_ROOT) and value.dtype == np.float32 and not name.endswith("_row_scales")
    }


def _embeddings(constants: dict[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[np.float32]]:
    """Restore tables of embeddings."""
    # Of the constants with this ending, those of another type are shapes.
    tables = {
        name.removesuffix("_rows"): rows * constants[f"{name.removesuffix('_rows')}_row_scales"]
        for name, rows in constants.items()
        if name.endswith("_rows") and rows.dtype == np.int8
    }
    for name, nibbles in constants.items():
        if name.endswith("_nibbles"):
            scales = constants[f"{name.removesuffix('_nibbles')}_group_scales"].astype(np.float32)
            numbers = np.hstack([nibbles & 15, nibbles >> 4]).astype(np.float32) - 8
            tables[name.removesuffix("_nibbles")] = numbers * np.repeat(scales, _GROUP, axis=1)
    return tables


def _linear_weights(
    graph: GraphProto, constants: dict[str, npt.NDArray[Any]]
) -> dict[str, npt.NDArray[np.float32]]:
    """Restore the weights of linear layers, (outputs, inputs). Each output has a scale of its own."""
    consumers = {name: node for node in graph.node for name in node.input}
    restored = {}
    for node in graph.node:
        if node.op_type != PRODUCT:
            continue
        scaled = consumers[node.output[0]]
        added = consumers[scaled.output[0]]
        for bias in set(added.input) & constants.keys():
            weights, scales = constants[node.input[1]], constants[node.input[3]]
            restored[f"{bias.removesuffix('bias')}weight"] = np.ascontiguousarray((weights * scales).T)
    return restored
