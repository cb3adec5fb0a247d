"""ONNX Runtime: encoders without torch, on CPUs, in fp32 or int8."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from nymlink.core.errors import InputError
from nymlink.core.onnx_session import open_session
from nymlink.core.store.arrays import Vectors
from nymlink.encode.backends import Backend, Precision, require_precision
from nymlink.encode.model.config import ModelConfig
from nymlink.encode.model.fingerprint import LoadedFiles
from nymlink.encode.model.folder import INT8
from nymlink.encode.model.saved import export_notes
from nymlink.encode.model.settings import EncoderSettings
from nymlink.encode.model.tokens import Ids

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

FILES: Final[dict[Precision, str]] = {"fp32": "onnx/model.onnx", "int8": INT8}
"""Where a folder holds its graphs, the preferred first: the names that models on the hub use too."""

_INPUTS: Final = ("input_ids", "attention_mask", "token_type_ids")


class OnnxNetwork:
    """A graph run by ONNX Runtime: one that nymlink exported, or any that takes token ids to the last layer."""

    device = "cpu"
    batch_tokens = 1024
    padding = 0.0

    def __init__(self, folder: Path, settings: EncoderSettings, precision: Precision) -> None:
        self.precision = precision
        config = ModelConfig.read(folder)
        path = folder / FILES[precision]
        self.pad_id = config.pad_id
        self._settings = settings
        self._exported = export_notes(folder)
        # A large graph keeps its numbers in a second file beside it.
        self._files = LoadedFiles(sorted(path.parent.glob(f"{path.name}*")))
        self._session = _session(path)
        self._inputs = [one.name for one in self._session.get_inputs()]
        output = self._session.get_outputs()[0]
        known = {"input_ids", "attention_mask"} <= set(self._inputs) <= {*_INPUTS}
        if not known or not _makes_vectors(output.shape, config):
            raise InputError(
                f"this graph is no encoder (inputs {', '.join(self._inputs)}, output {output.name} of shape "
                f"{output.shape}): export the model with `nymlink encoder export`",
                path=path,
            )
        self.width = output.shape[-1]
        if len(output.shape) == 2 and settings.pooling != (own := EncoderSettings.read(folder).pooling):
            raise InputError(
                f"this graph pools by itself, by its folder {own}, and cannot pool {settings.pooling}: leave the "
                "pooling out, or export the model again with it",
                path=path,
            )

    def vectors(self, ids: Ids, mask: Ids) -> Vectors:
        """Unit vectors; see :meth:`nymlink.encode.backends.Network.vectors`."""
        # All tokens are of the first type, where a graph asks for types.
        given = dict(zip(_INPUTS, (ids, mask, np.zeros_like(ids)), strict=True))
        try:
            found = self._session.run(None, {name: given[name] for name in self._inputs})[0]
        # The runtime has no error of its own for memory.
        except Exception as error:
            if "allocate" in str(error):
                raise MemoryError from error
            raise
        if found.ndim == 3:
            return _unit(_pooled(found, mask, self._settings))
        # Only of what nymlink exported it is known that vectors have length 1.
        return found if self._exported else _unit(found)

    def digest(self) -> str:
        """That of the model that was exported, where the graph is not coarser; else the graph's own."""
        source = self._exported.get("weights") if self.precision == "fp32" else None
        return source or self._files.digest()


def open_network(
    folder: Path, settings: EncoderSettings, precision: Precision | None, device: str | None
) -> OnnxNetwork:
    """The network of a folder with ONNX files.

    Raises:
        InputError: it has none of that precision, or a damaged one, or a GPU is asked for.
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
        return open_session(path)
    # What the runtime raises has no public base.
    except Exception as error:
        raise InputError(f"this graph cannot be loaded, export or fetch it again: {error}", path=path) from error


def _makes_vectors(shape: list[int | str | None], config: ModelConfig) -> bool:
    """Whether an output is the vectors of names, or the last layer: not scores of words or classes."""
    match shape:
        case [_, int(width)] | [_, _, int(width)]:
            return config.width in (None, width)
    return False


def _pooled(states: npt.NDArray[np.float32], mask: Ids, settings: EncoderSettings) -> Vectors:
    """Vectors from the last layer, (B, T, D)."""
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
    # With the second file of a large graph, but without the same in other precisions.
    {precision: (f"{file}*",) for precision, file in FILES.items()},
    ("cpu",),
    open_network,
    priority=-1,
)
