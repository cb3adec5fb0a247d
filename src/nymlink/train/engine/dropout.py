"""Dropout that costs little on a CPU.

There torch draws a 64-bit random number for each value, one value after the other. Of the way of passages through
a small encoder and back this is a third, most of it for the attention between all pairs of tokens.
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
    """Within it, on a CPU, each call of torch's ``dropout`` is :func:`dropout`, in modules and in attention.

    Attention that torch computes in one step draws for itself; on a CPU ours is not such, see
    :func:`~nymlink.encode.model.torch_model.attention_on`.
    """
    return _CheapDropout() if device.type == "cpu" else nullcontext()


def dropout(input: Tensor, p: float) -> Tensor:
    """What torch's ``dropout`` does in training, with four decisions from each random number.

    Args:
        input: what some values of are set to 0, the others being divided by 1 − p.
        p: the probability of that, above 0 and below 1 − 2⁻¹⁶; met to within 2⁻¹⁶.
    """
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
        # All other probabilities are torch's to refuse, or to do nothing for.
        if func is functional.dropout and given["training"] and 0 < given["p"] < 1 - 2**-16:
            return dropout(args[0], given["p"])
        return func(*args, **given)
