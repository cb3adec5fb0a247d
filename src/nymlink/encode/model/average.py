"""The average of the weights of encoders."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from pathlib import Path

import torch

from nymlink.core.errors import InputError
from nymlink.encode.model.folder import require_single
from nymlink.encode.model.torch_model import TorchModel


def average(encoders: Sequence[str | Path], *, weights: Sequence[float] | None = None) -> TorchModel:
    """Average the weights of encoders.

    The mean of an encoder before and after a training keeps more of what the encoder knew before (Wortsman et al.,
    "Robust fine-tuning of zero-shot models", CVPR 2022, section 3: WiSE-FT). The mean of several trainings of one
    encoder is a model soup (Wortsman et al., ICML 2022). The mean is useful only if all encoders were trained from
    the same encoder.

    Args:
        encoders: at least two folders, or names of models on the hub or of installed encoders. Pooling and length
            are taken from the first.
        weights: the weight of each encoder, at least 0, not all 0; ``None`` for equal weights.

    Raises:
        InputError: there is no such encoder, or they do not have the same tensors, tokens and pooling, or the
            weights are below 0 or all 0.
        StoreError: the adapters of an encoder are damaged, or were trained on other weights.
    """
    shares = _shares(len(encoders), weights)
    first, *others = encoders
    for each in encoders:
        require_single(each, "averaged")
    model = TorchModel.load(first)
    mean = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    for tensor in _floats(mean):
        tensor.mul_(shares[0])
    for other, share in zip(others, shares[1:], strict=True):
        other_model = TorchModel.load(other)
        if difference := _difference(model, other_model):
            raise InputError(
                f"{other} and {first} cannot be averaged: they differ in {difference}; average encoders that were "
                "trained from the same one"
            )
        for tensor, own in zip(_floats(mean), _floats(other_model.state_dict()), strict=True):
            tensor.add_(own, alpha=share)
    model.load_state_dict(mean)
    return model


def _shares(count: int, weights: Sequence[float] | None) -> list[float]:
    if count < 2:
        raise InputError("a mean needs two encoders or more")
    if weights is None:
        return [1 / count] * count
    total = sum(weights)
    if len(weights) != count:
        raise InputError(f"there are {count} encoders, but {len(weights)} weights: give one for each")
    if not isfinite(total) or min(weights) < 0 or total <= 0:
        raise InputError(f"weights must be at least 0 and not all 0, not {', '.join(map(str, weights))}")
    return [weight / total for weight in weights]


def _floats(tensors: dict[str, torch.Tensor]) -> list[torch.Tensor]:
    """Select the learned tensors. Tensors of integers (positions) are the same in all encoders."""
    return [tensor for tensor in tensors.values() if tensor.is_floating_point()]


def _difference(first: TorchModel, other: TorchModel) -> str | None:
    """Name a difference that makes the mean of two encoders meaningless; ``None`` if there is none."""
    shapes = [[(name, tensor.shape) for name, tensor in model.state_dict().items()] for model in (first, other)]
    if shapes[0] != shapes[1]:
        return "their tensors"
    if first.tokenizer.get_vocab() != other.tokenizer.get_vocab():
        return "their tokens"
    if first.settings.pooling != other.settings.pooling:
        return f"their pooling ({other.settings.pooling}, {first.settings.pooling})"
    return None
