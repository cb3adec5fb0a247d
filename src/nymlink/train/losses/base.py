"""What every loss is: frozen settings and one method on the similarities and pairs of a batch."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, fields
from typing import Any

import torch
from torch import Tensor

from nymlink.train.losses.geometry import at_least_float32


@dataclass(frozen=True, kw_only=True)
class Loss(ABC):
    """A loss over the pairs of a batch; its settings are the fields of the subclass.

    It is the mean of terms: of anchors, pairs or triplets, as each loss says. The loss of a batch that is spread
    over processes or made in pieces is the mean of all their terms, not the mean of their means: add up what
    :meth:`sum_and_count` gives for each.
    """

    def __post_init__(self) -> None:
        """See that settings that are numbers are; a subclass adds their ranges.

        Raises:
            ValueError: one is not, or is not finite; the message names it.
        """
        for one in fields(self):
            value = getattr(self, one.name)
            if one.type in (float, "float") and not _is_finite(value):
                raise ValueError(f"{one.name} must be a finite number, not {value!r}")

    def __call__(self, similarities: Tensor, positives: Tensor, negatives: Tensor) -> Tensor:
        """The loss of a batch.

        Args:
            similarities: (A, M): cosine similarities of A anchors to M pool rows; half precision is computed in
                float32.
            positives: bool (A, M): the pairs to pull together; see :func:`~nymlink.train.losses.mining.mine`.
            negatives: bool (A, M): the pairs to push apart.

        Returns:
            A scalar, at least 0; 0 (with a gradient of zeros) where there is nothing to learn from.
        """
        total, count = self.sum_and_count(similarities, positives, negatives)
        return total / count.clamp(min=1)

    def sum_and_count(self, similarities: Tensor, positives: Tensor, negatives: Tensor) -> tuple[Tensor, Tensor]:
        """The sum of the terms (a scalar with a gradient) and their number (a scalar without one)."""
        shapes = {tuple(similarities.shape), tuple(positives.shape), tuple(negatives.shape)}
        if len(shapes) != 1 or similarities.ndim != 2:
            raise ValueError(f"similarities, positives and negatives must be one (A, M), not {sorted(shapes)}")
        with torch.autocast(similarities.device.type, enabled=False):
            return self._terms(at_least_float32(similarities), positives, negatives)

    @abstractmethod
    def _terms(self, similarities: Tensor, positives: Tensor, negatives: Tensor) -> tuple[Tensor, Tensor]:
        """What a subclass writes: :meth:`sum_and_count` of inputs that were seen to fit."""

    def to_dict(self) -> dict[str, Any]:
        """The settings."""
        return asdict(self)


def _is_finite(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def require_positive(**settings: float) -> None:
    """See that settings are above zero.

    Raises:
        ValueError: one is not; the message names it.
    """
    for name, value in settings.items():
        if not value > 0:
            raise ValueError(f"{name} must be above 0, not {value}")
