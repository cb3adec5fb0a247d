"""Restoring float32 weights from an int8 graph, so that the embedded encoder can be trained further."""

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
"""Prefix of the transformer's weights in a graph (see :mod:`nymlink.encode.export.graph`)."""


def float_weights(path: Path) -> dict[str, npt.NDArray[np.float32]]:
    """Restore the weights of a graph that :func:`nymlink.encode.export.quantise.quantise` made int8, by name.

    Each differs from the weight before by half a quantisation step at most. A matrix has no name in a graph: it is
    named by the bias that is added to its product. A matrix without a bias is not found.

    Args:
        path: an int8 graph that nymlink exported.

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
    # ValidationError: its numbers are said to be in a file outside of the folder.
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
    """Restore tables of embeddings: each row has a scale of its own."""
    return {
        name.removesuffix("_rows"): rows * constants[f"{name.removesuffix('_rows')}_row_scales"]
        for name, rows in constants.items()
        if name.endswith("_rows")
    }


def _linear_weights(
    graph: GraphProto, constants: dict[str, npt.NDArray[Any]]
) -> dict[str, npt.NDArray[np.float32]]:
    """Restore the weights of linear layers, (outputs, inputs): each output has a scale of its own."""
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
