"""The optimiser, and how its learning rate goes up and down."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from torch import nn
from torch.optim import Adam, AdamW, Optimizer

from nymlink.train.settings.common import Schedule


def adamw(parameters: Iterable[nn.Parameter], *, learning_rate: float, weight_decay: float) -> AdamW:
    """AdamW as Liu et al. (2021) use it: weight decay on all parameters, biases and norms too."""
    return AdamW(parameters, lr=learning_rate, weight_decay=weight_decay, fused=True)


def adam(
    parameters: Iterable[nn.Parameter],
    weight: nn.Parameter,
    *,
    learning_rate: float,
    weight_decay: float,
    of_weight: float,
) -> Adam:
    """Adam as Sung et al. (2020) and Le & Nguyen (2023) use it: weight decay is added to the gradients (L2).

    Args:
        parameters: the encoder's.
        weight: one number that is learned beside them and does not decay: the weight of sparse scores, a radius.
        learning_rate: of the encoder.
        weight_decay: of the encoder.
        of_weight: the learning rate of the weight.
    """
    groups: list[dict[str, Any]] = [
        {"params": list(parameters)},
        {"params": [weight], "lr": of_weight, "weight_decay": 0.0},
    ]
    return Adam(groups, lr=learning_rate, weight_decay=weight_decay, fused=True)


class LearningRate:
    """Sets the learning rates of an optimiser for a step, from the number of the step alone.

    Args:
        optimiser: each of its groups has its own peak, the rate it was made with.
        schedule: after the warm-up: stay, or fall to 0 in a straight line or half a cosine wave.
        steps: how many steps there are.
        warm_up: share of them in which the rate rises in a straight line.
    """

    def __init__(self, optimiser: Optimizer, schedule: Schedule, *, steps: int, warm_up: float) -> None:
        self._optimiser = optimiser
        self._peaks = [float(group["lr"]) for group in optimiser.param_groups]
        self._schedule = schedule
        self._steps = steps
        self._rising = round(warm_up * steps)

    def set(self, step: int) -> float:
        """Set the rates for a step, counted from 0; returns that of the first group."""
        factor = self.factor(step)
        for group, peak in zip(self._optimiser.param_groups, self._peaks, strict=True):
            group["lr"] = peak * factor
        return self._peaks[0] * factor

    def factor(self, step: int) -> float:
        """The share of its peak that the rate has in a step."""
        if step < self._rising:
            return (step + 1) / self._rising
        if self._schedule == "constant":
            return 1.0
        done = (step - self._rising) / (self._steps - self._rising)
        return 1 - done if self._schedule == "linear" else (1 + math.cos(math.pi * done)) / 2
