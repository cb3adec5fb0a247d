"""The mean of encoders: one whose weights lie between those of others."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from pathlib import Path

import torch

from nymlink.core.errors import InputError
from nymlink.encode.model.torch_model import TorchModel


def average(encoders: Sequence[str | Path], *, weights: Sequence[float] | None = None) -> TorchModel:
    """The encoder whose weights are the mean of those of others.

    Of an encoder and what it became in training, that keeps more of what the start knew (Wortsman et al., "Robust
    fine-tuning of zero-shot models", CVPR 2022, section 3: WiSE-FT); of several trainings of one start it is a
    model soup (Wortsman et al., ICML 2022). Encoders that were not made of one start have no useful mean.

    Args:
        encoders: folders, names of models on the hub, or of an embedded encoder; at least two. Pooling and length
            are those of the first.
        weights: how much each counts, at least 0, not all 0; the same for all if ``None``.

    Raises:
        InputError: there is no such encoder, or they do not have the same tensors, tokens and pooling, or the
            weights do not allow a mean.
        StoreError: the adapters of one are damaged, or were trained on other weights.
    """
    shares = _shares(len(encoders), weights)
    found, *others = encoders
    model = TorchModel.load(found)
    mean = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    for tensor in _floats(mean):
        tensor.mul_(shares[0])
    for other, share in zip(others, shares[1:], strict=True):
        one = TorchModel.load(other)
        if difference := _difference(model, one):
            raise InputError(
                f"{other} and {found} have no mean: they differ in {difference}; average encoders of one start"
            )
        for tensor, own in zip(_floats(mean), _floats(one.state_dict()), strict=True):
            tensor.add_(own, alpha=share)
    model.load_state_dict(mean)
    return model


def _shares(count: int, weights: Sequence[float] | None) -> list[float]:
    if count < 2:
        raise InputError("a mean takes two encoders or more")
    if weights is None:
        return [1 / count] * count
    total = sum(weights)
    if len(weights) != count:
        raise InputError(f"there are {count} encoders, but {len(weights)} weights: give one for each")
    if not isfinite(total) or min(weights) < 0 or total <= 0:
        raise InputError(f"weights must be at least 0 and not all 0, not {', '.join(map(str, weights))}")
    return [weight / total for weight in weights]


def _floats(tensors: dict[str, torch.Tensor]) -> list[torch.Tensor]:
    """What is learned; whole numbers (positions) are the same in all."""
    return [tensor for tensor in tensors.values() if tensor.is_floating_point()]


def _difference(one: TorchModel, other: TorchModel) -> str | None:
    """In what two encoders differ that makes a mean of them meaningless; ``None`` if in nothing."""
    shapes = [[(name, tensor.shape) for name, tensor in model.state_dict().items()] for model in (one, other)]
    if shapes[0] != shapes[1]:
        return "their tensors"
    if one.tokenizer.get_vocab() != other.tokenizer.get_vocab():
        return "their tokens"
    if one.settings.pooling != other.settings.pooling:
        return f"their pooling ({other.settings.pooling}, {one.settings.pooling})"
    return None
