"""InfoNCE, the cross entropy of temperature-scaled similarities.

Van den Oord et al., "Representation Learning with Contrastive Predictive Coding" (2018), equation 4; with a
temperature: He et al., "Momentum Contrast for Unsupervised Visual Representation Learning" (CVPR 2020), equation
    1.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor
from torch.nn.functional import softplus

from nymlink.train.losses.base import Loss, require_positive
from nymlink.train.losses.masked import log_sum_exp


@dataclass(frozen=True, kw_only=True)
class InfoNce(Loss):
    """InfoNCE: −log(exp(s_p / τ) / (exp(s_p / τ) + Σ_n exp(s_n / τ))).

    The mean over positive pairs (a, p); n are the negatives of the anchor a. Its other positives are not in the
    denominator.

    Attributes:
        temperature: τ, which divides the similarities; 0.07 in He et al., 0.5 in van den Oord et al.
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
