"""Circle loss.

Sun et al., "Circle Loss: A Unified Perspective of Pair Similarity Optimization" (CVPR 2020), equation 6.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor
from torch.nn.functional import softplus

from nymlink.train.losses.base import Loss, require_positive
from nymlink.train.losses.masked import log_sum_exp


@dataclass(frozen=True, kw_only=True)
class Circle(Loss):
    """Circle loss: log(1 + Σ_n exp(γ w_n (s_n − m)) · Σ_p exp(−γ w_p (s_p − 1 + m))).

    The mean over anchors that have a positive and a negative. The weights w_p = max(0, 1 + m − s_p) and
    w_n = max(0, s_n + m) have no gradient: a pair that is far from its optimum counts more.

    Attributes:
        m: relaxation margin m; similarities of positives should be above 1 − m, those of negatives below m.
        gamma: scale γ.
    """

    m: float = 0.4
    gamma: float = 80.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive(m=self.m, gamma=self.gamma)

    def _terms(self, similarities: Tensor, positives: Tensor, negatives: Tensor) -> tuple[Tensor, Tensor]:
        fixed = similarities.detach()
        pull = -self.gamma * (1 + self.m - fixed).clamp(min=0) * (similarities - 1 + self.m)
        push = self.gamma * (fixed + self.m).clamp(min=0) * (similarities - self.m)
        losses = softplus(log_sum_exp(push, negatives) + log_sum_exp(pull, positives))
        counted = positives.any(1) & negatives.any(1)
        return losses.masked_fill(~counted, 0).sum(), counted.sum()
