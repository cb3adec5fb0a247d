"""Compare ways to compute confidence from the scores of a search, on mentions that were not fitted to.

    python benchmarks/confidence/calibration.py [--encoder MODEL] [--json FILE]

Expected calibration error, Brier score and AUROC of an answer on the prepared development queries of NCBI and
BC5CDR disease, bare dictionary, by first concept, and on mentions that have no answer, in the shares that are
fitted to. Fitted to the training split of the same corpus, then to the development split of the other. No test set
is read.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np
from scipy.optimize import isotonic_regression

from benchmarks.common import report
from benchmarks.common.inputs import data_root
from benchmarks.common.tasks import MEDIC, bc5cdr, load, ncbi
from nymlink.evaluation.calibration_data import LabelledMentions, label_mentions
from nymlink.evaluation.calibration_metrics import Reliability
from nymlink.evaluation.fit_calibration import fit_weights, with_unanswerable
from nymlink.index.index import Index
from nymlink.linking.calibration import CONFIDENCE_FEATURES, Calibration, Confidences

Way = Callable[[LabelledMentions, LabelledMentions], Confidences]

_BC5CDR: Final = bc5cdr("bare", MEDIC)
SPLITS: Final = {
    "NCBI train": ncbi("train", "bare", MEDIC),
    "NCBI dev": ncbi("dev", "bare", MEDIC),
    "BC5CDR train": replace(_BC5CDR, parts=("bc5cdr-disease/processed_train",)),
    "BC5CDR dev": _BC5CDR,
}
FITTED: Final = (
    ("NCBI train", "NCBI dev"),
    ("BC5CDR train", "BC5CDR dev"),
    ("NCBI dev", "BC5CDR dev"),
    ("BC5CDR dev", "NCBI dev"),
)


def raw(_: LabelledMentions, other: LabelledMentions) -> Confidences:
    """Take the score as confidence."""
    return np.nan_to_num(other.features[:, 0])


def fitted_to(labelled: LabelledMentions) -> Calibration:
    return fit_weights(labelled.features, labelled.right, doubted=labelled.factors < 1)


def logistic(*features: str) -> Way:
    """Fit the logistic regression to some of the features: one that is always 0 has no weight."""
    used = np.isin(CONFIDENCE_FEATURES, features)

    def way(fitted: LabelledMentions, other: LabelledMentions) -> Confidences:
        calibration = fitted_to(replace(fitted, features=fitted.features * used))
        return calibration.confidence(other.features * used) * other.factors

    return way


def undoubted(fitted: LabelledMentions, other: LabelledMentions) -> Confidences:
    """Apply the logistic regression without doubts."""
    return fitted_to(replace(fitted, factors=np.ones_like(fitted.factors))).confidence(other.features)


def answered(fitted: LabelledMentions, other: LabelledMentions) -> Confidences:
    """Fit to mentions with an answer only."""
    own = np.array([bool(gold) for gold in fitted.gold])
    calibration = fit_weights(fitted.features[own], fitted.right[own], doubted=fitted.factors[own] < 1)
    return calibration.confidence(other.features) * other.factors


def as_it_is(fitted: LabelledMentions, other: LabelledMentions) -> Confidences:
    """Replace the feature ``ahead`` by the plain lead over the next score."""

    def changed(labelled: LabelledMentions) -> LabelledMentions:
        features = labelled.features.copy()
        # An equal name has the largest possible lead, 1.
        features[:, 1] = np.minimum(-0.1 * np.log(np.maximum(1 - features[:, 1], 1e-9)), 1)
        return replace(labelled, features=features)

    return logistic(*CONFIDENCE_FEATURES)(changed(fitted), changed(other))


def isotonic(fitted: LabelledMentions, other: LabelledMentions) -> Confidences:
    """Fit an isotonic regression to the confidences of the logistic one.

    It is a step function. A hundredth of the logistic confidence separates mentions on one step, which would
    otherwise share one large bin, in which errors cancel out.
    """
    calibration = fitted_to(fitted)
    own = calibration.confidence(fitted.features)
    order = np.argsort(own, kind="stable")
    bent = isotonic_regression(fitted.right[order].astype(float)).x
    straight = calibration.confidence(other.features)
    return (0.99 * np.interp(straight, own[order], bent) + 0.01 * straight) * other.factors


OURS: Final = "logistic: all features, doubts (nymlink)"
WAYS: Final[dict[str, Way]] = {
    "raw score": raw,
    "logistic: score": logistic("score"),
    "logistic: score, ahead, alone": logistic("score", "ahead", "alone"),
    "logistic: covered, covering, known": logistic("covered", "covering", "known"),
    OURS: logistic(*CONFIDENCE_FEATURES),
    "the same, without doubts": undoubted,
    "the same, fitted to mentions with an answer alone": answered,
    "the same, the lead as it is": as_it_is,
    "isotonic over nymlink's": isotonic,
}


def _figures(measured: Reliability) -> str:
    return f"{measured.expected_error:.3f} · {measured.brier:.3f} · {measured.answerable_auroc:.3f}"


def _by_chance(measured: Reliability, *, draws: int = 200) -> str:
    """Simulate the figures of perfect confidences on as few mentions."""
    generator = np.random.default_rng(0)
    simulated = [
        replace(measured, right=generator.random(len(measured.right)) < measured.confidences) for _ in range(draws)
    ]
    error, brier = np.mean([(reliability.expected_error, reliability.brier) for reliability in simulated], axis=0)
    return f"{error:.3f} · {brier:.3f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", help="dense search with this encoder too")
    parser.add_argument("--json", type=Path, help="also write the table to this file")
    arguments = parser.parse_args()
    data = data_root()
    corpora = {name: load(task, data) for name, task in SPLITS.items()}
    index = Index.build(corpora["NCBI dev"][0], encoder=arguments.encoder)
    labelled = {
        name: with_unanswerable(index, label_mentions(index, corpus)) for name, (_, [corpus]) in corpora.items()
    }
    rows = []
    for label, way in WAYS.items():
        measured = [
            labelled[other].reliability(way(labelled[fitted], labelled[other])) for fitted, other in FITTED
        ]
        rows.append([label, *map(_figures, measured)])
        if label == OURS:
            rows.append(["the same, if all were deserved", *map(_by_chance, measured)])
    header = ("error · Brier score · AUROC", *(f"{fitted} → {other}" for fitted, other in FITTED))
    print(report.table(header, rows))
    of = {"data": "NCBI disease, BC5CDR disease", "split": "train, dev", "dictionary": "MEDIC 2012, bare"}
    about = report.about(**of, counting="by concept", encoder=arguments.encoder, seed=0)
    report.save(arguments.json, {"about": about, "ways": [dict(zip(header, row, strict=True)) for row in rows]})


if __name__ == "__main__":
    main()
