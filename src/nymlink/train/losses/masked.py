"""Sums over the pairs of each anchor, safe where an anchor has none."""

from __future__ import annotations

import torch
from torch import Tensor


def log_sum_exp(values: Tensor, pairs: Tensor) -> Tensor:
    """The logarithm of each row's sum of exponentials over its pairs.

    Args:
        values: (A, M).
        pairs: bool (A, M).

    Returns:
        (A,): very negative, but finite, where a row has no pair: a true −∞ would turn gradients into NaN.
    """
    return _filled(values, pairs).logsumexp(1)


def log_one_plus_sum_exp(values: Tensor, pairs: Tensor) -> Tensor:
    """log(1 + Σ exp) over each row's pairs, (A,): 0 where a row has none."""
    return torch.cat([_filled(values, pairs), values.new_zeros(len(values), 1)], dim=1).logsumexp(1)


def _filled(values: Tensor, pairs: Tensor) -> Tensor:
    return values.masked_fill(~pairs, torch.finfo(values.dtype).min / 4)
