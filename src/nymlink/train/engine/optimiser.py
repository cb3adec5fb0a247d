"""Steps of a training: optimiser, schedule, precision, memory."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any, Final, Literal, cast

import torch
from torch import Tensor, nn
from torch.optim import Adam, AdamW, Optimizer
from transformers import PreTrainedModel

from nymlink.core.errors import InputError, NymlinkError
from nymlink.encode.model.torch_model import has_bf16
from nymlink.train.settings.common import Device, PrecisionName, Schedule

_FIRST_SCALE: Final = 65536.0
_GROW_AFTER: Final = 2000
_TYPES: Final = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


class Precision:
    """The precision of matrix products. Weights, losses and the optimiser's state stay float32.

    In float16, small gradients become 0. So the loss is multiplied by a scale. The scale is halved if gradients
    overflow, and doubled after 2,000 steps without overflow (Micikevicius et al., "Mixed Precision Training", ICLR
    2018, section 3.2).

    Attributes:
        scale: factor of the loss; 1 unless the precision is float16.
    """

    def __init__(self, name: Literal["float32", "bfloat16", "float16"], device: torch.device) -> None:
        self.name = name
        self.device = device
        self._scaled = name == "float16"
        self.scale = _FIRST_SCALE if self._scaled else 1.0
        self._steps_since = 0

    @classmethod
    def of(cls, name: PrecisionName, device: torch.device) -> Precision:
        """Return the precision of a name. ``"auto"`` means the fastest precision on the device."""
        return cls(cast(Any, _fastest(device) if name == "auto" else name), device)

    def autocast(self) -> AbstractContextManager[Any]:
        """Make a context that computes matrix products in this precision."""
        enabled = self.name != "float32"
        return torch.autocast(self.device.type, _TYPES[self.name] if enabled else None, enabled=enabled)

    @property
    def can_overflow(self) -> bool:
        """Whether a smaller scale may prevent an overflow."""
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
    """Return the device of a name. If there are several GPUs, return the GPU of this process.

    Raises:
        InputError: ``"cuda"`` without a GPU that torch can use.
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


def use_sparse_embedding_gradients(model: nn.Module) -> None:
    """Make the gradients of word embeddings sparse.

    A dense gradient would have some 30,000 rows for each piece of a batch.

    :func:`densify_gradients` makes the gradients dense once a step.
    """
    for module in model.modules():
        if isinstance(module, PreTrainedModel):
            embeddings = module.get_input_embeddings()
            if isinstance(embeddings, nn.Embedding):
                embeddings.sparse = True


def densify_gradients(parameters: Iterable[nn.Parameter]) -> None:
    """Make sparse gradients dense, because AdamW updates every row, even the rows of words that a batch lacks."""
    for parameter in parameters:
        if parameter.grad is not None and parameter.grad.is_sparse:
            parameter.grad = parameter.grad.to_dense()


class OutOfMemoryError(NymlinkError):
    """Memory ran out; the message says what to change."""


@contextlib.contextmanager
def out_of_memory_advice(advice: str) -> Iterator[None]:
    """Turn memory errors of the device or the machine into :class:`OutOfMemoryError` with advice."""
    try:
        yield
    except (torch.OutOfMemoryError, MemoryError) as error:
        raise OutOfMemoryError(f"out of memory: {advice}") from error
    except RuntimeError as error:
        # torch raises a plain RuntimeError if the memory of a CPU runs out.
        if "allocate memory" not in str(error):
            raise
        raise OutOfMemoryError(f"out of memory: {advice}") from error


def adamw(parameters: Iterable[nn.Parameter], *, learning_rate: float, weight_decay: float) -> AdamW:
    """Create AdamW as in Liu et al. (2021), with weight decay on all parameters, even biases and layer norms."""
    return AdamW(parameters, lr=learning_rate, weight_decay=weight_decay, fused=True)


def adam(
    parameters: Iterable[nn.Parameter],
    extra: nn.Parameter,
    *,
    learning_rate: float,
    weight_decay: float,
    extra_learning_rate: float,
) -> Adam:
    """Create Adam as in Sung et al. (2020) and Le & Nguyen (2023): weight decay is added to the gradients (L2).

    Args:
        parameters: parameters of the encoder.
        extra: one more parameter, without weight decay: the weight of sparse scores, or the radius.
        learning_rate: learning rate of the encoder.
        weight_decay: weight decay of the encoder.
        extra_learning_rate: learning rate of ``extra``.
    """
    groups: list[dict[str, Any]] = [
        {"params": list(parameters)},
        {"params": [extra], "lr": extra_learning_rate, "weight_decay": 0.0},
    ]
    return Adam(groups, lr=learning_rate, weight_decay=weight_decay, fused=True)


class LearningRate:
    """The learning-rate schedule. The rates depend on the step number alone.

    Args:
        optimiser: the optimiser. The schedule takes the initial rate of each parameter group as its highest rate.
        schedule: the rate after the warm-up: constant, or a linear or cosine decay to 0.
        steps: number of steps.
        warm_up: share of the steps at the beginning in which the rate rises linearly from 0.
    """

    def __init__(self, optimiser: Optimizer, schedule: Schedule, *, steps: int, warm_up: float) -> None:
        self._optimiser = optimiser
        self._peaks = [float(group["lr"]) for group in optimiser.param_groups]
        self._schedule = schedule
        self._steps = steps
        self._rising = round(warm_up * steps)

    def set(self, step: int) -> float:
        """Set the rates for a step (from 0), and return the rate of the first parameter group."""
        factor = self.factor(step)
        for group, peak in zip(self._optimiser.param_groups, self._peaks, strict=True):
            group["lr"] = peak * factor
        return self._peaks[0] * factor

    def factor(self, step: int) -> float:
        """Compute the rate in a step as a share of the highest rate."""
        if step < self._rising:
            return (step + 1) / self._rising
        if self._schedule == "constant":
            return 1.0
        done = (step - self._rising) / (self._steps - self._rising)
        return 1 - done if self._schedule == "linear" else (1 + math.cos(math.pi * done)) / 2
