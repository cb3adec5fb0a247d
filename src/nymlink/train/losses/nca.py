"""Neighbourhood components analysis (Goldberger et al. 2004)."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor
from torch.nn.functional import softplus

from nymlink.train.losses.base import Loss, require_positive
from nymlink.train.losses.geometry import squared_distances
from nymlink.train.losses.masked import log_sum_exp


@dataclass(frozen=True, kw_only=True)
class Nca(Loss):
    """The mean over anchors with a positive of −log of the chance to choose one of their positives.

    A neighbour is chosen among the anchor's positives and negatives with a probability proportional to
    exp(−scale · d²). With mining, these are the mined ones; the released code instead lets all rows be chosen and
    weights an anchor by how many mined triplets it is in.

    Attributes:
        scale: how fast the probability falls with the squared distance.
    """

    scale: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive(scale=self.scale)

    def _terms(self, similarities: Tensor, positives: Tensor, negatives: Tensor) -> tuple[Tensor, Tensor]:
        logits = -self.scale * squared_distances(similarities)
        # −log(P / (P + N)) = log(1 + N / P)
        losses = softplus(log_sum_exp(logits, negatives) - log_sum_exp(logits, positives))
        counted = positives.any(1)
        return losses.masked_fill(~counted, 0).sum(), counted.sum()
