"""Multi-similarity loss (Wang et al. 2019), with which Liu et al. (2021) train."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from nymlink.train.losses.base import Loss, require_positive
from nymlink.train.losses.masked import log_one_plus_sum_exp


@dataclass(frozen=True, kw_only=True)
class MultiSimilarity(Loss):
    """Pulls far positives and pushes near negatives the harder the farther and nearer they are.

    The mean over all anchors, those without pairs included, of
    1/α · log(1 + Σ_p exp(−α (s_p − ε))) + 1/β · log(1 + Σ_n exp(β (s_n − ε))).

    Attributes:
        alpha: scale of the positives.
        beta: scale of the negatives.
        epsilon: the similarity from which pairs are measured.
        alpha_on: ``"positives"`` as in the released code and in Wang et al. The equation printed in Liu et al. has
            α in the term of the negatives: ``"negatives"`` exchanges the two.
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
        beyond = similarities - self.epsilon
        losses = (
            log_one_plus_sum_exp(-pull * beyond, positives) / pull
            + log_one_plus_sum_exp(push * beyond, negatives) / push
        )
        return losses.sum(), losses.new_tensor(len(losses))
