"""The losses of contextual re-ranking.

Le & Nguyen, "A metric learning-based method for biomedical entity linking" (Frontiers in Research Metrics and
Analytics 2023), sections 3.2.2 and 3.2.3. The mentions of one concept in one document are a cluster; what is
compared with concepts is a cluster's *prototype*, the mean of its mentions' vectors. With clusters of one mention
this is the plain triplet loss.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal

import torch
from torch import Tensor, nn

Preset = Literal["paper", "release"]


@dataclass(frozen=True, slots=True)
class Constants:
    """The constants of a preset; lengths are those of the vectors of the paper's encoder.

    Attributes:
        margin: how much nearer than the negative the positive should be.
        radius: where the radius begins.
        radius_learning_rate: of the radius.
        epsilon: how much farther than the radius a neighbour may be.
        learned_spread: multiply by this how far largest distances are from the radius, which is learned too, and
            take it for ``epsilon``, which is then where this begins; 0 to leave ``epsilon`` as it is.
        singletons: whether clusters of one mention, whose largest distance is 0, count for the radius.
    """

    margin: float
    radius: float
    radius_learning_rate: float
    epsilon: float
    learned_spread: float
    singletons: bool


PRESETS: Final[dict[Preset, Constants]] = {
    "paper": Constants(1.6, 11.0, 0.01, 1.0, 0.0, True),
    "release": Constants(1.15, 10.0, 0.01, 1.0, 1.5, False),
}
"""As for BC5CDR in the paper (MedMentions: margin 1.2, learning rate of the radius 0.005), and as released."""


def triplet_loss(queries: Tensor, positives: Tensor, negatives: Tensor, *, margin: float) -> Tensor:
    """By how much queries are not as much nearer to their positives than to their negatives as they should be.

    Equation 3, distances not squared.

    Args:
        queries: float (B, D): prototypes, or single mentions.
        positives: float (B, D).
        negatives: float (B, D).
        margin: how much nearer.

    Returns:
        (): the mean over B; 0 of nothing.
    """
    rows = (distances(queries, positives) - distances(queries, negatives) + margin).relu()
    return rows.sum() / max(len(rows), 1)


def distances(first: Tensor, second: Tensor) -> Tensor:
    """The Euclidean distances of rows: float (…, D) twice → (…); the gradient where they are equal is 0."""
    found: Tensor = torch.linalg.vector_norm(first - second, dim=-1)
    return found


def prototypes(vectors: Tensor, groups: Tensor, members: Tensor, count: int) -> Tensor:
    """The mean vector of the members of each group.

    Args:
        vectors: float (M, D).
        groups: int64 (M): which group each is of.
        members: bool (M): which of them count; at least one of each group.
        count: B, how many groups there are.

    Returns:
        float (B, D).
    """
    chosen = groups[members]
    sums = vectors.new_zeros(count, vectors.shape[1]).index_add(0, chosen, vectors[members])
    return sums / torch.bincount(chosen, minlength=count).unsqueeze(1)


def largest(values: Tensor, groups: Tensor, members: Tensor, count: int) -> Tensor:
    """The largest value of the members of each group: float (M) → (B), 0 where there is none above."""
    return values.new_zeros(count).scatter_reduce(0, groups[members], values[members], "amax")


def central(vectors: Tensor, groups: Tensor, count: int) -> Tensor:
    """The member of each group that is nearest to its prototype, the first of equals: int64 (B)."""
    everyone = torch.ones_like(groups, dtype=torch.bool)
    away = distances(vectors, prototypes(vectors, groups, everyone, count)[groups])
    order = torch.argsort(away, stable=True)
    order = order[torch.argsort(groups[order], stable=True)]
    sizes = torch.bincount(groups, minlength=count)
    return order[sizes.cumsum(0) - sizes]


def nearest(anchors: Tensor, concepts: Tensor, candidates: Tensor, allowed: Tensor, *, count: int) -> Tensor:
    """The candidates of each anchor that are nearest to it.

    Args:
        anchors: float (B, D).
        concepts: float (C, D).
        candidates: int64 (B, k): rows of concepts.
        allowed: bool (B, k): which of them may be taken.
        count: how many; all k where there are fewer.

    Returns:
        int64 (B, min(count, k)): rows of concepts, the nearest first; −1 after the last.
    """
    away = distances(anchors.unsqueeze(1), concepts[candidates].float()).masked_fill(~allowed, math.inf)
    places = torch.argsort(away, dim=1, stable=True)[:, :count]
    return candidates.gather(1, places).masked_fill(~allowed.gather(1, places), -1)


def nearest_of_all(anchors: Tensor, concepts: Tensor, allowed: Tensor) -> Tensor:
    """The concept that is nearest to each anchor, where the same ones are candidates of all of them.

    Args:
        anchors: float (B, D).
        concepts: float (P, D), at least one.
        allowed: bool (B, P): which of them may be taken.

    Returns:
        int64 (B): rows of concepts, the first of equals; −1 for none.
    """
    # The differences, B × P × D numbers, are not held. Nor is it a matrix product: its rounding changes orders.
    away = torch.cdist(anchors, concepts.float(), compute_mode="donot_use_mm_for_euclid_dist")
    found = away.masked_fill(~allowed, math.inf).argmin(1)
    return found.masked_fill(~allowed.any(1), -1)


class SoftRadius(nn.Module):
    """The radius within which mentions are neighbours of an anchor: Algorithm 1.

    Attributes:
        lengths: (2): the radius, and the spread of largest distances about it, which only a preset with a learned
            spread moves.
    """

    def __init__(self, constants: Constants, *, radius: float, device: torch.device) -> None:
        super().__init__()
        self._constants = constants
        spread = constants.epsilon / (constants.learned_spread or 1.0)
        self.lengths = nn.Parameter(torch.tensor([radius, spread], device=device))

    @property
    def reach(self) -> float:
        """How far a neighbour may be: r + ε."""
        radius, spread = self.lengths.tolist()
        return float(radius + spread * (self._constants.learned_spread or 1.0))

    def loss(self, farthest: Tensor, sizes: Tensor) -> Tensor:
        """How far the radius is from what it should be, the mean of the farthest neighbours' distances.

        Args:
            farthest: float (B): the largest distance of a neighbour of each anchor.
            sizes: int64 (B): how many mentions its cluster has.

        Returns:
            (): the mean square over the clusters that count; 0 where none does.
        """
        farthest = farthest.detach() if self._constants.singletons else farthest.detach()[sizes > 1]
        radius, spread = self.lengths
        rows = (radius - farthest).square()
        if self._constants.learned_spread:
            rows = rows + (spread - (radius.detach() - farthest).abs()).square()
        total: Tensor = rows.sum()
        return total / max(len(rows), 1)
