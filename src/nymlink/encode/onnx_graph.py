"""Write torch models as ONNX graphs that include pooling and normalisation."""

from __future__ import annotations

import contextlib
import logging
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import torch
from torch import Tensor, nn

from nymlink.core.errors import NymlinkError

if TYPE_CHECKING:
    from onnx import ModelProto

    from nymlink.encode.model.torch_model import TorchModel

OPSET: Final = 20
_ONE_FILE: Final = 1_500_000_000
"""Most bytes of weights for a graph in one file. A file of Protocol Buffers can have 2 GB."""


class _UnitVectors(nn.Module):
    def __init__(self, model: TorchModel) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        return nn.functional.normalize(self.model(input_ids, attention_mask), dim=-1)


def write_graph(model: TorchModel, path: Path) -> None:
    """Write a model as a graph: int64 (B, T) ``input_ids`` and ``attention_mask`` → float32 (B, D) ``vectors``.

    Raises:
        NymlinkError: the model uses operations that ONNX does not have.
    """
    # Trace two names of different length, so that the graph has no constant size or mask.
    ids = torch.full((2, 5), 1, dtype=torch.int64)
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
    sizes = {0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC}
    with quiet_exporters():
        try:
            program = torch.onnx.export(
                _UnitVectors(model).eval(),
                (ids, mask),
                input_names=["input_ids", "attention_mask"],
                output_names=["vectors"],
                dynamic_shapes={"input_ids": sizes, "attention_mask": sizes},
                opset_version=OPSET,
                dynamo=True,
                verbose=False,
            )
        except torch.onnx.errors.OnnxExporterError as error:
            reason = str(error).strip().splitlines()[0]
            raise NymlinkError(f"this model cannot be exported to ONNX, use it with torch: {reason}") from error
    assert program is not None  # true with dynamo on
    write_proto(program.model_proto, path)


def write_proto(graph: ModelProto, path: Path) -> None:
    """Write a graph. Weights that are too large for one file go to a second file."""
    import onnx

    path.parent.mkdir(exist_ok=True)
    # The exporter records the source file of every operator, with paths of this machine: remove them.
    for node in graph.graph.node:
        del node.metadata_props[:]
        node.doc_string = ""
    large = sum(len(weights.raw_data) for weights in graph.graph.initializer) > _ONE_FILE
    onnx.save(graph, path, save_as_external_data=large, location=f"{path.name}_data")


@contextlib.contextmanager
def quiet_exporters() -> Iterator[None]:
    """Hide messages and warnings of the exporter."""
    disabled = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(disabled)
