"""The prototype-based triplet loss and soft-radius neighbours, for contextual re-ranking.

Le & Nguyen, "A metric learning-based method for biomedical entity linking" (Frontiers in Research Metrics and
Analytics 2023), sections 3.2.2 and 3.2.3. The mentions of one concept in one document are a cluster. The prototype
of a cluster is the mean of its mentions' vectors. The loss compares prototypes with concepts. For a cluster of one
mention, it equals the plain triplet loss.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


def triplet_loss(queries: Tensor, positives: Tensor, negatives: Tensor, *, margin: float) -> Tensor:
    """Compute the triplet hinge loss max(0, d⁺ − d⁻ + margin); Le & Nguyen (2023), equation 3.

    Args:
        queries: float (B, D): prototypes, or single mentions.
        positives: float (B, D): gold concepts, at the Euclidean distance d⁺.
        negatives: float (B, D): wrong concepts, at the Euclidean distance d⁻.
        margin: how much nearer the positive should be.

    Returns:
        (): the mean over B; 0 if B is 0.
    """
    rows = (row_distances(queries, positives) - row_distances(queries, negatives) + margin).relu()
    return rows.sum() / max(len(rows), 1)


def row_distances(first: Tensor, second: Tensor) -> Tensor:
    """Compute the Euclidean distances between the rows of two arrays.

    Both are float (…, D), the result is (…). The gradient of equal rows is 0.
    """
    norms: Tensor = torch.linalg.vector_norm(first - second, dim=-1)
    return norms


def prototypes(vectors: Tensor, groups: Tensor, members: Tensor, count: int) -> Tensor:
    """Compute the mean vector of the members of each group.

    Args:
        vectors: float (M, D).
        groups: int64 (M): group of each vector.
        members: bool (M): the vectors to include; each group needs at least one.
        count: B, the number of groups.

    Returns:
        float (B, D).
    """
    member_groups = groups[members]
    sums = vectors.new_zeros(count, vectors.shape[1]).index_add(0, member_groups, vectors[members])
    return sums / torch.bincount(member_groups, minlength=count).unsqueeze(1)


def group_maxima(values: Tensor, groups: Tensor, members: Tensor, count: int) -> Tensor:
    """Compute the largest value of the members of each group: float (M) → (B), at least 0."""
    return values.new_zeros(count).scatter_reduce(0, groups[members], values[members], "amax")


def central_members(vectors: Tensor, groups: Tensor, count: int) -> Tensor:
    """Find the member of each group that is nearest to the group's prototype: int64 (B). The first wins a tie."""
    everyone = torch.ones_like(groups, dtype=torch.bool)
    distances = row_distances(vectors, prototypes(vectors, groups, everyone, count)[groups])
    order = torch.argsort(distances, stable=True)
    order = order[torch.argsort(groups[order], stable=True)]
    sizes = torch.bincount(groups, minlength=count)
    return order[sizes.cumsum(0) - sizes]


def nearest_candidates(
    anchors: Tensor, concepts: Tensor, candidates: Tensor, allowed: Tensor, *, count: int
) -> Tensor:
    """Find the nearest allowed candidates of each anchor.

    Args:
        anchors: float (B, D).
        concepts: float (C, D).
        candidates: int64 (B, k): rows of concepts.
        allowed: bool (B, k): the candidates to choose from.
        count: number of candidates to find, at most k.

    Returns:
        int64 (B, min(count, k)): rows of concepts, the nearest first. −1 fills the places after the last
        candidate.
    """
    distances = row_distances(anchors.unsqueeze(1), concepts[candidates].float()).masked_fill(~allowed, math.inf)
    places = torch.argsort(distances, dim=1, stable=True)[:, :count]
    return candidates.gather(1, places).masked_fill(~allowed.gather(1, places), -1)


def nearest_concept(anchors: Tensor, concepts: Tensor, allowed: Tensor) -> Tensor:
    """Find the nearest allowed concept of each anchor; all anchors share the concepts.

    Args:
        anchors: float (B, D).
        concepts: float (P, D), at least one.
        allowed: bool (B, P): the concepts to choose from.

    Returns:
        int64 (B): rows of concepts; −1 if no concept is allowed. The first concept wins a tie.
    """
    # cdist does not keep the B × P × D differences in memory. Its faster mode with matrix products is off, because
    # rounding would change the order.
    distances = torch.cdist(anchors, concepts.float(), compute_mode="donot_use_mm_for_euclid_dist")
    rows = distances.masked_fill(~allowed, math.inf).argmin(1)
    return rows.masked_fill(~allowed.any(1), -1)


class SoftRadius(nn.Module):
    """The learned radius of an anchor's neighbours; Le & Nguyen (2023), algorithm 1.

    Args:
        radius: initial radius λ, in the lengths of the encoder.
        tolerance: initial ε: how far beyond the radius a mention still counts as a neighbour.
        spread: 0 keeps ε constant. Otherwise ε is this factor times a learned spread: the mean difference between
            the radius and the largest distances of clusters.
        singletons: whether the radius also learns from clusters of one mention, whose largest distance is 0.
        device: where the lengths are.

    Attributes:
        lengths: (2): the radius λ, and the spread.
    """

    def __init__(
        self, *, radius: float, tolerance: float, spread: float, singletons: bool, device: torch.device
    ) -> None:
        super().__init__()
        self._factor, self._learns_spread, self._singletons = spread or 1.0, bool(spread), singletons
        self.lengths = nn.Parameter(torch.tensor([radius, tolerance / self._factor], device=device))

    @property
    def threshold(self) -> float:
        """Largest distance of a neighbour: λ + ε."""
        radius, spread = self.lengths.tolist()
        return float(radius + spread * self._factor)

    def loss(self, farthest: Tensor, sizes: Tensor) -> Tensor:
        """Compute the loss of the radius, (λ − r)², plus the loss of a learned spread; algorithm 1, line 13.

        Args:
            farthest: float (B): r, the largest distance of a neighbour of each anchor.
            sizes: int64 (B): number of mentions of each cluster.

        Returns:
            (): mean over the clusters that the radius learns from; 0 if there are none.
        """
        farthest = farthest.detach() if self._singletons else farthest.detach()[sizes > 1]
        radius, spread = self.lengths
        rows = (radius - farthest).square()
        if self._learns_spread:
            rows = rows + (spread - (radius.detach() - farthest).abs()).square()
        total: Tensor = rows.sum()
        return total / max(len(rows), 1)
