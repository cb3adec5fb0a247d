"""Lifted structure loss.

Oh Song et al., "Deep Metric Learning via Lifted Structured Feature Embedding" (CVPR 2016), equation 4.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from nymlink.train.losses.base import Loss, require_positive
from nymlink.train.losses.geometry import distances
from nymlink.train.losses.masked import log_sum_exp


@dataclass(frozen=True, kw_only=True)
class LiftedStructure(Loss):
    """Lifted structure loss: ½ max(0, J)² of each positive pair (i, j).

    J = log(Σ_n∈N_i exp(margin − d(i, n)) + Σ_n∈N_j exp(margin − d(j, n))) + d(i, j), where d is the Euclidean
    distance. The mean over positive pairs. The negatives of j are read from row j: anchors and pool must be the
    same rows in the same order.

    Attributes:
        margin: the distance below which negatives cost most.
    """

    margin: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive(margin=self.margin)

    def _terms(self, similarities: Tensor, positives: Tensor, negatives: Tensor) -> tuple[Tensor, Tensor]:
        if similarities.shape[0] != similarities.shape[1]:
            raise ValueError(
                "the lifted structure loss needs the similarities of all rows to all rows (a square matrix), not "
                f"those of {similarities.shape[0]} anchors to {similarities.shape[1]} rows"
            )
        euclidean = distances(similarities)
        negative_terms = log_sum_exp(self.margin - euclidean, negatives)
        first, second = positives.nonzero(as_tuple=True)
        violations = torch.logaddexp(negative_terms[first], negative_terms[second]) + euclidean[first, second]
        return violations.clamp(min=0).square().sum() / 2, positives.sum()
