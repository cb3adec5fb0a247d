"""Dropout that costs little on a CPU.

There torch draws a 64-bit random number for each value, one value after the other. Of a small encoder that reads
passages this is a third of a step, most of it for the attention between all pairs of tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode


def cheap_dropout(device: torch.device) -> AbstractContextManager[Any]:
    """Within it, on a CPU, whatever drops out does so by :func:`dropout`: modules, and attention without one."""
    return _CheapDropout() if device.type == "cpu" else nullcontext()


def dropout(input: Tensor, p: float, training: bool = True) -> Tensor:
    """What torch's ``dropout`` does, with four decisions from each random number.

    Args:
        input: what some values of are set to 0, the others being divided by 1 − p.
        p: the probability of that; met to within 1/65,536.
        training: otherwise the input is given back as it is.
    """
    if not training or p == 0:
        return input
    draws = torch.empty(-(-input.numel() // 4), dtype=torch.int64).random_(-(2**63), None)
    decisions = draws.view(torch.int16)[: input.numel()].view(input.shape)
    kept = decisions >= round(p * 65536) - 32768
    return input * kept.to(input.dtype).div_(1 - p)


class _CheapDropout(TorchFunctionMode):
    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        given = dict(kwargs or {})
        if func is functional.dropout:
            # Only the result is asked for, not where it is.
            given.pop("inplace", None)
            return dropout(*args, **given)
        return func(*args, **given)
