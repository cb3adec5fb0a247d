"""Max-margin triplet loss, as Basaldella et al. (2020) use it."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from nymlink.train.losses.base import Loss, require_positive
from nymlink.train.losses.geometry import distances


@dataclass(frozen=True, kw_only=True)
class Triplet(Loss):
    """The mean over the violated triplets of max(0, d(a, p) − d(a, n) + margin), d being Euclidean.

    Triplets are every positive of an anchor with every negative of it. Where the pairs were mined, these are more
    than the mined triplets; but as long as mining has the larger margin, the others are not violated and the loss
    is the same.

    Attributes:
        margin: how much farther away a negative must be.
    """

    margin: float = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive(margin=self.margin)

    def _terms(self, similarities: Tensor, positives: Tensor, negatives: Tensor) -> tuple[Tensor, Tensor]:
        apart = distances(similarities)
        # Anchors have few positives: a row for each positive pair is far less than the cube of all triplets.
        anchors, columns = positives.nonzero(as_tuple=True)
        violations = apart[anchors, columns][:, None] - apart[anchors] + self.margin
        violations = violations.clamp(min=0).masked_fill(~negatives[anchors], 0)
        return violations.sum(), (violations.detach() > 0).sum()
