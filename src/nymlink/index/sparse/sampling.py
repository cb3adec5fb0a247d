"""Sampling the features of a query where looking up all of them would take too long."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def sample_features(
    frequencies: npt.NDArray[np.int64], weights: npt.NDArray[Any], budget: int
) -> npt.NDArray[np.float32]:
    """Sample features whose frequencies sum to about a budget, with the number of features that each stands for.

    Feature i is chosen with the probability pᵢ = min(1, c wᵢ / √dfᵢ), c such that Σ pᵢ dfᵢ is the budget, and
    stands for 1 / pᵢ features: so a sum over all of them is estimated without bias (Horvitz & Thompson 1952), and
    with the least variance for its cost (Neyman allocation with costs: Cochran 1977, section 5.5). Sampling is
    systematic: in the order of descending pᵢ, a feature is chosen whenever the sum of the pᵢ so far passes a whole
    number and a half. The n-grams of a common word have similar pᵢ and so follow one another: every common word of
    a query keeps its share of them.

    Args:
        frequencies: int64 (m), at least 1: in how many texts each feature occurs, which is its cost.
        weights: float (m), above 0: what it adds to the score of such a text.
        budget: the most (feature, text) pairs to look at; raised to the number of the commonest feature.

    Returns:
        float32 (m): 1 for a feature that stands for itself, more for one that stands for others too, 0 for one
        that is left out.
    """
    if frequencies.sum() <= budget:
        return np.ones(len(frequencies), np.float32)
    worth = weights / np.sqrt(frequencies)
    order = np.argsort(-worth, kind="stable")
    worth, costs = worth[order].astype(np.float64), frequencies[order]
    # The factor c if the first i features have p = 1; right for the first i whose next feature has p ≤ 1.
    left = np.maximum(max(budget, costs.max()) - np.cumsum(costs) + costs, 0)
    factors = left / np.cumsum((worth * costs)[::-1])[::-1]
    probabilities = np.minimum(factors[np.argmax(factors * worth <= 1)] * worth, 1)
    passed = np.floor(np.cumsum(probabilities) + 0.5)
    counts = np.zeros(len(frequencies), np.float32)
    counts[order] = np.where(np.diff(passed, prepend=0) > 0, 1 / probabilities, 0)
    return counts
