"""Calibrating an index: fitting confidences to annotated mentions, and measuring them on others."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import expit

from nymlink.corpus.model import Corpus
from nymlink.errors import InputError
from nymlink.evaluate.calibration import Reliability
from nymlink.evaluate.gold import GoldResolver
from nymlink.index.index import Index
from nymlink.link.calibration import DEPTH, FEATURES, Calibration, Confidences, Features, features_of
from nymlink.link.queries import queries
from nymlink.text.spelling import DEFAULT_SPELLING

FOLDS: Final = 10

_FEWEST: Final = 50
"""With fewer mentions nothing is calibrated."""

_RIDGE: Final = 1.0
"""Of the squared weights, features having variance 1: they stay finite where few mentions tell all apart."""

Right = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Calibrated:
    """A calibration and what it is worth.

    Attributes:
        calibration: fitted on all mentions.
        reliability: of confidences that were each given to mentions not used to fit, by cross-validation.
    """

    calibration: Calibration
    reliability: Reliability


def calibrate(index: Index, corpus: Corpus, *, types: Collection[str] | None = None) -> Calibrated:
    """Fit the confidences of an index to a corpus.

    A first concept is right when it is gold, and wrong where the vocabulary holds none of the gold ids. Calibrate
    on development mentions, never on those that are to be reported, nor on any that were made names of the index:
    these would make it too sure.

    Args:
        index: what links; calibrated or not.
        corpus: documents with gold ids.
        types: mentions of these types only.

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
    reliability = judged.reliability(_cross_validated(judged))
    fitted = fit_weights(judged.features, judged.right)
    return Calibrated(Calibration(fitted.intercept, fitted.weights, reliability.curve()), reliability)


def measure(
    index: Index, calibration: Calibration, corpus: Corpus, *, types: Collection[str] | None = None
) -> Reliability:
    """The reliability of a calibration on a corpus that it was not fitted on.

    Args:
        index: what links.
        calibration: of this index.
        corpus: documents with gold ids.
        types: mentions of these types only.

    Raises:
        InputError: nothing is left to score; the message says why.
    """
    judged = judge(index, corpus, types=types)
    return judged.reliability(calibration.confidence(judged.features))


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """The first concepts of M annotated mentions, which have P parts.

    Attributes:
        queries: the P parts.
        features: float64 (P, 4), of each.
        right: bool (P), whether its first concept is gold.
        starts: int (M): where the parts of each mention start.
        groups: int (P): mentions of one group are fitted to, or measured, together.
    """

    queries: Sequence[str]
    features: Features
    right: Right
    starts: npt.NDArray[np.int64]
    groups: npt.NDArray[np.int64]

    def reliability(self, confidences: Confidences) -> Reliability:
        """Of whole mentions, as :class:`~nymlink.link.linker.Linker` has the confidence of a composite one."""
        whole = np.multiply.reduceat(confidences, self.starts).round(6)
        return Reliability.of(whole, np.logical_and.reduceat(self.right, self.starts))


def judge(index: Index, corpus: Corpus, *, types: Collection[str] | None = None) -> Judged:
    """Search the annotated mentions of a corpus, and see whether what comes first is gold.

    Mentions with a guess (see :class:`~nymlink.link.queries.Asked`) are left out.

    Raises:
        InputError: nothing is left to score; the message says why.
    """
    # As a linker reads them: it does not know how many concepts a mention means.
    annotated = [
        (document.id, asked, mention.concept_ids)
        for document in corpus.documents
        for mention, asked in zip(
            document.mentions, queries(document, index.entries, spelling=DEFAULT_SPELLING), strict=True
        )
        if mention.concept_ids and (types is None or mention.type in types)
    ]
    if not annotated:
        of_types = "" if types is None else f" of type {', '.join(sorted(types))}"
        there = ", ".join(sorted({mention.type for _, mention in corpus.mentions()}))
        raise InputError(f"no mention{of_types} of the corpus has a gold id; its types: {there or 'none'}")
    # How sure a guess is, no feature says.
    found = [
        (document, [part.text for part in asked], ids)
        for document, asked, ids in annotated
        if all(part.without is None for part in asked)
    ]
    if not found:
        raise InputError("every mention of the corpus that has a gold id has a misspelt word: mend them first")
    resolver = GoldResolver(index.vocabulary)
    texts = [part for _, parts, _ in found for part in parts]
    distinct, places = np.unique(np.array(texts, object), return_inverse=True)
    matches = index.match(distinct.tolist(), DEPTH)
    firsts = matches.concepts[places, 0].tolist()
    golds = [gold for _, parts, ids in found for gold in [resolver.rows(ids)] * len(parts)]
    counts = [len(parts) for _, parts, _ in found]
    documents = [document for document, parts, _ in found for _ in parts]
    ids, groups = np.unique(np.array(documents, object), return_inverse=True)
    return Judged(
        queries=texts,
        features=features_of(matches)[places],
        right=np.array([first in gold for first, gold in zip(firsts, golds, strict=True)]),
        starts=np.cumsum([0, *counts[:-1]]),
        # Names repeat within a document; where there are no documents to speak of, equal names are kept together.
        groups=groups if FOLDS <= len(ids) < len(found) else places,
    )


def _cross_validated(judged: Judged) -> Confidences:
    """For each part the confidence that it gets when fitted to other groups than its own."""
    order = np.random.default_rng(0).permutation(judged.groups.max() + 1)
    folds = order[judged.groups] % FOLDS
    confidences = np.zeros(len(folds))
    for fold in range(FOLDS):
        own = folds == fold
        fitted = fit_weights(judged.features[~own], judged.right[~own])
        confidences[own] = fitted.confidence(judged.features[own])
    return confidences


def fit_weights(features: Features, right: Right) -> Calibration:
    """The logistic regression of greatest penalised likelihood whose weights are at least 0, without a curve.

    Outcomes are drawn in a little from 0 and 1, as Platt (1999) has it: that all mentions are right
    does not make certain.

    Args:
        features: float64 (P, 4); those of queries without any concept are left out.
        right: bool (P): whether the first concept is right.
    """
    found = ~np.isnan(features[:, 0])
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
    return Calibration(intercept, MappingProxyType(named), curve=((0.0, float(right.mean())),))
