"""The regression that confidences are fitted with, beside SciPy's general minimiser."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from nymlink.evaluation.fit_calibration import Floats, fit_logistic


def theirs(features: Floats, targets: Floats, start: Floats, penalties: Floats) -> tuple[float, Floats]:
    """The least loss that SciPy finds, and where."""

    def loss(parameters: Floats) -> tuple[float, Floats]:
        odds = parameters[0] + features @ parameters[1:]
        residuals = expit(odds) - targets
        away = parameters - start
        value = float((np.logaddexp(0, odds) - targets * odds).sum() + penalties @ away**2 / 2)
        return value, np.append(residuals.sum(), features.T @ residuals) + penalties * away

    bounds = [(None, None), *[(0, None)] * features.shape[1]]
    found = minimize(
        loss,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 10**5},
    )
    return float(found.fun), found.x


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("rows", [3, 40, 500])
def test_it_finds_what_scipy_finds(rows: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    features = draw.normal(size=(rows, 7)) * draw.choice(np.array([0, 1, 5]), 7)
    # Some weights would be below 0, some features say nothing, and some rows can be told apart without an error.
    targets = (features @ draw.normal(size=7) + draw.normal(size=rows) * draw.choice([0, 3]) > 0).astype(float)
    targets = targets * 0.9 + 0.05
    start = np.append(draw.normal(), np.abs(draw.normal(size=7))) * draw.choice([0, 1])
    penalties = np.append(draw.choice([0.0, 5.0]), np.full(7, draw.choice([0.1, 5.0])))
    found = fit_logistic(features, targets, start=start, penalties=penalties)
    least, where = theirs(features, targets, start, penalties)
    odds = found[0] + features @ found[1:]
    loss = float((np.logaddexp(0, odds) - targets * odds).sum() + penalties @ (found - start) ** 2 / 2)
    assert (found[1:] >= 0).all()
    assert loss <= least + 1e-7
    np.testing.assert_allclose(found, where, atol=2e-3)


def test_nothing_to_learn_from_keeps_the_start() -> None:
    start = np.array([-1.0, 0.5, 2.0])
    found = fit_logistic(np.zeros((0, 2)), np.zeros(0), start=start, penalties=np.ones(3))
    assert found.tolist() == start.tolist()
