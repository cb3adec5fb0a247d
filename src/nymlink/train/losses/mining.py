"""Online mining of hard pairs.

Liu et al., "Self-Alignment Pretraining for Biomedical Entity Representations" (NAACL 2021), equation 1.

All matrices have A anchors × M pool rows. Usually the pool is the batch itself. Where a batch is spread over
processes, or its gradients are computed in pieces, the anchors are some of the pool's rows.
"""

from __future__ import annotations

import torch
from torch import Tensor

from nymlink.core.errors import NymlinkError


def mine(
    distances: Tensor, labels: Tensor, pool_labels: Tensor, self_columns: Tensor, margin: float | None
) -> tuple[Tensor, Tensor]:
    """Find the positive and negative pairs that belong to a hard triplet.

    A triplet (a, p, n) of an anchor, a name of its concept and a name of another concept is hard when
    d(a, n) − d(a, p) ≤ margin. Each hard triplet adds (a, p) to the positives and (a, n) to the negatives; a pair
    of several triplets counts once. Triplets are not enumerated: a positive pair is in a hard triplet if and only
    if it is in one with the anchor's nearest negative, a negative pair if and only if it is in one with the
    anchor's farthest positive. So it takes O(A · M) operations, not O(A · M²).

    Args:
        distances: (A, M): Euclidean distances of anchors to pool rows; see
            :func:`~nymlink.train.losses.geometry.distances`.
        labels: integers (A,): the concept of each anchor.
        pool_labels: integers (M,): the concept of each pool row.
        self_columns: integers (A,): the pool row that is the anchor itself, which is in no pair with it. Another
            row with the same text is an ordinary positive.
        margin: how much farther than the positive a hard negative may be; ``None`` for no mining: all pairs.

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
