"""InfoNCE, the normalised and temperature-scaled cross entropy (van den Oord et al. 2018; He et al. 2020)."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor
from torch.nn.functional import softplus

from nymlink.train.losses.base import Loss, require_positive
from nymlink.train.losses.masked import log_sum_exp


@dataclass(frozen=True, kw_only=True)
class InfoNce(Loss):
    """The mean over positive pairs of −log of the softmax of the positive among it and the anchor's negatives.

    Other positives of the anchor are in no denominator.

    Attributes:
        temperature: divides the similarities; He et al. take 0.07, van den Oord et al. 0.5.
    """

    temperature: float = 0.07

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive(temperature=self.temperature)

    def _terms(self, similarities: Tensor, positives: Tensor, negatives: Tensor) -> tuple[Tensor, Tensor]:
        logits = similarities / self.temperature
        # −log(p / (p + N)) = log(1 + N / p)
        losses = softplus(log_sum_exp(logits, negatives)[:, None] - logits)
        return losses.masked_fill(~positives, 0).sum(), positives.sum()
