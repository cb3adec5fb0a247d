"""Refit a calibration to a few links that were judged, as far from it as they prove, and no further."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

import numpy as np
import numpy.typing as npt

from nymlink.core.store.arrays import Bools, Ints
from nymlink.evaluation.calibration.logistic import fit_logistic
from nymlink.evaluation.significance import is_gain
from nymlink.linking.confidence.calibration import Calibration, Confidences
from nymlink.linking.confidence.evidence import FEATURES, Features

_STRENGTH: Final = 5.0
"""L2 penalty of what the weights move away from those before, for features of variance 1: as much as five links
with a confidence of a half weigh against four times as many that are judged."""

_SMALLEST: Final = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class CalibrationRefit:
    """What judged links teach of confidences.

    Attributes:
        calibration: the new one; ``None`` where none was better, or it cannot be told.
        before: mean loss of the calibration before: minus the logarithm of the probability of what was so.
        after: that of the new one, cross-validated; the same as before where it is not taken.
    """

    calibration: Calibration | None
    before: float
    after: float


def refit_calibration(
    calibration: Calibration,
    features: Features,
    right: Bools,
    factors: npt.NDArray[np.float64],
    folds: Ints,
    *,
    fitted_to: str,
) -> CalibrationRefit:
    """Move a calibration towards judged links.

    The new one is taken where it gains on links that it was not fitted to, and hardly by chance
    (:func:`~nymlink.evaluation.significance.is_gain`).

    Args:
        calibration: as it is.
        features: float64 (P, F), see :data:`~nymlink.linking.confidence.evidence.FEATURES`; NaN for none.
        right: bool (P): whether the first concept was right.
        factors: float64 (P): the share of its confidence that doubts leave.
        folds: int64 (P): links of one fold are judged by a calibration that was fitted to the others.
        fitted_to: what the links are, for people to read.
    """
    confidences = np.zeros(len(right))
    for fold in np.unique(folds):
        own = folds == fold
        fitted = _moved(calibration, features[~own], right[~own], factors[~own])
        confidences[own] = fitted.confidence(features[own])
    confidences *= factors
    before = _losses(calibration.confidence(features) * factors, right)
    after = _losses(confidences, right)
    if not is_gain(before - after):
        return CalibrationRefit(None, float(before.mean()), float(before.mean()))
    moved = _moved(calibration, features, right, factors)
    moved = replace(moved, curve=_lowered(moved), fitted_to=f"{calibration.fitted_to}; {fitted_to}")
    return CalibrationRefit(moved, float(before.mean()), float(after.mean()))


def _lowered(calibration: Calibration) -> tuple[tuple[float, float], ...]:
    """Take the curve as it is, up to the highest confidence that there is now.

    Judged links make no curve: those that were judged may be the doubtful ones.
    """
    kept = [point for point in calibration.curve if point[0] < calibration.surest]
    if len(kept) < len(calibration.curve):
        kept.append((calibration.surest, calibration.curve[-1][1]))
    return tuple(kept)


def _moved(
    calibration: Calibration, features: Features, right: Bools, factors: npt.NDArray[np.float64]
) -> Calibration:
    """Fit weights of at least 0 near those of a calibration; parts that other doubts lower are left out."""
    used = ~np.isnan(features[:, 0]) & (factors == 1)
    features, right = features[used], right[used]
    if not len(right):
        return calibration
    center = features.mean(axis=0)
    spread = np.maximum(features.std(axis=0), 0.05)
    start = np.array([calibration.weights[name] for name in FEATURES]) * spread
    level = calibration.intercept + float(center @ (start / spread))
    scaled = (features - center) / spread
    first = np.append(level, start)

    penalties = np.full(len(first), _STRENGTH)
    solution = fit_logistic(scaled, right.astype(np.float64), start=first, penalties=penalties)
    weights = solution[1:] / spread
    named = dict(zip(FEATURES, weights.round(6).tolist(), strict=True))
    return replace(
        calibration,
        intercept=round(float(solution[0] - weights @ center), 6),
        weights=MappingProxyType(named),
    )


def _losses(confidences: Confidences, right: Bools) -> npt.NDArray[np.float64]:
    """Compute minus the logarithm of the probability of what was so: float64 (P)."""
    of_outcome = np.where(right, confidences, 1 - confidences)
    losses: npt.NDArray[np.float64] = -np.log(np.clip(of_outcome, _SMALLEST, 1))
    return losses
