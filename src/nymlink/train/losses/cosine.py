"""Cosine embedding loss (PyTorch's ``CosineEmbeddingLoss``)."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from nymlink.train.losses.base import Loss


@dataclass(frozen=True, kw_only=True)
class Cosine(Loss):
    """Cosine embedding loss: 1 − s for a positive pair, max(0, s − margin) for a negative pair.

    The mean over all pairs. Liu et al. (2021, appendix B.2) compare with it, after Phan et al. (2019), but
    released no code for it.

    Attributes:
        margin: the similarity below which a negative costs nothing.
    """

    margin: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not -1 <= self.margin < 1:
            raise ValueError(f"margin must be at least -1 and below 1, not {self.margin}")

    def _terms(self, similarities: Tensor, positives: Tensor, negatives: Tensor) -> tuple[Tensor, Tensor]:
        pull = (1 - similarities).clamp(min=0).masked_fill(~positives, 0)
        push = (similarities - self.margin).clamp(min=0).masked_fill(~negatives, 0)
        return pull.sum() + push.sum(), positives.sum() + negatives.sum()
