"""Fitting the confidences of an index to annotated mentions, and measuring them on others."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

import numpy as np
import numpy.typing as npt

from nymlink.core.errors import InputError
from nymlink.corpus.model import Corpus
from nymlink.evaluation.calibration.absent_names import draw_absent_names
from nymlink.evaluation.calibration.calibration_data import (
    LabelledMentions,
    label_absent_names,
    label_left_out,
    label_mentions,
)
from nymlink.evaluation.calibration.calibration_metrics import Reliability
from nymlink.evaluation.calibration.logistic import fit_logistic
from nymlink.index.index import Index
from nymlink.linking.confidence.calibration import Calibration, Confidences
from nymlink.linking.confidence.evidence import FEATURES, Features

FOLDS: Final = 10

LEFT_OUT: Final = 0.075
ABSENT: Final = 0.225
"""Shares of the mentions fitted to that have no answer: mentions of the corpus whose concepts are left out, and
names that are absent from the index."""

_FEWEST: Final = 50
"""The smallest number of mentions to calibrate on."""

_RIDGE: Final = 1.0
"""L2 penalty of the weights, for features of variance 1: keeps them finite where mentions are separable."""


@dataclass(frozen=True, slots=True, eq=False)
class CalibrationFit:
    """A calibration and its cross-validated reliability.

    Attributes:
        calibration: fitted to all mentions.
        annotated: reliability on the mentions of the corpus.
        reliability: reliability on these and on mentions that have no answer.
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
    """Fit the confidences of an index to a corpus, and to mentions that have no answer.

    A first concept is right when it is gold, and wrong where the vocabulary holds none of the gold ids. Calibrate
    on development mentions, never on those that are to be reported, nor on any that were made names of the index:
    these would make it too sure. :data:`LEFT_OUT` and :data:`ABSENT` are the shares of mentions without an answer.

    Args:
        index: the index, calibrated or not.
        corpus: documents with gold ids.
        types: mentions of these types only.
        language: code of the language of mentions that state none; ``None`` where it is unknown, see
            :class:`~nymlink.linking.linker.Linker`.
        absent: names that mean no concept of the index; if ``None``, words and codes that are none of its names.

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
    confidences = _cross_validated(whole, fitted.surest)
    reliability = whole.reliability(confidences)
    fitted_to = f"{len(labelled.starts):,} mentions of {corpus.name}, and others without an answer"
    calibration = replace(fitted, curve=reliability.curve(), fitted_to=fitted_to)
    return CalibrationFit(calibration, labelled.reliability(confidences[: len(labelled.right)]), reliability)


def with_unanswerable(
    index: Index, labelled: LabelledMentions, absent: Sequence[str] | None = None
) -> LabelledMentions:
    """Join labelled mentions with mentions that have no answer, in the shares :data:`LEFT_OUT` and :data:`ABSENT`.

    Args:
        index: the index that found their concepts.
        labelled: annotated mentions.
        absent: see :func:`fit_calibration`; as many as are needed are drawn from them.
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
        language: code of the language of mentions that state none; ``None`` where it is unknown, see
            :class:`~nymlink.linking.linker.Linker`.

    Raises:
        InputError: nothing is left to score; the message says why.
    """
    return reliability_of(calibration, label_mentions(index, corpus, types=types, language=language))


def reliability_of(calibration: Calibration, labelled: LabelledMentions) -> Reliability:
    """Measure a calibration on labelled mentions."""
    return labelled.reliability(calibration.confidence(labelled.features) * labelled.factors)


def _cross_validated(labelled: LabelledMentions, surest: float) -> Confidences:
    """Compute the confidence of each part by a calibration fitted to the other folds: float64 (P).

    The confidence of an equal name differs a little from fold to fold. Equal names get ``surest`` instead, their
    confidence when all mentions are fitted to, and no other part gets more: otherwise a threshold chosen here
    could reject all equal names.
    """
    order = np.random.default_rng(0).permutation(labelled.groups.max() + 1)
    folds = order[labelled.groups] % FOLDS
    confidences = np.zeros(len(folds))
    for fold in range(FOLDS):
        own = folds == fold
        fitted = fit_weights(labelled.features[~own], labelled.right[~own], doubted=labelled.factors[~own] < 1)
        confidences[own] = fitted.confidence(labelled.features[own])
    equal = (labelled.features == 1).all(axis=1)
    return np.where(equal, surest, np.minimum(confidences, surest)) * labelled.factors


def fit_weights(
    features: Features, right: npt.NDArray[np.bool_], *, doubted: npt.NDArray[np.bool_] | None = None
) -> Calibration:
    """Fit a ridge-penalised logistic regression with weights of at least 0; its curve is only a placeholder.

    Targets are moved a little from 0 and 1, as in Platt (1999): a confidence is below 1 even where all mentions
    are right.

    Args:
        features: float64 (P, F); queries without any concept (NaN) are left out.
        right: bool (P): whether the first concept is right.
        doubted: bool (P): parts that other doubts lower, which are left out too.
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

    penalties = np.append(0.0, np.full(len(FEATURES), _RIDGE))
    solution = fit_logistic(scaled, targets, start=np.zeros(len(penalties)), penalties=penalties)
    weights = solution[1:] / deviation
    named = dict(zip(FEATURES, weights.round(6).tolist(), strict=True))
    intercept = round(float(solution[0] - weights @ mean), 6)
    return Calibration(intercept, MappingProxyType(named), curve=((0.0, float(right.mean())),), fitted_to="")
