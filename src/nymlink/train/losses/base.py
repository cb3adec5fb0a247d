"""Base of losses: their interface, distances, masks, mining.

Liu et al., "Self-Alignment Pretraining for Biomedical Entity Representations" (NAACL 2021), equation 1.

All matrices have the shape A anchors × M pool rows. The pool is the batch. The anchors are all rows of the batch,
or some of them if processes or pieces share the batch.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, fields
from typing import Any, Final

import torch
from torch import Tensor
from torch.nn.functional import normalize

from nymlink.core.errors import NymlinkError

_SAME_POINT: Final = 1e-6
"""Smallest squared distance that counts: a smaller one may be the rounding error of a float32 similarity."""


def similarities(anchors: Tensor, pool: Tensor) -> Tensor:
    """Compute cosine similarities in float32 or a higher precision, because mining compares small differences.

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

    Distances below 0.001 become 0, with a gradient of 0. Otherwise the gradient of the root could be infinite.
    """
    squared = squared_distances(similarities)
    apart = squared > _SAME_POINT
    return torch.where(apart, torch.where(apart, squared, 1.0).sqrt(), 0.0)


def at_least_float32(values: Tensor) -> Tensor:
    """Raise half-precision values to float32; leave others as they are."""
    return values.to(torch.promote_types(values.dtype, torch.float32))


def log_sum_exp(values: Tensor, pairs: Tensor) -> Tensor:
    """Compute log Σ exp over the pairs of each row.

    Args:
        values: (A, M).
        pairs: bool (A, M): the values to sum.

    Returns:
        (A,). A row without pairs gets a very low finite value, because −∞ would make gradients NaN.
    """
    return _filled(values, pairs).logsumexp(1)


def log_one_plus_sum_exp(values: Tensor, pairs: Tensor) -> Tensor:
    """Compute log(1 + Σ exp) over the pairs of each row: (A,). A row without pairs gets 0."""
    return torch.cat([_filled(values, pairs), values.new_zeros(len(values), 1)], dim=1).logsumexp(1)


def _filled(values: Tensor, pairs: Tensor) -> Tensor:
    return values.masked_fill(~pairs, torch.finfo(values.dtype).min / 4)


def mine(
    distances: Tensor, labels: Tensor, pool_labels: Tensor, self_columns: Tensor, margin: float | None
) -> tuple[Tensor, Tensor]:
    """Find the positive and negative pairs of hard triplets.

    A triplet (a, p, n) has an anchor a, a name p of its concept, and a name n of another concept. The triplet is
    hard if d(a, n) − d(a, p) ≤ margin. It has a positive pair (a, p) and a negative pair (a, n). The search
    compares each positive with the anchor's nearest negative only, and each negative with the anchor's farthest
    positive only. The result is the same, with O(A · M) operations instead of O(A · M²).

    Args:
        distances: (A, M): Euclidean distances of anchors to pool rows.
        labels: integers (A,): concept of each anchor.
        pool_labels: integers (M,): concept of each pool row.
        self_columns: integers (A,): pool row of each anchor itself. An anchor makes no pair with its own row, but
            makes an ordinary positive pair with another row of the same text.
        margin: how much farther than the positive a hard negative may be; ``None`` to return all pairs.

    Returns:
        Positives and negatives, bool (A, M) each.

    Raises:
        NymlinkError: a distance is not finite: the weights have diverged.
    """
    positives = labels[:, None] == pool_labels[None, :]
    negatives = ~positives
    positives[torch.arange(len(labels), device=labels.device), self_columns] = False
    if margin is None:
        return positives, negatives
    distances = distances.detach()
    if not torch.isfinite(distances).all():
        raise NymlinkError("the encoder's vectors are no longer finite numbers")
    nearest_negative = distances.masked_fill(~negatives, torch.inf).amin(1, keepdim=True)
    farthest_positive = distances.masked_fill(~positives, -torch.inf).amax(1, keepdim=True)
    return (
        positives & (nearest_negative - distances <= margin),
        negatives & (distances - farthest_positive <= margin),
    )


@dataclass(frozen=True, kw_only=True)
class Loss(ABC):
    """A loss over the pairs of a batch. The fields of a subclass are the settings of the loss.

    A loss is the mean of its terms. A term belongs to an anchor, a pair or a triplet. If a batch is split into
    parts, its loss is the mean of all terms, not the mean of the parts' losses. To compute it, add up the parts'
    sums and counts from :meth:`sum_and_count`.
    """

    def __post_init__(self) -> None:
        """Raise ``ValueError`` for a setting that is not a finite number. Subclasses also check ranges."""
        for setting in fields(self):
            value = getattr(self, setting.name)
            if setting.type in (float, "float") and not _is_finite(value):
                raise ValueError(f"{setting.name} must be a finite number, not {value!r}")

    def __call__(self, similarities: Tensor, positives: Tensor, negatives: Tensor) -> Tensor:
        """Compute the loss of a batch.

        Args:
            similarities: (A, M): cosine similarities of A anchors to M pool rows.
            positives: bool (A, M): pairs to pull together; see :func:`mine`.
            negatives: bool (A, M): pairs to push apart.

        Returns:
            (): mean of the terms, at least 0. If there are no terms, the loss and its gradients are 0.

        Raises:
            ValueError: the shapes differ.
        """
        total, count = self.sum_and_count(similarities, positives, negatives)
        return total / count.clamp(min=1)

    def sum_and_count(self, similarities: Tensor, positives: Tensor, negatives: Tensor) -> tuple[Tensor, Tensor]:
        """Compute the sum of the terms (a scalar with a gradient), and the number of terms.

        Raises:
            ValueError: the shapes differ.
        """
        shapes = {tuple(similarities.shape), tuple(positives.shape), tuple(negatives.shape)}
        if len(shapes) != 1 or similarities.ndim != 2:
            raise ValueError(
                f"similarities, positives and negatives must have one shape (A, M), not {sorted(shapes)}"
            )
        with torch.autocast(similarities.device.type, enabled=False):
            return self._terms(at_least_float32(similarities), positives, negatives)

    @abstractmethod
    def _terms(self, similarities: Tensor, positives: Tensor, negatives: Tensor) -> tuple[Tensor, Tensor]:
        """Compute the sum and the number of the terms. :meth:`sum_and_count` has checked the input."""

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as JSON values."""
        return asdict(self)


def _is_finite(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def require_positive(**settings: float) -> None:
    """Raise ``ValueError`` for a setting that is not above 0."""
    for name, value in settings.items():
        if not value > 0:
            raise ValueError(f"{name} must be above 0, not {value}")
