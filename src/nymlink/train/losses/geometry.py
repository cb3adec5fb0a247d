"""Cosine similarities and Euclidean distances of unit vectors: what mining and losses are computed from."""

from __future__ import annotations

from typing import Final

import torch
from torch import Tensor
from torch.nn.functional import normalize

_SAME_POINT: Final = 1e-6
"""Squared distances below this cannot be told from the rounding of a float32 similarity."""


def similarities(anchors: Tensor, pool: Tensor) -> Tensor:
    """Cosine similarities, in float32 at least and outside of autocasting: mining compares differences of them.

    Args:
        anchors: (A, D), of any length.
        pool: (M, D).

    Returns:
        (A, M).
    """
    with torch.autocast(anchors.device.type, enabled=False):
        return normalize(at_least_float32(anchors)) @ normalize(at_least_float32(pool)).T


def squared_distances(similarities: Tensor) -> Tensor:
    """Squared Euclidean distances of the unit vectors with these cosine similarities, never below zero."""
    return (2 - 2 * similarities).clamp(min=0)


def distances(similarities: Tensor) -> Tensor:
    """Euclidean distances of the unit vectors with these cosine similarities.

    Vectors nearer than 0.001 count as equal: their distance and its gradient are zero, as that of the root would
    not be.
    """
    squared = squared_distances(similarities)
    apart = squared > _SAME_POINT
    return torch.where(apart, torch.where(apart, squared, 1.0).sqrt(), 0.0)


def at_least_float32(values: Tensor) -> Tensor:
    """Half-precision values as float32; others as they are."""
    return values.to(torch.promote_types(values.dtype, torch.float32))
