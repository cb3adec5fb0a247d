"""Estimate confidence: the probability that the first candidate is right, given how it was found.

A logistic regression on a few :data:`~nymlink.linking.confidence.evidence.FEATURES` of a search, as Platt
("Probabilistic Outputs for Support Vector Machines", 1999) has it on one. No weight is negative, so that a higher
score never means less confidence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

from nymlink.core.errors import InputError, StoreError
from nymlink.index.index import Index
from nymlink.linking.confidence.evidence import FEATURES, Features

Confidences = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Calibration:
    """Logistic model of confidences from the features of a query, with the precision of its thresholds.

    Attributes:
        intercept: log-odds where all features are 0.
        weights: log-odds for each of :data:`~nymlink.linking.confidence.evidence.FEATURES`, at least 0.
        curve: (confidence, precision) pairs, both rising, the first confidence 0: of the mentions that were
            measured, so many were right among those of at least that confidence.
        fitted_to: which mentions it was fitted to and measured on, for people to read.

    Raises:
        ValueError: a number is not what it must be.
    """

    intercept: float
    weights: Mapping[str, float]
    curve: tuple[tuple[float, float], ...]
    fitted_to: str

    def __post_init__(self) -> None:
        if set(self.weights) != set(FEATURES):
            raise ValueError(f"weights are for {', '.join(self.weights)}, not for {', '.join(FEATURES)}")
        numbers = [self.intercept, *self.weights.values()]
        if not all(map(isfinite, numbers)) or min(numbers[1:]) < 0:
            raise ValueError(f"weights must be at least 0 and finite: {numbers}")
        if not self.curve or self.curve[0][0] != 0:
            raise ValueError("the curve must begin at a confidence of 0")
        if not all(0 <= value <= 1 for point in self.curve for value in point):
            raise ValueError("the curve must be of numbers from 0 to 1")
        if not all(low[0] < high[0] and low[1] < high[1] for low, high in pairwise(self.curve)):
            raise ValueError("the curve must rise")

    @classmethod
    def of(cls, index: Index) -> Calibration:
        """Load the calibration of an index.

        Raises:
            InputError: the index is not calibrated.
            StoreError: its calibration is damaged.
        """
        if index.calibration is None:
            raise InputError("the index is not calibrated: run `nymlink calibrate` on it, with annotated mentions")
        return cls.from_dict(index.calibration)

    def confidence(self, features: Features) -> Confidences:
        """Estimate the probabilities that first concepts are right.

        Args:
            features: float64 (Q, F), of :func:`~nymlink.linking.confidence.evidence.features_of`; NaN for a query
                without any concept.

        Returns:
            float64 (Q), 0 to 1, to six decimals; 0 where there is no concept.
        """
        weights = np.array([self.weights[name] for name in FEATURES])
        probabilities = probability(self.intercept + features @ weights)
        return np.where(np.isnan(probabilities), 0.0, probabilities.round(6))

    @property
    def surest(self) -> float:
        """The highest confidence there can be: of a mention that equals a name of one concept alone."""
        return float(self.confidence(np.ones((1, len(FEATURES))))[0])

    def threshold(self, precision: float) -> float:
        """Find the lowest confidence that reaches a precision.

        It is at most :attr:`surest`; a precision that needs more cannot be reached.

        Args:
            precision: share of links to be right, 0 to 1.

        Raises:
            InputError: no confidence reaches it; the message says which precision can be reached.
        """
        for confidence, reached in self.curve:
            if reached >= precision:
                return confidence
        raise InputError(
            f"no confidence is enough for a precision of {precision:g}: {self.curve[-1][1]:.3f} is the highest "
            f"that can be reached, as far as {self.fitted_to} can tell"
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "intercept": self.intercept,
            "weights": dict(self.weights),
            "curve": [list(point) for point in self.curve],
            "fitted_to": self.fitted_to,
        }

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Calibration:
        """Rebuild a calibration from :meth:`to_dict`.

        Raises:
            StoreError: it is damaged.
        """
        try:
            return cls(
                intercept=float(value["intercept"]),
                weights={name: float(weight) for name, weight in value["weights"].items()},
                curve=tuple((float(confidence), float(precision)) for confidence, precision in value["curve"]),
                fitted_to=str(value["fitted_to"]),
            )
        except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
            raise StoreError(f"the calibration is damaged ({error}): run `nymlink calibrate` again") from error


def probability(log_odds: Confidences) -> Confidences:
    """Turn log-odds into probabilities, 1 / (1 + e⁻ˣ)."""
    # Without the overflow of the exponential.
    found: Confidences = 0.5 + 0.5 * np.tanh(0.5 * log_odds)
    return found
