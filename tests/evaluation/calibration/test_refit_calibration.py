"""A calibration refitted to a few judged links: moved as far as they prove, and else kept."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from nymlink.evaluation.fit_calibration import CalibrationRefit, refit_calibration
from nymlink.linking.calibration import CONFIDENCE_FEATURES, Features
from tests.linking.toy import CALIBRATION


def drawn(count: int, *, shift: float, seed: int = 0) -> tuple[Features, np.ndarray]:
    """Links whose log-odds are those of the calibration, and a shift."""
    rng = np.random.default_rng(seed)
    features = rng.random((count, len(CONFIDENCE_FEATURES)))
    weights = np.array([CALIBRATION.weights[name] for name in CONFIDENCE_FEATURES])
    return features, rng.random(count) < expit(CALIBRATION.intercept + features @ weights + shift)


def refitted(features: Features, right: np.ndarray, factors: np.ndarray | None = None) -> CalibrationRefit:
    return refit_calibration(
        CALIBRATION,
        features,
        right,
        np.ones(len(right)) if factors is None else factors,
        np.arange(len(right)) % 5,
        fitted_to="decisions",
    )


@pytest.mark.parametrize("shift", [-2.5, 2.0])
def test_confidences_move_to_what_was_judged(shift: float) -> None:
    found = refitted(*drawn(150, shift=shift))
    assert found.calibration is not None
    assert found.after < found.before
    features, right = drawn(2000, shift=shift, seed=1)
    errors = [abs(each.confidence(features).mean() - right.mean()) for each in (CALIBRATION, found.calibration)]
    assert errors[1] < errors[0] / 3
    assert found.calibration.fitted_to == "200 mentions of a corpus; decisions"


def test_what_is_right_already_is_kept() -> None:
    kept = [
        refitted(*drawn(count, shift=0, seed=seed)).calibration is None for count in (30, 300) for seed in range(5)
    ]
    assert sum(kept) >= 9
    found = refitted(*drawn(30, shift=0))
    assert found.before == found.after


def test_a_few_links_move_it_a_little() -> None:
    few, many = (refitted(*drawn(count, shift=-3)).calibration for count in (40, 2000))
    assert few is not None
    assert many is not None
    middle = np.full((1, len(CONFIDENCE_FEATURES)), 0.5)
    levels = [each.confidence(middle)[0] for each in (CALIBRATION, few, many)]
    assert levels[0] > levels[1] > levels[2]


def test_every_precision_that_could_be_asked_for_still_can() -> None:
    found = refitted(*drawn(300, shift=-3))
    assert found.calibration is not None
    assert found.calibration.threshold(0.97) <= found.calibration.surest
    assert found.calibration.threshold(0.8) <= found.calibration.threshold(0.97)
    assert found.calibration.surest < CALIBRATION.surest


def test_links_without_concepts_and_doubted_ones_are_not_fitted_to() -> None:
    features, right = drawn(100, shift=-2.5)
    plain = refitted(features, right)
    factors = np.append(np.ones(100), np.full(20, 0.2))
    more = np.concatenate([features, np.ones((20, len(CONFIDENCE_FEATURES)))])
    more[110:] = np.nan
    both = refitted(more, np.append(right, np.zeros(20, bool)), factors)
    assert plain.calibration is not None
    assert both.calibration is not None
    assert both.calibration.weights == plain.calibration.weights
    assert both.calibration.intercept == plain.calibration.intercept
    assert np.isnan(both.after) == np.False_
