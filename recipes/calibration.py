"""Calibrate indexes that are built with an encoder in a package and otherwise as by default.

    python recipes/calibration.py FOLDER [--encoder NAME]

Fits confidences to the sets of ``benchmarks/confidence/across.py`` whose licences allow it: mentions of diseases,
genes, chemicals, species, cell lines, anatomy, laboratory tests and patients' words, and mentions without an
answer. The precision at each confidence is measured on corpora that were left out. Indexes and labelled mentions
are kept in FOLDER, where ``across.py`` may have left them. Writes the calibration beside the encoder's folder.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.common.inputs import data_root, encoder_of
from benchmarks.confidence.across import Labelled, fit, labelled_sets, measured
from benchmarks.linking.curated_sets import SETS
from nymlink.core.store.atomic import atomic_file
from nymlink.encode.encoder import Encoder
from nymlink.encode.model.folder import MINI, NO_ENCODER, calibration_file
from nymlink.evaluation.calibration_data import LabelledMentions
from nymlink.evaluation.calibration_metrics import Reliability
from nymlink.evaluation.fit_calibration import comparable
from nymlink.linking.calibration import Confidences
from recipes.curated_ranker import UNLICENSED


def main() -> None:
    """Fit and write the calibration."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of indexes and labelled mentions")
    parser.add_argument("--encoder", default=MINI, help="name of the installed encoder, or letters for none")
    arguments = parser.parse_args()
    chosen = [each for each in SETS if each.corpus not in UNLICENSED]
    sets = labelled_sets(chosen, arguments.encoder, arguments.folder, data_root())
    calibration = fit(sets.values())

    def way(others: Mapping[str, Labelled], hidden: Collection[str], mentions: LabelledMentions) -> Confidences:
        confidences = fit(others.values(), hidden).confidence(mentions.features)
        return comparable(confidences, mentions.features, calibration) * mentions.factors

    parts = list(measured(sets, {each.name: each.corpus for each in chosen}, way).values())
    whole = Reliability.of(
        np.concatenate([part.confidences for part in parts]),
        np.concatenate([part.right for part in parts]),
        np.concatenate([part.answerable for part in parts]),
    )
    corpora = ", ".join(dict.fromkeys(each.corpus for each in chosen))
    fitted_to = f"{whole.answerable.sum():,} mentions of {corpora}, and others without an answer"
    calibration = replace(calibration, curve=whole.curve(), fitted_to=fitted_to)
    encoder = encoder_of(arguments.encoder)
    fingerprint = NO_ENCODER if encoder is None else Encoder.load(encoder).fingerprint
    file = calibration_file(encoder or NO_ENCODER)
    content = {"fingerprint": fingerprint, "calibration": calibration.to_dict()}
    with atomic_file(file) as partial:
        partial.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    print(f"{fitted_to} → {file}")


if __name__ == "__main__":
    main()
