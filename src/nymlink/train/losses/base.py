"""The base class of losses: frozen settings, and one method on the similarities and pairs of a batch."""

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

    A loss is the mean of terms, one for each anchor, pair or triplet (each subclass says which). The loss of a
    batch that is split over processes or pieces is the mean of all terms, not the mean of the parts' means: add up
    the results of :meth:`sum_and_count`.
    """

    def __post_init__(self) -> None:
        """Check that numeric settings are finite numbers; a subclass adds their ranges.

        Raises:
            ValueError: a setting is no finite number; the message names it.
        """
        for setting in fields(self):
            value = getattr(self, setting.name)
            if setting.type in (float, "float") and not _is_finite(value):
                raise ValueError(f"{setting.name} must be a finite number, not {value!r}")

    def __call__(self, similarities: Tensor, positives: Tensor, negatives: Tensor) -> Tensor:
        """Compute the loss of a batch.

        Args:
            similarities: (A, M): cosine similarities of A anchors to M pool rows; half precision is raised to
                float32.
            positives: bool (A, M): the pairs to pull together; see :func:`~nymlink.train.losses.mining.mine`.
            negatives: bool (A, M): the pairs to push apart.

        Returns:
            (): the mean of the terms, at least 0; 0 (with a gradient of zeros) where there is no term.

        Raises:
            ValueError: the three arguments are not of one shape (A, M).
        """
        total, count = self.sum_and_count(similarities, positives, negatives)
        return total / count.clamp(min=1)

    def sum_and_count(self, similarities: Tensor, positives: Tensor, negatives: Tensor) -> tuple[Tensor, Tensor]:
        """Compute the sum of the terms (a scalar with a gradient) and their number (a scalar without one).

        Raises:
            ValueError: the three arguments are not of one shape (A, M).
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
        """Compute the sum and number of the terms from checked inputs; to be written by a subclass."""

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as JSON values."""
        return asdict(self)


def _is_finite(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def require_positive(**settings: float) -> None:
    """Check that settings are above 0.

    Raises:
        ValueError: a setting is not; the message names it.
    """
    for name, value in settings.items():
        if not value > 0:
            raise ValueError(f"{name} must be above 0, not {value}")
