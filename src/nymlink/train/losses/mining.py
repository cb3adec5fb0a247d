"""Which pairs of a batch a loss looks at: the hard ones, found online (Liu et al. 2021, section 2).

Everything is said of a rectangle of A anchors × M pool rows. In the plain case the pool is the batch itself. Where
a batch is spread over processes, or its gradients are made in pieces, the anchors are some of the pool's rows.
"""

from __future__ import annotations

import torch
from torch import Tensor

from nymlink.core.errors import NymlinkError


def mine(
    distances: Tensor, labels: Tensor, pool_labels: Tensor, self_columns: Tensor, margin: float | None
) -> tuple[Tensor, Tensor]:
    """The pairs that belong to a hard triplet.

    A triplet of an anchor, a name of its concept and a name of another is kept when the other is not farther away
    than the name of its own by more than the margin: d(a, n) − d(a, p) ≤ margin. Each kept triplet gives (a, p) to
    the positives and (a, n) to the negatives. Both are sets: a pair of many triplets counts once. No triplet is
    ever looked at: a positive pair is in one if and only if it is in one with the anchor's nearest negative, a
    negative pair if it is in one with the anchor's farthest positive. That takes O(A · M), not O(A · M²).

    Args:
        distances: (A, M): Euclidean distances of anchors to pool rows; see
            :func:`~nymlink.train.losses.geometry.distances`.
        labels: integers (A,): the concept of each anchor.
        pool_labels: integers (M,): the concept of each pool row.
        self_columns: integers (A,): the pool row that is the anchor itself, in no pair with it. Another row with
            the same text is a positive like any other.
        margin: how much farther a negative may be; ``None`` switches mining off: all pairs.

    Returns:
        Positives and negatives, bool (A, M) each.

    Raises:
        NymlinkError: a distance is not a finite number: the weights have diverged.
    """
    positives = labels[:, None] == pool_labels[None, :]
    negatives = ~positives
    positives[torch.arange(len(labels), device=labels.device), self_columns] = False
    if margin is None:
        return positives, negatives
    distances = distances.detach()
    if not torch.isfinite(distances).all():
        raise NymlinkError("the encoder's vectors are no longer finite numbers")
    nearest_negative = distances.masked_fill(~negatives, torch.inf).amin(1, keepdim=True)
    farthest_positive = distances.masked_fill(~positives, -torch.inf).amax(1, keepdim=True)
    return (
        positives & (nearest_negative - distances <= margin),
        negatives & (distances - farthest_positive <= margin),
    )
