"""How confidence was made: ways to get it from the scores of a search, side by side on mentions not fitted to.

    python benchmarks/calibration.py [--encoder MODEL]

Expected calibration error and Brier score on the prepared development queries of NCBI and BC5CDR disease, bare
dictionary, by first concept. Fitted to the training split of the same corpus, then to the development split of the
other. No test set is read.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np
from scipy.optimize import isotonic_regression

from inputs import data_root
from nymlink.evaluate.calibrate import Judged, fit_weights, judge
from nymlink.evaluate.calibration import Reliability
from nymlink.index.index import Index
from nymlink.link.calibration import FEATURES, Confidences
from report import table
from tasks import MEDIC, bc5cdr, load, ncbi

Way = Callable[[Judged, Judged], Confidences]

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


def raw(_: Judged, other: Judged) -> Confidences:
    """The score as if it were a confidence."""
    return np.nan_to_num(other.features[:, 0])


def logistic(*features: str) -> Way:
    """The logistic regression on some of the features: one that is always 0 has no weight."""
    used = np.isin(FEATURES, features)

    def way(fitted: Judged, other: Judged) -> Confidences:
        calibration = fit_weights(fitted.features * used, fitted.right)
        return calibration.confidence(other.features * used)

    return way


def with_length(fitted: Judged, other: Judged) -> Confidences:
    """The length of the query (to a hundred characters) in place of whether it is equal."""

    def changed(judged: Judged) -> Judged:
        lengths = np.log1p([min(len(query), 100) for query in judged.queries]) / np.log1p(100)
        return replace(judged, features=np.column_stack([judged.features[:, :3], lengths]))

    return logistic(*FEATURES)(changed(fitted), changed(other))


def as_it_is(fitted: Judged, other: Judged) -> Confidences:
    """The lead over the next score in place of how clear it is."""

    def changed(judged: Judged) -> Judged:
        features = judged.features.copy()
        features[:, 1] = -0.1 * np.log1p(-features[:, 1])
        return replace(judged, features=features)

    return logistic(*FEATURES)(changed(fitted), changed(other))


def isotonic(fitted: Judged, other: Judged) -> Confidences:
    """What the logistic regression gives, bent to the shares of the mentions that it was fitted to.

    It makes steps. A hundredth of the regression tells mentions on one step apart: those that are equally sure are
    one large bin, in which whatever is wrong evens out.
    """
    calibration = fit_weights(fitted.features, fitted.right)
    own = calibration.confidence(fitted.features)
    order = np.argsort(own, kind="stable")
    bent = isotonic_regression(fitted.right[order].astype(float)).x
    straight = calibration.confidence(other.features)
    return 0.99 * np.interp(straight, own[order], bent) + 0.01 * straight


OURS: Final = "logistic: score, ahead, alone, exact (nymlink)"
WAYS: Final[dict[str, Way]] = {
    "raw score": raw,
    "logistic: score": logistic("score"),
    "logistic: score, ahead": logistic("score", "ahead"),
    OURS: logistic(*FEATURES),
    "logistic: score, ahead, alone, length": with_length,
    "logistic: score, the lead as it is, alone, exact": as_it_is,
    "isotonic over nymlink's": isotonic,
}


def _by_chance(measured: Reliability, *, draws: int = 200) -> str:
    """The figures of confidences that are deserved, on so few mentions; mentions are drawn one by one."""
    generator = np.random.default_rng(0)
    found = [
        Reliability(measured.confidences, generator.random(len(measured.right)) < measured.confidences)
        for _ in range(draws)
    ]
    error, brier = np.mean([(one.expected_error, one.brier) for one in found], axis=0)
    return f"{error:.3f} · {brier:.3f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", help="dense search with this encoder too")
    arguments = parser.parse_args()
    data = data_root()
    corpora = {name: load(task, data) for name, task in SPLITS.items()}
    index = Index.build(corpora["NCBI dev"][0], encoder=arguments.encoder)
    judged = {name: judge(index, corpus) for name, (_, [corpus]) in corpora.items()}
    rows = []
    for label, way in WAYS.items():
        measured = [judged[other].reliability(way(judged[fitted], judged[other])) for fitted, other in FITTED]
        rows.append([label, *(f"{one.expected_error:.3f} · {one.brier:.3f}" for one in measured)])
        if label == OURS:
            rows.append(["the same, if all were deserved", *map(_by_chance, measured)])
    print(table(("error · Brier score", *(f"{fitted} → {other}" for fitted, other in FITTED)), rows))


if __name__ == "__main__":
    main()
