"""The loss of synonym marginalisation.

Sung et al., "Biomedical Entity Representations with Synonym Marginalization" (ACL 2020).
"""

from __future__ import annotations

import math

from torch import Tensor


def marginal_likelihood_loss(scores: Tensor, positives: Tensor) -> Tensor:
    """Minus the logarithm of the probability that a softmax over the candidates gives to all positives together.

    Both sums stay logarithms, so that neither vanishes however far apart the scores are. The release tests whether
    the sum of probabilities is above 0, and so leaves out those rows too from which most is to be learned.

    Args:
        scores: float (B, k): of the candidates of each query; ``-inf`` where it has fewer.
        positives: bool (B, k): whether a candidate is a name of what the query means.

    Returns:
        (): the mean over those rows that have a positive; 0 where none has.
    """
    with_positive = positives.any(1)
    scores, positives = scores[with_positive], positives[with_positive]
    rows = scores.logsumexp(1) - scores.masked_fill(~positives, -math.inf).logsumexp(1)
    return rows.sum() / max(len(rows), 1)
