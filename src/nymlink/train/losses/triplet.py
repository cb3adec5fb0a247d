"""Max-margin triplet loss, as in Basaldella et al. (EMNLP 2020)."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from nymlink.train.losses.base import Loss, require_positive
from nymlink.train.losses.geometry import distances


@dataclass(frozen=True, kw_only=True)
class Triplet(Loss):
    """Triplet loss: max(0, d(a, p) − d(a, n) + margin), where d is the Euclidean distance.

    The mean over the violated triplets (a, p, n): every positive of an anchor with every negative of it. From
    mined pairs that makes more triplets than were mined; but while mining has the larger margin, the others are
    not violated and the loss is the same.

    Attributes:
        margin: how much farther than the positive a negative should be.
    """

    margin: float = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive(margin=self.margin)

    def _terms(self, similarities: Tensor, positives: Tensor, negatives: Tensor) -> tuple[Tensor, Tensor]:
        euclidean = distances(similarities)
        # Anchors have few positives: a row for each positive pair takes far less memory than all triplets.
        anchors, columns = positives.nonzero(as_tuple=True)
        violations = euclidean[anchors, columns][:, None] - euclidean[anchors] + self.margin
        violations = violations.clamp(min=0).masked_fill(~negatives[anchors], 0)
        return violations.sum(), (violations.detach() > 0).sum()
