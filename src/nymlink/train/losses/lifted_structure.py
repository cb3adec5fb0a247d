"""Lifted structure loss (Oh Song et al. 2016, equation 4)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from nymlink.train.losses.base import Loss, require_positive
from nymlink.train.losses.geometry import distances
from nymlink.train.losses.masked import log_sum_exp


@dataclass(frozen=True, kw_only=True)
class LiftedStructure(Loss):
    """Pulls both names of a pair together, and the negatives of either away.

    Half the mean over positive pairs (i, j) of max(0, J)², where
    J = log(Σ_n∈N_i exp(margin − d(i, n)) + Σ_n∈N_j exp(margin − d(j, n))) + d(i, j), d being Euclidean.
    The negatives of j are in its own row: anchors and pool must be the same rows in the same order.

    Attributes:
        margin: how far away negatives should be.
    """

    margin: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive(margin=self.margin)

    def _terms(self, similarities: Tensor, positives: Tensor, negatives: Tensor) -> tuple[Tensor, Tensor]:
        if similarities.shape[0] != similarities.shape[1]:
            raise ValueError(
                "lifted structure needs the similarities of all rows to all rows, not those of "
                f"{similarities.shape[0]} anchors to {similarities.shape[1]} rows"
            )
        apart = distances(similarities)
        crowding = log_sum_exp(self.margin - apart, negatives)
        first, second = positives.nonzero(as_tuple=True)
        violations = torch.logaddexp(crowding[first], crowding[second]) + apart[first, second]
        return violations.clamp(min=0).square().sum() / 2, positives.sum()
