"""How far confidences can be believed, and what is left of the mentions when only the surer ones are linked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

COVERAGES: Final = (0.5, 0.8, 0.9, 1.0)
"""At which shares of the mentions precision is reported."""

BINS: Final = 10

_STEPS: Final = 100
_FEWEST: Final = 20
"""A precision of fewer mentions is not relied on."""


@dataclass(frozen=True, slots=True)
class Bin:
    """Mentions of like confidence.

    Attributes:
        mentions: how many.
        confidence: their mean confidence.
        right: the share of them that is right.
    """

    mentions: int
    confidence: float
    right: float


@dataclass(frozen=True, slots=True, eq=False)
class Reliability:
    """Confidences, and whether they were deserved.

    Attributes:
        confidences: float64 (M), falling.
        right: bool (M): whether the mention's first concept is right.
        answerable: bool (M): whether any concept of the vocabulary would be.
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
        """The same mentions in any order, at least one; all answerable if it is not said which are."""
        order = np.argsort(-confidences, kind="stable")
        there = np.ones(len(right), bool) if answerable is None else answerable
        return cls(confidences[order], right[order], there[order])

    @property
    def accuracy(self) -> float:
        """The share of all mentions that is right."""
        return float(self.right.mean())

    @property
    def brier(self) -> float:
        """The mean squared difference of confidence and outcome (Brier 1950); 0 is best."""
        return float(np.mean((self.confidences - self.right) ** 2))

    @property
    def expected_error(self) -> float:
        """Expected calibration error: the mean difference of confidence and share right, over :meth:`bins`.

        Naeini et al., "Obtaining Well Calibrated Probabilities Using Bayesian Binning" (AAAI 2015).
        """
        return sum(one.mentions * abs(one.confidence - one.right) for one in self.bins()) / len(self.right)

    @property
    def answerable_auroc(self) -> float:
        """How well confidences tell mentions that have an answer from those that have none: area under ROC.

        The probability that an answerable mention has more confidence than an unanswerable one, equals counting
        half (Mann & Whitney 1947); NaN where all are answerable, or none.
        """
        count = int(self.answerable.sum())
        others = len(self.answerable) - count
        if not count or not others:
            return float("nan")
        ranks = rankdata(self.confidences)[self.answerable].sum()
        return float((ranks - count * (count + 1) / 2) / (count * others))

    def bins(self, count: int = BINS) -> list[Bin]:
        """Bins of the same number of mentions, from the surest; mentions of equal confidence stay together.

        Bins of equal width would have most mentions in the last (Nguyen & O'Connor, EMNLP 2015).
        """
        firsts = np.arange(count) * len(self.right) // count
        # The place of the first mention of the same confidence.
        starts = np.unique(np.searchsorted(-self.confidences, -self.confidences[firsts]))
        sizes = np.diff(np.append(starts, len(self.right)))
        confidences = np.add.reduceat(self.confidences, starts) / sizes
        right = np.add.reduceat(self.right.astype(float), starts) / sizes
        return [Bin(*one) for one in zip(sizes.tolist(), confidences.tolist(), right.tolist(), strict=True)]

    def precision(self, coverage: float) -> float:
        """The share that is right of the surest mentions.

        Args:
            coverage: which share of the mentions they are, above 0. Of mentions of equal confidence any may be
                among them: each counts as their mean.
        """
        return float(self.precisions()[int(np.ceil(coverage * len(self.right))) - 1])

    def precisions(self) -> npt.NDArray[np.float64]:
        """The same for every number of mentions from 1: float64 (M)."""
        _, runs, sizes = np.unique(-self.confidences, return_inverse=True, return_counts=True)
        mean = (np.bincount(runs, self.right) / sizes)[runs]
        precisions: npt.NDArray[np.float64] = np.cumsum(mean) / np.arange(1, len(mean) + 1)
        return precisions

    def above(self, threshold: float) -> tuple[float, float]:
        """The share of mentions of at least that confidence, and the share right of these (NaN of none)."""
        kept = int(np.sum(self.confidences >= threshold))
        return kept / len(self.right), float(self.right[:kept].mean()) if kept else float("nan")

    def curve(self) -> tuple[tuple[float, float], ...]:
        """Rising thresholds and what is right above each, of those by which precision grows.

        Thresholds leave a hundredth of the mentions less from one to the next, and 20 mentions at least.
        """
        wanted = np.arange(_STEPS, 0, -1) * len(self.right) // _STEPS
        lowest = self.confidences[wanted[wanted >= _FEWEST] - 1].tolist()
        curve = [(0.0, round(self.accuracy, 6))]
        for threshold in dict.fromkeys(lowest):
            precision = round(self.above(threshold)[1], 6)
            if threshold > 0 and precision > curve[-1][1]:
                curve.append((threshold, precision))
        return tuple(curve)
