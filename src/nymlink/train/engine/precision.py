"""Mixed precision: the fastest precision of a device, and loss scaling for float16."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Final, Literal, cast

import torch
from torch import Tensor

from nymlink.core.errors import InputError
from nymlink.encode.model.torch_model import has_bf16
from nymlink.train.settings.common import Device, PrecisionName

_FIRST_SCALE: Final = 65536.0
_GROW_AFTER: Final = 2000
_TYPES: Final = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


class Precision:
    """The precision of matrix products; weights, losses and the optimiser's state stay float32.

    Gradients below float16's smallest number would become 0. So the loss is multiplied by a scale, which is halved
    whenever gradients overflow and doubled after 2,000 steps without overflow (Micikevicius et al., "Mixed
    Precision Training", ICLR 2018, section 3.2). In other precisions the scale is 1.

    Args:
        name: the precision.
        device: the device to compute on.

    Attributes:
        scale: the factor to multiply a loss by.
    """

    def __init__(self, name: Literal["float32", "bfloat16", "float16"], device: torch.device) -> None:
        self.name = name
        self.device = device
        self._scaled = name == "float16"
        self.scale = _FIRST_SCALE if self._scaled else 1.0
        self._steps_since = 0

    @classmethod
    def of(cls, name: PrecisionName, device: torch.device) -> Precision:
        """Return the precision of that name; for ``"auto"`` the fastest that the device's hardware has."""
        return cls(cast(Any, _fastest(device) if name == "auto" else name), device)

    def autocast(self) -> AbstractContextManager[Any]:
        """Compute matrix products in this precision until the block ends."""
        enabled = self.name != "float32"
        return torch.autocast(self.device.type, _TYPES[self.name] if enabled else None, enabled=enabled)

    @property
    def can_overflow(self) -> bool:
        """Whether gradients may overflow only for the scale: a smaller one is then tried."""
        return self.scale > 1

    def unscale(self, gradients: list[Tensor]) -> None:
        """Divide gradients by the scale, in place."""
        if self._scaled:
            for gradient in gradients:
                gradient.div_(self.scale)

    def update(self, *, overflowed: bool) -> None:
        """Adapt the scale after a step."""
        if not self._scaled:
            return
        self._steps_since = 0 if overflowed else self._steps_since + 1
        if overflowed:
            self.scale = max(self.scale / 2, 1.0)
        elif self._steps_since == _GROW_AFTER:
            self.scale, self._steps_since = self.scale * 2, 0

    def state(self) -> dict[str, float]:
        """Return the state that :meth:`restore` takes, as JSON values."""
        return {"scale": self.scale, "steps_since": self._steps_since}

    def restore(self, state: dict[str, float]) -> None:
        """Restore a saved state."""
        self.scale, self._steps_since = float(state["scale"]), int(state["steps_since"])


def find_device(name: Device, *, local_rank: int = 0) -> torch.device:
    """Return the device of that name; of several GPUs that of this process.

    Raises:
        InputError: ``"cuda"`` is asked for, and there is no GPU that torch can use.
    """
    if name == "cuda" and not torch.cuda.is_available():
        raise InputError("no GPU that torch can use: set device to cpu, or install a build of torch for your GPU")
    if name == "cpu" or not torch.cuda.is_available():
        return torch.device("cpu")
    return torch.device("cuda", local_rank)


def _fastest(device: torch.device) -> str:
    if has_bf16(device.type):
        return "bfloat16"
    return "float16" if device.type == "cuda" else "float32"
