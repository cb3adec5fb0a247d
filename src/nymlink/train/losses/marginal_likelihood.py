"""Marginal maximum likelihood, the loss of synonym marginalisation.

Sung et al., "Biomedical Entity Representations with Synonym Marginalization" (ACL 2020), section 3.
"""

from __future__ import annotations

import math

from torch import Tensor


def marginal_likelihood_loss(scores: Tensor, positives: Tensor) -> Tensor:
    """Compute −log Σ_p P(p): the negative log of the total softmax probability of a query's positives.

    Both sums are computed as logarithms, so that neither underflows. The authors' code drops rows whose summed
    probability is 0, which after underflow are those with most to learn from.

    Args:
        scores: float (B, k): scores of the candidates of each query; ``-inf`` where it has fewer than k.
        positives: bool (B, k): whether a candidate is a name of a gold concept of the query.

    Returns:
        (): the mean over the rows that have a positive; 0 where none has.
    """
    with_positive = positives.any(1)
    scores, positives = scores[with_positive], positives[with_positive]
    rows = scores.logsumexp(1) - scores.masked_fill(~positives, -math.inf).logsumexp(1)
    return rows.sum() / max(len(rows), 1)
