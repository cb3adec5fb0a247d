"""Log-sum-exp over the masked pairs of each anchor, finite where an anchor has none."""

from __future__ import annotations

import torch
from torch import Tensor


def log_sum_exp(values: Tensor, pairs: Tensor) -> Tensor:
    """Compute log Σ exp over the pairs of each row.

    Args:
        values: (A, M).
        pairs: bool (A, M): the values to sum.

    Returns:
        (A,): very negative but finite where a row has no pair: −∞ would make gradients NaN.
    """
    return _filled(values, pairs).logsumexp(1)


def log_one_plus_sum_exp(values: Tensor, pairs: Tensor) -> Tensor:
    """Compute log(1 + Σ exp) over the pairs of each row: (A,), 0 where a row has no pair."""
    return torch.cat([_filled(values, pairs), values.new_zeros(len(values), 1)], dim=1).logsumexp(1)


def _filled(values: Tensor, pairs: Tensor) -> Tensor:
    return values.masked_fill(~pairs, torch.finfo(values.dtype).min / 4)
