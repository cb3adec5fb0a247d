"""Weights of an int8 graph as float32, named as a transformer has them: a shipped encoder learns on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from nymlink.core.errors import InputError
from nymlink.encode.export.quantise import PRODUCT

if TYPE_CHECKING:
    from onnx import GraphProto

_ROOT = "model.transformer."
"""Where a graph's model has its transformer (see :mod:`nymlink.encode.export.graph`)."""


def float_weights(path: Path) -> dict[str, npt.NDArray[np.float32]]:
    """The weights that :func:`nymlink.encode.export.quantise.quantise` made int8, and those that it left, by name.

    They are what the graph computes with: each is off from what was quantised by half a step at most. A matrix has
    no name in a graph: it has that of the bias which is added to its product. One without a bias is not found.

    Args:
        path: a graph of int8 that nymlink exported.

    Raises:
        InputError: the file is damaged, or no such graph.
    """
    import onnx
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
    from onnx import numpy_helper
    from onnx.checker import ValidationError

    try:
        graph = onnx.load(path).graph
        constants = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
        found = {**_stored(constants), **_rows(constants), **_products(graph, constants)}
    # ValidationError: its numbers are said to be in a file outside of the folder.
    except (DecodeError, KeyError, ValueError, ValidationError, OSError) as error:
        raise InputError(
            f"no graph in int8 that nymlink exported, or a damaged one: export the model again ({error})",
            path=path,
        ) from error
    return {name.removeprefix(_ROOT): value for name, value in found.items()}


def _stored(constants: dict[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[np.float32]]:
    return {
        name: value.copy()
        for name, value in constants.items()
        if name.startswith(_ROOT) and value.dtype == np.float32 and not name.endswith("_row_scales")
    }


def _rows(constants: dict[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[np.float32]]:
    """Tables of embeddings: each row has a scale of its own."""
    return {
        name.removesuffix("_rows"): rows * constants[f"{name.removesuffix('_rows')}_row_scales"]
        for name, rows in constants.items()
        if name.endswith("_rows")
    }


def _products(graph: GraphProto, constants: dict[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[np.float32]]:
    """Linear layers: each output has a scale of its own, and a layer keeps its outputs first."""
    taken_by = {name: node for node in graph.node for name in node.input}
    found = {}
    for node in graph.node:
        if node.op_type != PRODUCT:
            continue
        scaled = taken_by[node.output[0]]
        added = taken_by[scaled.output[0]]
        for bias in set(added.input) & constants.keys():
            weights, scales = constants[node.input[1]], constants[node.input[3]]
            found[f"{bias.removesuffix('bias')}weight"] = np.ascontiguousarray((weights * scales).T)
    return found
