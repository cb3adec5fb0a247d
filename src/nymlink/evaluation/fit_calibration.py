"""Fit calibrations by logistic regression with weights of at least 0, and refit them to judged links."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

import numpy as np
import numpy.typing as npt

from nymlink.core.errors import InputError
from nymlink.core.store.arrays import Bools, Ints
from nymlink.corpus.documents import Corpus
from nymlink.evaluation.calibration_data import (
    LabelledMentions,
    draw_absent_names,
    label_absent_names,
    label_left_out,
    label_mentions,
)
from nymlink.evaluation.calibration_metrics import Reliability
from nymlink.evaluation.significance import is_gain
from nymlink.index.index import Index
from nymlink.linking.calibration import (
    CONFIDENCE_FEATURES,
    Calibration,
    Confidences,
    Features,
    is_verbatim,
    probability,
)

_STEPS: Final = 200
_CLOSE: Final = 1e-10
"""The fit ends when a step changes no parameter by more than this."""

_SUFFICIENT: Final = 1e-4
"""Smallest gain of a step, as a share of the gain that the gradient predicts (Armijo's rule)."""

Floats = npt.NDArray[np.float64]


def fit_logistic(features: Floats, targets: Floats, *, start: Floats, penalties: Floats) -> Floats:
    """Fit an intercept and weights of at least 0.

    The fit minimises the sum of the cross-entropies of the targets, plus ½ p (w − start)² for each parameter w.
    Bertsekas, "Projected Newton Methods for Optimization Problems with Simple Constraints" (1982).

    Args:
        features: float64 (P, F).
        targets: float64 (P): probabilities, 0 to 1.
        start: float64 (F + 1): initial intercept and weights. The penalties keep the parameters near them.
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
        # A weight that is 0 must not become negative.
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


FOLDS: Final = 10

LEFT_OUT: Final = 0.075
ABSENT: Final = 0.225
"""Shares of two kinds of unanswerable mentions among all mentions.

``LEFT_OUT``: mentions of the corpus whose concepts are hidden. ``ABSENT``: names that the index does not have.
"""

_FEWEST: Final = 50
"""Smallest number of mentions to which a calibration is fitted."""

_RIDGE: Final = 1.0
"""L2 penalty of the weights, for features of variance 1.

It keeps weights finite if the features separate right from wrong mentions perfectly.
"""


@dataclass(frozen=True, slots=True, eq=False)
class CalibrationFit:
    """A calibration, and its reliability by cross-validation.

    Attributes:
        calibration: the calibration, which is fitted to all mentions.
        annotated: reliability on the mentions of the corpus.
        reliability: reliability on the mentions of the corpus and on unanswerable mentions.
    """

    calibration: Calibration
    annotated: Reliability
    reliability: Reliability


def fit_calibration(
    index: Index,
    corpus: Corpus,
    *,
    types: Collection[str] | None = None,
    language: str | None = None,
    absent: Sequence[str] | None = None,
) -> CalibrationFit:
    """Fit the confidences of an index to a corpus, and to unanswerable mentions.

    A first concept is right if it is gold. It is wrong if the vocabulary has none of the gold ids. Calibrate on
    development mentions. Do not calibrate on mentions of a final evaluation, or on mentions that were added to the
    index as names, because the confidences would be too high. :data:`LEFT_OUT` and :data:`ABSENT` are the shares
    of unanswerable mentions.

    Args:
        index: the index, calibrated or not.
        corpus: documents with gold ids.
        types: mentions of these types only.
        language: default language code of mentions; ``None`` if it is unknown, see
            :class:`~nymlink.linking.linker.Linker`.
        absent: names that mean no concept of the index; ``None`` to draw words and codes that are not among its
            names.

    Raises:
        InputError: there are too few mentions to calibrate on.
    """
    labelled = label_mentions(index, corpus, types=types, language=language)
    if len(labelled.starts) < _FEWEST:
        raise InputError(
            f"{len(labelled.starts)} mentions with gold ids are too few: it takes {_FEWEST} to calibrate an index"
        )
    matched = labelled.groups[~np.isnan(labelled.features[:, 0])]
    if len(np.unique(matched)) < FOLDS:
        raise InputError("too few different mentions of the corpus are like any name of the index")
    whole = with_unanswerable(index, labelled, absent)
    fitted = fit_weights(whole.features, whole.right, doubted=whole.factors < 1)
    confidences = _cross_validated(whole, fitted)
    reliability = whole.reliability(confidences)
    fitted_to = f"{len(labelled.starts):,} mentions of {corpus.name}, and others without an answer"
    calibration = replace(fitted, curve=reliability.curve(), fitted_to=fitted_to)
    return CalibrationFit(calibration, labelled.reliability(confidences[: len(labelled.right)]), reliability)


def with_unanswerable(
    index: Index, labelled: LabelledMentions, absent: Sequence[str] | None = None
) -> LabelledMentions:
    """Join labelled mentions with unanswerable mentions, in the shares :data:`LEFT_OUT` and :data:`ABSENT`.

    Args:
        index: the index that found their concepts.
        labelled: annotated mentions.
        absent: see :func:`fit_calibration`. As many names as necessary are sampled.
    """
    number = len(labelled.starts) / (1 - LEFT_OUT - ABSENT)
    wanted = round(ABSENT * number)
    if absent is None:
        absent = draw_absent_names(index, wanted)
    order = np.random.default_rng(0).permutation(len(absent))
    chosen = [absent[place] for place in order[:wanted].tolist()]
    others = [label_left_out(index, labelled, round(LEFT_OUT * number)), label_absent_names(index, chosen)]
    return LabelledMentions.joined([labelled, *(other for other in others if len(other.right))])


def measure_calibration(
    index: Index,
    calibration: Calibration,
    corpus: Corpus,
    *,
    types: Collection[str] | None = None,
    language: str | None = None,
) -> Reliability:
    """Measure a calibration on mentions of a corpus that it was not fitted to.

    Args:
        index: the index.
        calibration: the calibration of this index.
        corpus: documents with gold ids.
        types: mentions of these types only.
        language: default language code of mentions; ``None`` if it is unknown, see
            :class:`~nymlink.linking.linker.Linker`.

    Raises:
        InputError: nothing is left to score; the message says why.
    """
    return reliability_of(calibration, label_mentions(index, corpus, types=types, language=language))


def reliability_of(calibration: Calibration, labelled: LabelledMentions) -> Reliability:
    """Measure a calibration on labelled mentions."""
    return labelled.reliability(calibration.confidence(labelled.features, labelled.across) * labelled.factors)


def _cross_validated(labelled: LabelledMentions, whole: Calibration) -> Confidences:
    """Compute the confidence of each part by a calibration that was fitted to the other folds: float64 (P).

    Args:
        labelled: all mentions.
        whole: the calibration that was fitted to all mentions.
    """
    order = np.random.default_rng(0).permutation(labelled.groups.max() + 1)
    folds = order[labelled.groups] % FOLDS
    confidences = np.zeros(len(folds))
    for fold in range(FOLDS):
        own = folds == fold
        fitted = fit_weights(labelled.features[~own], labelled.right[~own], doubted=labelled.factors[~own] < 1)
        confidences[own] = fitted.confidence(labelled.features[own])
    return comparable(confidences, labelled.features, whole) * labelled.factors


def comparable(confidences: Confidences, features: Features, whole: Calibration) -> Confidences:
    """Make confidences that were fitted to parts of the mentions comparable with those of the fit to all.

    The confidence of an equal name differs a little from fold to fold. So equal names get their confidence in the
    fit to all mentions, and no other mention gets more than is possible in it. Otherwise a threshold that is
    chosen by these confidences could reject all equal names.

    Args:
        confidences: float64 (P).
        features: float64 (P, F).
        whole: the calibration that was fitted to all mentions.
    """
    equal = is_verbatim(features)
    return np.where(equal, whole.confidence(features), np.minimum(confidences, whole.surest))


def fit_weights(
    features: Features, right: npt.NDArray[np.bool_], *, doubted: npt.NDArray[np.bool_] | None = None
) -> Calibration:
    """Fit a logistic regression with a ridge penalty and weights of at least 0. Its curve is only a placeholder.

    Targets are moved a little from 0 and 1, as in Platt (1999), so that confidences stay below 1 even if all
    mentions are right.

    Args:
        features: float64 (P, F). Parts that found no concept (NaN) are left out.
        right: bool (P): whether the first concept is right.
        doubted: bool (P): parts whose confidence other doubts lower. They are left out too.
    """
    used = ~np.isnan(features[:, 0])
    if doubted is not None:
        used &= ~doubted
    features, right = features[used], right[used]
    mean, deviation = features.mean(axis=0), features.std(axis=0)
    deviation[deviation == 0] = 1
    scaled = (features - mean) / deviation
    count = right.sum()
    targets = np.where(right, (count + 1) / (count + 2), 1 / (len(right) - count + 2))

    penalties = np.append(0.0, np.full(len(CONFIDENCE_FEATURES), _RIDGE))
    solution = fit_logistic(scaled, targets, start=np.zeros(len(penalties)), penalties=penalties)
    weights = solution[1:] / deviation
    named = dict(zip(CONFIDENCE_FEATURES, weights.round(6).tolist(), strict=True))
    intercept = round(float(solution[0] - weights @ mean), 6)
    return Calibration(intercept, MappingProxyType(named), curve=((0.0, float(right.mean())),), fitted_to="")


_STRENGTH: Final = 5.0
"""L2 penalty of changes of the weights, for features of variance 1.

It is as strong as five links with a confidence of one half would be against four times as many judged links.
"""

_SMALLEST: Final = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class CalibrationRefit:
    """The result of learning confidences from judged links.

    Attributes:
        calibration: the new calibration; ``None`` if it was not better, or there is too little data.
        before: mean loss of the former calibration. The loss of a link is minus the logarithm of the probability
            of its judgement.
        after: cross-validated mean loss of the new calibration; equal to ``before`` if the new one is not used.
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

    The new calibration is used if it gains significantly on links to which it was not fitted
    (:func:`~nymlink.evaluation.significance.is_gain`).

    Args:
        calibration: the present calibration.
        features: float64 (P, F), see :data:`~nymlink.linking.calibration.CONFIDENCE_FEATURES`; NaN for a link
            without a concept.
        right: bool (P): whether the first concept was right.
        factors: float64 (P): the factor by which doubts lower the confidence of each link.
        folds: int64 (P): the fold of each link. A fold is measured with a calibration that was fitted to the other
            folds.
        fitted_to: description of the links, for people to read.
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
    """Keep the points of a calibration's curve up to its present highest confidence.

    No new curve is made from judged links, because reviewers may have judged only doubtful links.
    """
    kept = [point for point in calibration.curve if point[0] < calibration.surest]
    if len(kept) < len(calibration.curve):
        kept.append((calibration.surest, calibration.curve[-1][1]))
    return tuple(kept)


def _moved(
    calibration: Calibration, features: Features, right: Bools, factors: npt.NDArray[np.float64]
) -> Calibration:
    """Fit weights of at least 0 near those of a calibration.

    Links whose confidence other doubts lower are left out.
    """
    used = ~np.isnan(features[:, 0]) & (factors == 1)
    features, right = features[used], right[used]
    if not len(right):
        return calibration
    center = features.mean(axis=0)
    spread = np.maximum(features.std(axis=0), 0.05)
    start = np.array([calibration.weights[name] for name in CONFIDENCE_FEATURES]) * spread
    level = calibration.intercept + float(center @ (start / spread))
    scaled = (features - center) / spread
    first = np.append(level, start)

    penalties = np.full(len(first), _STRENGTH)
    solution = fit_logistic(scaled, right.astype(np.float64), start=first, penalties=penalties)
    weights = solution[1:] / spread
    named = dict(zip(CONFIDENCE_FEATURES, weights.round(6).tolist(), strict=True))
    return replace(
        calibration, intercept=round(float(solution[0] - weights @ center), 6), weights=MappingProxyType(named)
    )


def _losses(confidences: Confidences, right: Bools) -> npt.NDArray[np.float64]:
    """Compute the loss of each link: float64 (P).

    It is minus the logarithm of the probability of its judgement.
    """
    of_outcome = np.where(right, confidences, 1 - confidences)
    losses: npt.NDArray[np.float64] = -np.log(np.clip(of_outcome, _SMALLEST, 1))
    return losses
