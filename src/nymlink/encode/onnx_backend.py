"""The ONNX Runtime back end: encoders without torch, on CPUs, in fp32 or int8."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from nymlink.core.computing import open_session
from nymlink.core.environment import compute_threads
from nymlink.core.errors import InputError
from nymlink.core.store.arrays import Vectors
from nymlink.encode.backend import Backend, Precision, require_precision
from nymlink.encode.model.encoder_settings import EncoderSettings, ModelConfig
from nymlink.encode.model.fingerprint import FileSnapshot, export_notes
from nymlink.encode.model.folder import INT8
from nymlink.encode.model.token_batches import Ids

if TYPE_CHECKING:
    from onnxruntime import InferenceSession


FILES: Final[dict[Precision, str]] = {"fp32": "onnx/model.onnx", "int8": INT8}
"""Precision → path of the graph in a folder.

The preferred precision comes first; models on the hub use the same paths.
"""

_INPUTS: Final = ("input_ids", "attention_mask", "token_type_ids")


class OnnxNetwork:
    """A graph for ONNX Runtime: one that nymlink exported, or another whose output is the last hidden layer."""

    device = "cpu"
    batch_tokens = 1024
    padding = 0.0

    def __init__(self, folder: Path, settings: EncoderSettings, precision: Precision) -> None:
        self.precision = precision
        config = ModelConfig.read(folder)
        path = folder / FILES[precision]
        self._path = path
        self.pad_id = config.pad_id
        self._settings = settings
        self._exported = export_notes(folder)
        # The weights of a large graph are in a second file beside it.
        self._files = FileSnapshot(sorted(path.parent.glob(f"{path.name}*")))
        # Cores that share a batch wait for each other: batches side by side take three quarters of the time.
        self._session = _session(path)
        self.at_once = compute_threads()
        self._inputs = [each.name for each in self._session.get_inputs()]
        output = self._session.get_outputs()[0]
        known = {"input_ids", "attention_mask"} <= set(self._inputs) <= {*_INPUTS}
        if not known or not _makes_vectors(output.shape, config):
            raise InputError(
                f"this graph is not an encoder (inputs {', '.join(self._inputs)}, output {output.name} of shape "
                f"{output.shape}): export the model with `nymlink encoder export`",
                path=path,
            )
        self.width = output.shape[-1]
        if len(output.shape) == 2 and settings.pooling != (own := EncoderSettings.read(folder).pooling):
            raise InputError(
                f"this graph has the pooling {own} built in, and not {settings.pooling}: leave the pooling out, "
                "or export the model again with that pooling",
                path=path,
            )

    def vectors(self, ids: Ids, mask: Ids) -> Vectors:
        """Encode token ids; see :meth:`nymlink.encode.backend.Network.vectors`."""
        # If the graph takes token types, they are all 0.
        inputs = dict(zip(_INPUTS, (ids, mask, np.zeros_like(ids)), strict=True))
        try:
            output = self._session.run(None, {name: inputs[name] for name in self._inputs})[0]
        # ONNX Runtime has no error class for memory.
        except Exception as error:
            if "allocate" in str(error):
                raise MemoryError from error
            raise InputError(
                f"this graph cannot be run ({error}): export or fetch it again", path=self._path
            ) from error
        if output.ndim == 3:
            return _unit(_pool(output, mask, self._settings))
        # Only graphs that nymlink exported are sure to normalise their vectors.
        return output if self._exported else _unit(output)

    def digest(self) -> str:
        """Return the digest of the exported model for a graph in fp32, otherwise the digest of the graph."""
        source = self._exported.get("weights") if self.precision == "fp32" else None
        return source or self._files.digest()


def open_network(
    folder: Path, settings: EncoderSettings, precision: Precision | None, device: str | None
) -> OnnxNetwork:
    """Load the network of a folder with ONNX files.

    Raises:
        InputError: the folder has no graph of this precision, or a damaged graph, or a GPU is requested.
    """
    if device not in (None, "cpu"):
        raise InputError(
            f"no device {device!r} with ONNX Runtime, only cpu: leave the device out, or give a model "
            "with torch weights"
        )
    offered = tuple(each for each, file in FILES.items() if (folder / file).is_file())
    if precision is not None:
        require_precision(precision, offered, where=f"in {folder}")
    elif not offered:
        raise InputError("no ONNX files: export the model (nymlink encoder export)", path=folder)
    return OnnxNetwork(folder, settings, precision or offered[0])


def _session(path: Path) -> InferenceSession:
    try:
        return open_session(path, threads=1)
    # The errors of ONNX Runtime have no public base class.
    except Exception as error:
        raise InputError(f"this graph cannot be loaded ({error}): export or fetch it again", path=path) from error


def _makes_vectors(shape: list[int | str | None], config: ModelConfig) -> bool:
    """Whether the output of a graph is vectors of names or the last layer, and not scores of words or classes."""
    match shape:
        case [_, int(width)] | [_, _, int(width)]:
            return config.width in (None, width)
    return False


def _pool(states: npt.NDArray[np.float32], mask: Ids, settings: EncoderSettings) -> Vectors:
    """Pool the last layer, (B, T, D), to vectors, (B, D), which are normalised later.

    For mean pooling, the sum is enough.
    """
    if settings.pooling == "cls":
        return states[:, 0]
    summed: Vectors = np.einsum("btd,bt->bd", states, mask.astype(np.float32))
    return summed


def _unit(vectors: Vectors) -> Vectors:
    unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


BACKEND: Final = Backend(
    "onnx",
    "ONNX Runtime: CPU, fp32 or int8; needs a model exported to ONNX",
    # The patterns match the second file of a large graph, but no graphs of other precisions.
    {precision: (f"{file}*",) for precision, file in FILES.items()},
    ("cpu",),
    open_network,
    priority=-1,
)
