"""Calibrating an index: fitting confidences to annotated mentions, and measuring them on others."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import expit

from nymlink.core.errors import InputError
from nymlink.corpus.model import Corpus
from nymlink.evaluate.calibration import Reliability
from nymlink.evaluate.judged import Judged, judge, judge_lacking, judge_left_out
from nymlink.evaluate.unanswerable import lacking_names
from nymlink.index.index import Index
from nymlink.link.calibration import Calibration, Confidences
from nymlink.link.evidence import FEATURES, Features

FOLDS: Final = 10

LEFT_OUT: Final = 0.075
LACKING: Final = 0.225
"""Shares of all mentions that are fitted to, or measured, which have no answer: those of the corpus whose concepts
are left out, and names that the index lacks."""

_FEWEST: Final = 50
"""With fewer mentions nothing is calibrated."""

_RIDGE: Final = 1.0
"""Of the squared weights, features having variance 1: they stay finite where few mentions tell all apart."""


@dataclass(frozen=True, slots=True, eq=False)
class Calibrated:
    """A calibration and what it is worth, by cross-validation: each mention was not used to fit what it was given.

    Attributes:
        calibration: fitted on all mentions.
        annotated: of the mentions of the corpus.
        reliability: of these and of mentions that have no answer.
    """

    calibration: Calibration
    annotated: Reliability
    reliability: Reliability


def calibrate(
    index: Index, corpus: Corpus, *, types: Collection[str] | None = None, lacking: Sequence[str] | None = None
) -> Calibrated:
    """Fit the confidences of an index to a corpus, and to mentions that have no answer.

    A first concept is right when it is gold, and wrong where the vocabulary holds none of the gold ids. Calibrate
    on development mentions, never on those that are to be reported, nor on any that were made names of the index:
    these would make it too sure. :data:`LEFT_OUT` and :data:`LACKING` say how many have no answer.

    Args:
        index: what links; calibrated or not.
        corpus: documents with gold ids.
        types: mentions of these types only.
        lacking: names that mean no concept of the index; if ``None``, words and codes that are none of its names.

    Raises:
        InputError: there are too few mentions to calibrate on.
    """
    judged = judge(index, corpus, types=types)
    if len(judged.starts) < _FEWEST:
        raise InputError(
            f"{len(judged.starts)} mentions with gold ids are too few: it takes {_FEWEST} to calibrate an index"
        )
    found = judged.groups[~np.isnan(judged.features[:, 0])]
    if len(np.unique(found)) < FOLDS:
        raise InputError("too few different mentions of the corpus are like any name of the index")
    whole = with_unanswerable(index, judged, lacking)
    fitted = fit_weights(whole.features, whole.right, doubted=whole.factors < 1)
    confidences = _cross_validated(whole, fitted.surest)
    reliability = whole.reliability(confidences)
    said = f"{len(judged.starts):,} mentions of {corpus.name}, and others without an answer"
    calibration = replace(fitted, curve=reliability.curve(), fitted_to=said)
    return Calibrated(calibration, judged.reliability(confidences[: len(judged.right)]), reliability)


def with_unanswerable(index: Index, judged: Judged, lacking: Sequence[str] | None = None) -> Judged:
    """Join judged mentions with mentions that have no answer, in the shares that are fitted to.

    Args:
        index: that judged them.
        judged: annotated mentions.
        lacking: see :func:`calibrate`; as many as are needed are drawn of them.
    """
    number = len(judged.starts) / (1 - LEFT_OUT - LACKING)
    wanted = round(LACKING * number)
    if lacking is None:
        lacking = lacking_names(index, wanted)
    drawn = np.random.default_rng(0)
    chosen = [lacking[place] for place in drawn.permutation(len(lacking))[:wanted].tolist()]
    others = [judge_left_out(index, judged, round(LEFT_OUT * number)), judge_lacking(index, chosen)]
    return Judged.joined([judged, *(other for other in others if len(other.right))])


def measure(
    index: Index, calibration: Calibration, corpus: Corpus, *, types: Collection[str] | None = None
) -> Reliability:
    """Measure a calibration on the mentions of a corpus that it was not fitted on.

    Args:
        index: what links.
        calibration: of this index.
        corpus: documents with gold ids.
        types: mentions of these types only.

    Raises:
        InputError: nothing is left to score; the message says why.
    """
    return reliability_of(calibration, judge(index, corpus, types=types))


def reliability_of(calibration: Calibration, judged: Judged) -> Reliability:
    """The reliability of a calibration on judged mentions."""
    return judged.reliability(calibration.confidence(judged.features) * judged.factors)


def _cross_validated(judged: Judged, surest: float) -> Confidences:
    """For each part the confidence that it gets when fitted to other groups than its own.

    What is fitted to a part of the mentions is a little surer of equal names than what is fitted to all, or less
    sure: no confidence is above ``surest``, that of these as fitted to all, and equal names have that. Else a
    threshold that is found here could turn all of them away.
    """
    order = np.random.default_rng(0).permutation(judged.groups.max() + 1)
    folds = order[judged.groups] % FOLDS
    confidences = np.zeros(len(folds))
    for fold in range(FOLDS):
        own = folds == fold
        fitted = fit_weights(judged.features[~own], judged.right[~own], doubted=judged.factors[~own] < 1)
        confidences[own] = fitted.confidence(judged.features[own])
    equal = (judged.features == 1).all(axis=1)
    return np.where(equal, surest, np.minimum(confidences, surest)) * judged.factors


def fit_weights(
    features: Features, right: npt.NDArray[np.bool_], *, doubted: npt.NDArray[np.bool_] | None = None
) -> Calibration:
    """Fit the logistic regression of greatest penalised likelihood whose weights are at least 0, without a curve.

    Outcomes are drawn in a little from 0 and 1, as Platt (1999) has it: that all mentions are right
    does not make certain.

    Args:
        features: float64 (P, F); those of queries without any concept are left out.
        right: bool (P): whether the first concept is right.
        doubted: bool (P): those that there is more to doubt about, which are left out, too.
    """
    found = ~np.isnan(features[:, 0])
    if doubted is not None:
        found &= ~doubted
    features, right = features[found], right[found]
    mean, deviation = features.mean(axis=0), features.std(axis=0)
    deviation[deviation == 0] = 1
    scaled = (features - mean) / deviation
    number = right.sum()
    targets = np.where(right, (number + 1) / (number + 2), 1 / (len(right) - number + 2))

    def loss(parameters: Confidences) -> tuple[float, Confidences]:
        intercept, weights = parameters[0], parameters[1:]
        odds = intercept + scaled @ weights
        off = expit(odds) - targets
        penalty = _RIDGE / 2 * float(weights @ weights)
        value = float((np.logaddexp(0, odds) - targets * odds).sum()) + penalty
        return value, np.append(off.sum(), scaled.T @ off + _RIDGE * weights)

    bounds = [(None, None), *[(0, None)] * len(FEATURES)]
    found_at = minimize(loss, np.zeros(len(bounds)), jac=True, method="L-BFGS-B", bounds=bounds).x
    weights = found_at[1:] / deviation
    named = dict(zip(FEATURES, weights.round(6).tolist(), strict=True))
    intercept = round(float(found_at[0] - weights @ mean), 6)
    return Calibration(intercept, MappingProxyType(named), curve=((0.0, float(right.mean())),), fitted_to="")
