"""Faster dropout on a CPU.

On a CPU, torch draws a 64-bit random number for each value, one after the other. That takes a third of the time of
a forward and backward pass of passages through a small encoder, mostly for the attention between pairs of tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode


def fast_dropout(device: torch.device) -> AbstractContextManager[Any]:
    """Replace torch's ``dropout`` by :func:`dropout` until the block ends, on a CPU, in modules and in attention.

    Fused attention (SDPA) draws its own random numbers; it is not used on a CPU, see
    :func:`~nymlink.encode.model.torch_model.attention_on`.
    """
    return _FastDropout() if device.type == "cpu" else nullcontext()


def dropout(input: Tensor, p: float) -> Tensor:
    """Set values to 0 with probability p and divide the others by 1 − p; four decisions from each random number.

    Args:
        input: a tensor of any shape.
        p: the dropout probability, above 0 and below 1 − 2⁻¹⁶; met to within 2⁻¹⁶.
    """
    draws = torch.empty(-(-input.numel() // 4), dtype=torch.int64).random_(-(2**63), None)
    decisions = draws.view(torch.int16)[: input.numel()].view(input.shape)
    kept = decisions >= round(p * 65536) - 32768
    return input * kept.to(input.dtype).div_(1 - p)


class _FastDropout(TorchFunctionMode):
    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        given = dict(kwargs or {})
        # torch rejects other probabilities, or has nothing to do for them.
        if func is functional.dropout and given["training"] and 0 < given["p"] < 1 - 2**-16:
            return dropout(args[0], given["p"])
        return func(*args, **given)
