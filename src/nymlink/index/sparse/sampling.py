"""Which features of a query to look up where looking up all of them would take too long."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def sample(frequencies: npt.NDArray[np.int64], weights: npt.NDArray[Any], budget: int) -> npt.NDArray[np.float32]:
    """Choose features whose frequencies sum to about a budget, and say how many features each then stands for.

    Feature i is chosen with the probability pᵢ = min(1, c wᵢ / √dfᵢ), c such that Σ pᵢ dfᵢ is the budget, and
    stands for 1 / pᵢ features: so a sum over all of them is estimated without bias (Horvitz & Thompson 1952), and
    with the least variance for what it costs (Neyman's allocation with costs: Cochran 1977, section 5.5). The
    choice is systematic: going through the features from the likeliest to the unlikeliest, one is chosen whenever
    the sum of the pᵢ so far passes a whole number and a half. The n-grams of a common word are about as likely as
    each other and so follow one another: every common word of a query keeps its share of them.

    Args:
        frequencies: int64 (m), at least 1: in how many texts each feature occurs: what looking it up costs.
        weights: float (m), above 0: what it adds to the score of such a text.
        budget: how many (feature, text) pairs may be looked at, or as many as the commonest feature has.

    Returns:
        float32 (m): 1 for a feature that stands for itself, more for one that stands for others too, 0 for one
        that is left out.
    """
    if frequencies.sum() <= budget:
        return np.ones(len(frequencies), np.float32)
    worth = weights / np.sqrt(frequencies)
    order = np.argsort(-worth, kind="stable")
    worth, costs = worth[order].astype(np.float64), frequencies[order]
    # The factor c if the i likeliest features are certain; they are when the next one is not.
    left = np.maximum(max(budget, costs.max()) - np.cumsum(costs) + costs, 0)
    factors = left / np.cumsum((worth * costs)[::-1])[::-1]
    chances = np.minimum(factors[np.argmax(factors * worth <= 1)] * worth, 1)
    passed = np.floor(np.cumsum(chances) + 0.5)
    counts = np.zeros(len(frequencies), np.float32)
    counts[order] = np.where(np.diff(passed, prepend=0) > 0, 1 / chances, 0)
    return counts
