"""Measures of confidences: calibration error, Brier score, and precision by coverage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

COVERAGES: Final = (0.5, 0.8, 0.9, 1.0)
"""Shares of mentions for which precision is reported: of the mentions with the highest confidence, how many are
right?
"""

BINS: Final = 10

_STEPS: Final = 100
_FEWEST: Final = 20
"""Smallest number of mentions from which a precision is computed."""


@dataclass(frozen=True, slots=True)
class Bin:
    """A bin of mentions of similar confidence: their number, mean confidence, and share of right mentions."""

    mentions: int
    confidence: float
    right: float


@dataclass(frozen=True, slots=True, eq=False)
class Reliability:
    """The confidences of M mentions, and whether their first concepts are right.

    Attributes:
        confidences: float64 (M), descending.
        right: bool (M): whether the mention's first concept is right.
        answerable: bool (M): whether the vocabulary has a right concept for the mention.
    """

    confidences: npt.NDArray[np.float64]
    right: npt.NDArray[np.bool_]
    answerable: npt.NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        confidences: npt.NDArray[np.float64],
        right: npt.NDArray[np.bool_],
        answerable: npt.NDArray[np.bool_] | None = None,
    ) -> Reliability:
        """Sort mentions by confidence. There must be at least one.

        Without ``answerable``, all mentions count as answerable.
        """
        order = np.argsort(-confidences, kind="stable")
        known = np.ones(len(right), bool) if answerable is None else answerable
        return cls(confidences[order], right[order], known[order])

    @property
    def accuracy(self) -> float:
        """Share of mentions whose first concept is right."""
        return float(self.right.mean())

    @property
    def brier(self) -> float:
        """Brier score: the mean squared difference between confidence and outcome (Brier 1950).

        An outcome is 0 or 1. The best score is 0.
        """
        return float(np.mean((self.confidences - self.right) ** 2))

    @property
    def expected_error(self) -> float:
        """Expected calibration error: how far confidence is from the share of right mentions.

        It is the mean of |mean confidence − share of right mentions| over :meth:`bins`, weighted by the size of
        the bins.

        Naeini et al., "Obtaining Well Calibrated Probabilities Using Bayesian Binning" (AAAI 2015).
        """
        return sum(group.mentions * abs(group.confidence - group.right) for group in self.bins()) / len(self.right)

    @property
    def answerable_auroc(self) -> float:
        """Area under the ROC curve: how well confidences separate answerable from unanswerable mentions.

        NaN if all mentions are answerable, or none.
        """
        return _auroc(self.confidences, self.answerable)

    @property
    def right_auroc(self) -> float:
        """Area under the ROC curve: how well confidences separate right from wrong first concepts.

        NaN if all are right, or none.
        """
        return _auroc(self.confidences, self.right)

    def bins(self, count: int = BINS) -> list[Bin]:
        """Group mentions into bins of about equal size, from the highest confidence to the lowest.

        Mentions with equal confidences stay in one bin. If bins had equal widths, most mentions would be in the
        last bin (Nguyen & O'Connor, EMNLP 2015).
        """
        firsts = np.arange(count) * len(self.right) // count
        # The place of the first mention of the same confidence.
        starts = np.unique(np.searchsorted(-self.confidences, -self.confidences[firsts]))
        sizes = np.diff(np.append(starts, len(self.right)))
        confidences = np.add.reduceat(self.confidences, starts) / sizes
        right = np.add.reduceat(self.right.astype(float), starts) / sizes
        return [Bin(*values) for values in zip(sizes.tolist(), confidences.tolist(), right.tolist(), strict=True)]

    def precision(self, coverage: float) -> float:
        """Compute the precision at a coverage: how many of the mentions with the highest confidence are right.

        Args:
            coverage: the share of mentions that are linked, above 0. Each of several mentions with equal
                confidence counts with the mean outcome of them all.
        """
        return float(self.precisions()[int(np.ceil(coverage * len(self.right))) - 1])

    def precisions(self) -> npt.NDArray[np.float64]:
        """Compute the precision of the first n mentions, for n from 1 to M: float64 (M)."""
        _, runs, sizes = np.unique(-self.confidences, return_inverse=True, return_counts=True)
        mean = (np.bincount(runs, self.right) / sizes)[runs]
        precisions: npt.NDArray[np.float64] = np.cumsum(mean) / np.arange(1, len(mean) + 1)
        return precisions

    def above(self, threshold: float) -> tuple[float, float]:
        """Compute coverage and precision of the mentions whose confidence is at least a threshold.

        The precision is NaN if no mention has it.
        """
        kept = int(np.sum(self.confidences >= threshold))
        return kept / len(self.right), float(self.right[:kept].mean()) if kept else float("nan")

    def curve(self) -> tuple[tuple[float, float], ...]:
        """Return pairs of (threshold, precision).

        Both ascend, and thresholds that do not raise precision are left out.

        Each tried threshold leaves out one more hundredth of the mentions, until 20 remain.
        """
        wanted = np.arange(_STEPS, 0, -1) * len(self.right) // _STEPS
        lowest = self.confidences[wanted[wanted >= _FEWEST] - 1].tolist()
        curve = [(0.0, round(self.accuracy, 6))]
        for threshold in dict.fromkeys(lowest):
            precision = round(self.above(threshold)[1], 6)
            if threshold > 0 and precision > curve[-1][1]:
                curve.append((threshold, precision))
        return tuple(curve)


def _auroc(confidences: npt.NDArray[np.float64], positive: npt.NDArray[np.bool_]) -> float:
    """Compute the probability that a random positive mention has a higher confidence than a random other one.

    A tie counts as one half (Mann & Whitney 1947).
    """
    count = int(positive.sum())
    others = len(positive) - count
    if not count or not others:
        return float("nan")
    # Mentions with equal confidences share the mean of their ranks.
    _, place, sizes = np.unique(confidences, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(sizes) - (sizes - 1) / 2)[place][positive].sum()
    return float((ranks - count * (count + 1) / 2) / (count * others))
