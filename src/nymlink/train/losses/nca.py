"""Neighbourhood components analysis (NCA).

Goldberger et al., "Neighbourhood Components Analysis" (NIPS 2004).
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor
from torch.nn.functional import softplus

from nymlink.train.losses.base import Loss, require_positive
from nymlink.train.losses.geometry import squared_distances
from nymlink.train.losses.masked import log_sum_exp


@dataclass(frozen=True, kw_only=True)
class Nca(Loss):
    """NCA loss: −log(Σ_p exp(−scale · d_p²) / (Σ_p exp(−scale · d_p²) + Σ_n exp(−scale · d_n²))).

    The mean over anchors that have a positive; d are Euclidean distances. Positives and negatives are the mined
    ones where there is mining. The code of Liu et al. (2021) instead sums over all rows and weights an anchor by
    the number of its mined triplets.

    Attributes:
        scale: factor of the squared distances.
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
