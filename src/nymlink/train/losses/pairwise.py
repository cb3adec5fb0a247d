"""Losses over pairs of names.

Circle: Sun et al., "Circle Loss: A Unified Perspective of Pair Similarity Optimization" (CVPR 2020), equation 6.

InfoNCE: Van den Oord et al., "Representation Learning with Contrastive Predictive Coding" (2018), equation 4; He
et al., "Momentum Contrast for Unsupervised Visual Representation Learning" (CVPR 2020), equation 1, add a
temperature.

Lifted structure: Oh Song et al., "Deep Metric Learning via Lifted Structured Feature Embedding" (CVPR 2016),
equation 4.

Multi-similarity: Wang et al., "Multi-Similarity Loss with General Pair Weighting for Deep Metric Learning" (CVPR
2019); Liu et al., "Self-Alignment Pretraining for Biomedical Entity Representations" (NAACL 2021), equation 2.

NCA: Goldberger et al., "Neighbourhood Components Analysis" (NIPS 2004).

Marginal likelihood: Sung et al., "Biomedical Entity Representations with Synonym Marginalization" (ACL 2020),
section 3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import softplus

from nymlink.train.losses.base import (
    Loss,
    distances,
    log_one_plus_sum_exp,
    log_sum_exp,
    require_positive,
    squared_distances,
)


@dataclass(frozen=True, kw_only=True)
class Circle(Loss):
    """Circle loss: log(1 + Σ_n exp(γ w_n (s_n − m)) · Σ_p exp(−γ w_p (s_p − 1 + m))).

    The loss is the mean over anchors that have a positive and a negative. The weights w_p = max(0, 1 + m − s_p)
    and w_n = max(0, s_n + m) are constants without a gradient. They give more weight to pairs far from their
    optimum.

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


@dataclass(frozen=True, kw_only=True)
class Cosine(Loss):
    """Cosine embedding loss: 1 − s for a positive pair, max(0, s − margin) for a negative pair.

    The loss is the mean over all pairs. Liu et al. (2021, appendix B.2) compare their loss with this one, but
    released no code for it.

    Attributes:
        margin: the similarity below which a negative costs nothing.
    """

    margin: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not -1 <= self.margin < 1:
            raise ValueError(f"margin must be at least -1 and below 1, not {self.margin}")

    def _terms(self, similarities: Tensor, positives: Tensor, negatives: Tensor) -> tuple[Tensor, Tensor]:
        pull = (1 - similarities).clamp(min=0).masked_fill(~positives, 0)
        push = (similarities - self.margin).clamp(min=0).masked_fill(~negatives, 0)
        return pull.sum() + push.sum(), positives.sum() + negatives.sum()


@dataclass(frozen=True, kw_only=True)
class InfoNce(Loss):
    """InfoNCE: −log(exp(s_p / τ) / (exp(s_p / τ) + Σ_n exp(s_n / τ))).

    The loss is the mean over positive pairs (a, p). The sum is over the negatives n of the anchor a. The
    denominator leaves out the anchor's other positives.

    Attributes:
        temperature: τ; 0.07 in He et al., 0.5 in van den Oord et al.
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


@dataclass(frozen=True, kw_only=True)
class LiftedStructure(Loss):
    """Lifted structure loss: ½ max(0, J)² of each positive pair (i, j).

    J = log(Σ_n∈N_i exp(margin − d(i, n)) + Σ_n∈N_j exp(margin − d(j, n))) + d(i, j), where d is the Euclidean
    distance and N_i are the negatives of i. The loss is the mean over positive pairs. Anchors and pool must be the
    same rows in the same order.

    Attributes:
        margin: the margin in J. Negatives nearer than this distance raise the loss most.
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


@dataclass(frozen=True, kw_only=True)
class MultiSimilarity(Loss):
    """Multi-similarity loss: 1/α · log(1 + Σ_p exp(−α (s_p − ε))) + 1/β · log(1 + Σ_n exp(β (s_n − ε))).

    The loss is the mean over all anchors, including anchors without pairs.

    Attributes:
        alpha: scale α of the positives.
        beta: scale β of the negatives.
        epsilon: offset ε of the similarities.
        alpha_on: ``"positives"`` as in Wang et al. and the code of Liu et al.; ``"negatives"`` exchanges the two
            scales, as the printed equation of Liu et al. does.
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


@dataclass(frozen=True, kw_only=True)
class Nca(Loss):
    """NCA loss: −log(Σ_p exp(−scale · d_p²) / (Σ_p exp(−scale · d_p²) + Σ_n exp(−scale · d_n²))).

    The loss is the mean over anchors with a positive, where d_p and d_n are Euclidean distances. The code of Liu
    et al. (2021) differs: it sums over all rows, mined or not, and weights an anchor by the number of its mined
    triplets.

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


@dataclass(frozen=True, kw_only=True)
class Triplet(Loss):
    """Triplet loss: max(0, d(a, p) − d(a, n) + margin), where d is the Euclidean distance.

    The loss is the mean over violated triplets (a, p, n), whose term is above 0. Each positive p of an anchor a
    forms a triplet with each of the anchor's negatives n. So mined pairs form more triplets than were mined. The
    additional triplets change nothing if the margin of mining is larger than this margin, because they are not
    violated.

    Attributes:
        margin: how much farther from the anchor a negative should be than a positive.
    """

    margin: float = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive(margin=self.margin)

    def _terms(self, similarities: Tensor, positives: Tensor, negatives: Tensor) -> tuple[Tensor, Tensor]:
        euclidean = distances(similarities)
        # Anchors have few positives, so a row for each positive pair takes little memory.
        anchors, columns = positives.nonzero(as_tuple=True)
        violations = euclidean[anchors, columns][:, None] - euclidean[anchors] + self.margin
        violations = violations.clamp(min=0).masked_fill(~negatives[anchors], 0)
        return violations.sum(), (violations.detach() > 0).sum()


def marginal_likelihood_loss(scores: Tensor, positives: Tensor) -> Tensor:
    """Compute −log Σ_p P(p): the negative log of the total softmax probability of a query's positives.

    The computation uses the logarithms of both sums, which do not underflow. The authors' code computes
    probabilities, and drops rows whose probability underflows, although these rows would teach the model most.

    Args:
        scores: float (B, k): scores of the candidates of each query; ``-inf`` for missing ones.
        positives: bool (B, k): candidates that name a gold concept of the query.

    Returns:
        (): mean over the rows with a positive; 0 if there are no such rows.
    """
    with_positive = positives.any(1)
    scores, positives = scores[with_positive], positives[with_positive]
    rows = scores.logsumexp(1) - scores.masked_fill(~positives, -math.inf).logsumexp(1)
    return rows.sum() / max(len(rows), 1)
