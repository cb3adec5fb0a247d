"""Ridge-penalised logistic regression with weights of at least 0, fitted by a projected Newton method."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from nymlink.linking.confidence.calibration import probability

_STEPS: Final = 200
_CLOSE: Final = 1e-10
"""The parameters are found when a step moves none by more than this."""

_SUFFICIENT: Final = 1e-4
"""Share of the gain that the gradient promises which a step must bring (Armijo's rule)."""

Floats = npt.NDArray[np.float64]


def fit_logistic(features: Floats, targets: Floats, *, start: Floats, penalties: Floats) -> Floats:
    """Fit an intercept and weights of at least 0.

    What is minimised is the sum of the cross-entropies of the targets, and ½ p (w − start)² of each parameter.
    Bertsekas, "Projected Newton Methods for Optimization Problems with Simple Constraints" (1982).

    Args:
        features: float64 (P, F).
        targets: float64 (P): probabilities, 0 to 1.
        start: float64 (F + 1): intercept and weights to begin with and to stay near.
        penalties: float64 (F + 1): p of each parameter, at least 0.

    Returns:
        float64 (F + 1): intercept and weights.
    """
    columns = np.column_stack([np.ones(len(features)), features])

    def loss(parameters: Floats) -> float:
        odds = columns @ parameters
        away = parameters - start
        return float((np.logaddexp(0, odds) - targets * odds).sum() + penalties @ away**2 / 2)

    lowest = np.append(-np.inf, np.zeros(features.shape[1]))
    found: Floats = np.maximum(start, lowest)
    for _ in range(_STEPS):
        probabilities = probability(columns @ found)
        gradient = columns.T @ (probabilities - targets) + penalties * (found - start)
        # A weight of 0 that wants to fall stays where it is.
        free = (found > lowest) | (gradient < 0)
        own = columns[:, free]
        curvature = (own.T * (probabilities * (1 - probabilities))) @ own + np.diag(penalties[free] + _CLOSE)
        direction = np.zeros_like(found)
        direction[free] = np.linalg.solve(curvature, gradient[free])
        length, before = 1.0, loss(found)
        moved = np.maximum(found - direction, lowest)
        while loss(moved) > before - _SUFFICIENT * gradient @ (found - moved) and length > _CLOSE:
            length /= 2
            moved = np.maximum(found - length * direction, lowest)
        close = np.abs(moved - found).max() < _CLOSE
        found = moved
        if close:
            break
    return found
