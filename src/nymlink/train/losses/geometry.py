"""Cosine similarities and Euclidean distances of unit vectors, which mining and losses are computed from."""

from __future__ import annotations

from typing import Final

import torch
from torch import Tensor
from torch.nn.functional import normalize

_SAME_POINT: Final = 1e-6
"""Squared distances below this cannot be told from the rounding of a float32 similarity."""


def similarities(anchors: Tensor, pool: Tensor) -> Tensor:
    """Compute cosine similarities, in float32 at least and without autocasting: mining compares their differences.

    Args:
        anchors: (A, D), of any length.
        pool: (M, D).

    Returns:
        (A, M).
    """
    with torch.autocast(anchors.device.type, enabled=False):
        return normalize(at_least_float32(anchors)) @ normalize(at_least_float32(pool)).T


def squared_distances(similarities: Tensor) -> Tensor:
    """Compute squared Euclidean distances of unit vectors from their cosine similarities: 2 − 2 s, at least 0."""
    return (2 - 2 * similarities).clamp(min=0)


def distances(similarities: Tensor) -> Tensor:
    """Compute Euclidean distances of unit vectors from their cosine similarities: √(2 − 2 s).

    Distances below 0.001 are set to 0, with a gradient of 0: that of the root would be infinite.
    """
    squared = squared_distances(similarities)
    apart = squared > _SAME_POINT
    return torch.where(apart, torch.where(apart, squared, 1.0).sqrt(), 0.0)


def at_least_float32(values: Tensor) -> Tensor:
    """Raise half-precision values to float32; leave others as they are."""
    return values.to(torch.promote_types(values.dtype, torch.float32))
