"""The torch back end: runs any model on a CPU or a GPU. The model need not be exported."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from nymlink.core.errors import InputError, MissingExtraError, NymlinkError
from nymlink.core.store.arrays import Vectors
from nymlink.encode.backend import Backend, Precision, require_precision
from nymlink.encode.model.encoder_settings import EncoderSettings
from nymlink.encode.model.fingerprint import ModelSnapshot
from nymlink.encode.model.folder import WEIGHTS
from nymlink.encode.model.token_batches import Ids

if TYPE_CHECKING:
    from nymlink.encode.model.torch_model import TorchModel


_OFFERED: Final[dict[str, tuple[Precision, ...]]] = {"cpu": ("bf16", "fp32"), "cuda": ("bf16", "fp16", "fp32")}
_BATCH_TOKENS: Final = {"cpu": 2048, "cuda": 65536}
_PADDING: Final = {"cpu": 0.0, "cuda": 0.1}


class TorchNetwork:
    """A :class:`~nymlink.encode.model.torch_model.TorchModel` on a device, in a precision.

    ``torch.compile`` is not used, because it needs a compiler, and time for each new shape of a batch. Its gain
    was not measured. On a CPU, weights are packed without it (:func:`nymlink.encode.model.torch_model.pack`).

    Args:
        model: the model. It is moved to the device in place. Its weights are converted to the precision and, on a
            CPU, to the layout of oneDNN.
        precision: precision of weights and products.
        device: ``"cpu"``, ``"cuda"`` or ``"cuda:1"``.
        source: the state of the model's folder before loading, for :meth:`digest`; ``None`` if it was not loaded.
    """

    def __init__(
        self, model: TorchModel, precision: Precision, device: str, *, source: ModelSnapshot | None = None
    ) -> None:
        import torch

        dtypes = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
        self.precision = precision
        self.device = device
        self.width = model.width
        self.pad_id = model.pad_id
        self.batch_tokens = _BATCH_TOKENS[_kind(device)]
        self.padding = _PADDING[_kind(device)]
        self.at_once = 1
        self._model = model.to(device, dtypes[precision])
        if _kind(device) == "cpu":
            from nymlink.encode.model.torch_model import pack

            pack(self._model)
        self._source = source

    def vectors(self, ids: Ids, mask: Ids) -> Vectors:
        """Encode token ids; see :meth:`nymlink.encode.backend.Network.vectors`."""
        import torch

        try:
            with torch.inference_mode():
                # Without padding, no mask is needed. This is faster.
                attention_mask = None if mask.all() else torch.from_numpy(mask).to(self.device)
                pooled = self._model(torch.from_numpy(ids).to(self.device), attention_mask)
                vectors: Vectors = torch.nn.functional.normalize(pooled, dim=1).cpu().numpy()
                return vectors
        except torch.OutOfMemoryError as error:
            raise MemoryError from error
        except RuntimeError as error:
            # On a CPU, torch has no error class for a lack of memory.
            if "can't allocate memory" in str(error):
                raise MemoryError from error
            raise InputError(
                f"the model cannot be run ({error}): its configuration is damaged; fetch it again"
            ) from error

    def digest(self) -> str:
        """Compute the digest of the folder's weights and configuration."""
        if self._source is None:
            raise ValueError("this network was not loaded from a folder: it has no digest")
        return self._source.digest()


def open_network(
    folder: Path, settings: EncoderSettings, precision: Precision | None, device: str | None
) -> TorchNetwork:
    """Load the network of a model folder.

    Raises:
        InputError: the folder's files are damaged, or the device or the precision is not available.
        NymlinkError: the model does not fit into the memory of the device.
        MissingExtraError: torch is not installed.
    """
    try:
        import torch

        from nymlink.encode.model.torch_model import TorchModel, attention_on, has_bf16
    except ImportError as error:
        raise MissingExtraError("train", purpose="running a model that is not exported to ONNX") from error
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    _require_device(device)
    if precision is None:
        precision = "bf16" if has_bf16(device) else "fp32"
    require_precision(precision, _OFFERED[_kind(device)], where=f"on {device}")
    source = ModelSnapshot(folder)
    model = TorchModel.load(
        folder, pooling=settings.pooling, max_length=settings.max_length, attention=attention_on(_kind(device))
    )
    try:
        return TorchNetwork(model, precision, device, source=source)
    except torch.OutOfMemoryError as error:
        raise NymlinkError(
            f"out of memory: the model does not fit onto {device} in {precision}: choose a lower precision, or "
            "the device cpu"
        ) from error


def _require_device(device: str) -> None:
    """Check that a device is available."""
    import torch

    kind, _, number = device.partition(":")
    if kind not in _OFFERED or (number and not (kind == "cuda" and number.isdecimal())):
        raise InputError(f"no device {device!r}: choose from {', '.join(_OFFERED)}")
    if kind == "cuda" and not torch.cuda.is_available():
        raise InputError("there is no GPU that torch can use: leave the device out, or choose cpu")
    if kind == "cuda" and int(number or 0) >= torch.cuda.device_count():
        raise InputError(f"no device {device!r}: there are {torch.cuda.device_count()} GPUs, counted from 0")


def _kind(device: str) -> str:
    """Remove the number from a device: ``"cuda:1"`` → ``"cuda"``."""
    return device.partition(":")[0]


BACKEND: Final = Backend(
    "torch",
    "torch: CPU or GPU, bf16, fp16 or fp32; needs nymlink[train]",
    dict.fromkeys(_OFFERED["cuda"], WEIGHTS),
    tuple(_OFFERED),
    open_network,
)
