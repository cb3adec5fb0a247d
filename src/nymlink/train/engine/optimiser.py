"""Optimisers, and the schedule of their learning rates."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from torch import nn
from torch.optim import Adam, AdamW, Optimizer

from nymlink.train.settings.common import Schedule


def adamw(parameters: Iterable[nn.Parameter], *, learning_rate: float, weight_decay: float) -> AdamW:
    """Create AdamW as in Liu et al. (2021): weight decay on all parameters, biases and layer norms too."""
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
        parameters: the encoder's parameters.
        extra: a parameter outside the encoder, without weight decay: the weight of sparse scores, or the radius.
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
    """The learning-rate schedule: sets the rates of an optimiser from the step number alone.

    Args:
        optimiser: the optimiser; the rate that a parameter group was made with is its peak.
        schedule: after the warm-up: constant, or a linear or cosine decay to 0.
        steps: the number of steps.
        warm_up: the share of the steps in which the rate rises linearly from 0.
    """

    def __init__(self, optimiser: Optimizer, schedule: Schedule, *, steps: int, warm_up: float) -> None:
        self._optimiser = optimiser
        self._peaks = [float(group["lr"]) for group in optimiser.param_groups]
        self._schedule = schedule
        self._steps = steps
        self._rising = round(warm_up * steps)

    def set(self, step: int) -> float:
        """Set the rates for a step (from 0), and return that of the first parameter group."""
        factor = self.factor(step)
        for group, peak in zip(self._optimiser.param_groups, self._peaks, strict=True):
            group["lr"] = peak * factor
        return self._peaks[0] * factor

    def factor(self, step: int) -> float:
        """Compute the share of its peak that the rate has in a step."""
        if step < self._rising:
            return (step + 1) / self._rising
        if self._schedule == "constant":
            return 1.0
        done = (step - self._rising) / (self._steps - self._rising)
        return 1 - done if self._schedule == "linear" else (1 + math.cos(math.pi * done)) / 2
