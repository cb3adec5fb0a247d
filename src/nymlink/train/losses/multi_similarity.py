"""Multi-similarity loss, the loss of SapBERT.

Wang et al., "Multi-Similarity Loss with General Pair Weighting for Deep Metric Learning" (CVPR 2019); Liu et al.,
"Self-Alignment Pretraining for Biomedical Entity Representations" (NAACL 2021), equation 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from nymlink.train.losses.base import Loss, require_positive
from nymlink.train.losses.masked import log_one_plus_sum_exp


@dataclass(frozen=True, kw_only=True)
class MultiSimilarity(Loss):
    """Multi-similarity loss: 1/α · log(1 + Σ_p exp(−α (s_p − ε))) + 1/β · log(1 + Σ_n exp(β (s_n − ε))).

    The mean over all anchors, including those without pairs.

    Attributes:
        alpha: scale α of the positives.
        beta: scale β of the negatives.
        epsilon: offset ε of the similarities.
        alpha_on: ``"positives"`` as in Wang et al. and in the authors' code. The equation printed in Liu et al.
            has α in the term of the negatives: ``"negatives"`` exchanges the two.
    """

    alpha: float = 1.0
    beta: float = 60.0
    epsilon: float = 0.5
    alpha_on: Literal["positives", "negatives"] = "positives"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive(alpha=self.alpha, beta=self.beta)
        if self.alpha_on not in ("positives", "negatives"):
            raise ValueError(f"alpha_on must be positives or negatives, not {self.alpha_on!r}")

    def _terms(self, similarities: Tensor, positives: Tensor, negatives: Tensor) -> tuple[Tensor, Tensor]:
        pull, push = self.alpha, self.beta
        if self.alpha_on == "negatives":
            pull, push = push, pull
        offset = similarities - self.epsilon
        losses = (
            log_one_plus_sum_exp(-pull * offset, positives) / pull
            + log_one_plus_sum_exp(push * offset, negatives) / push
        )
        return losses.sum(), losses.new_tensor(len(losses))
