"""Calibrates indexes that are built with nymlink-mini and otherwise as by default.

    python recipes/calibration.py [--data DATA]

Fits confidences to the training and development mentions of NCBI disease and BC5CDR disease, linked to MEDIC
without their names, and writes them beside the encoder. Measured on the same mentions by cross-validation, and on
the development mentions of MedMentions that are mapped to MONDO, which are not fitted to.
"""

from __future__ import annotations

import argparse
import json
import tarfile
import tempfile
from pathlib import Path
from typing import Final

from nymlink.atomic import atomic_file
from nymlink.corpus.model import Corpus
from nymlink.corpus.options import CorpusOptions
from nymlink.corpus.read import read_corpus
from nymlink.encode.cache import EmbeddingCache
from nymlink.encode.embedded import MINI, calibration_file
from nymlink.encode.encoder import Encoder
from nymlink.evaluate.calibrate import calibrate, measure
from nymlink.evaluate.calibration import COVERAGES, Reliability
from nymlink.index.index import Index
from nymlink.vocabulary.read import read_vocabulary

ARCHIVES: Final = {
    "ncbi-disease": "corpora/ncbi_disease/biosyn_form/ncbi-disease_processed_concepts.tar.gz",
    "bc5cdr-disease": "corpora/bc5cdr/bc5cdr-disease_processed_train_dev.tar.gz",
}
SPLITS: Final = ("processed_train", "processed_dev")
MEDIC: Final = "corpora/ncbi_disease/biosyn_form/ncbi-disease_train_dictionary.txt.gz"
MONDO: Final = ("vocabularies/mondo.tsv.gz", "corpora/medmentions_mondo/mondo_dev.csv")


def main() -> None:
    """Fit, write, and say what it is worth."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="corpora/ and vocabularies/")
    data: Path = parser.parse_args().data
    encoder, cache = Encoder.load(MINI), EmbeddingCache.of_user()
    medic, mondo = (
        Index.build(read_vocabulary(data / path), encoder=encoder, cache=cache, progress=True)
        for path in (MEDIC, MONDO[0])
    )
    found = calibrate(medic, annotated(data))
    made = {
        "fingerprint": encoder.fingerprint,
        "fitted_to": "NCBI disease and BC5CDR disease, training and development, MEDIC",
        "calibration": found.calibration.to_dict(),
    }
    with atomic_file(calibration_file(MINI)) as partial:
        partial.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    say("cross-validated", found.reliability)
    columns = CorpusOptions(columns={"concept_id": "mondo_id"})
    say("MedMentions→MONDO dev", measure(mondo, found.calibration, read_corpus(data / MONDO[1], options=columns)))


def annotated(data: Path) -> Corpus:
    """The documents of all splits; those of two corpora may have one id."""
    documents = []
    with tempfile.TemporaryDirectory() as folder:
        for split in unpacked(data, Path(folder)):
            documents += read_corpus(split).documents
    return Corpus("NCBI disease and BC5CDR disease", tuple(documents))


def unpacked(data: Path, folder: Path) -> list[Path]:
    """The splits of each corpus, each a folder below ``folder``; of the archives nothing else is unpacked."""
    for archive in ARCHIVES.values():
        with tarfile.open(data / archive) as tar:
            wanted = [one for one in tar if Path(one.name).parent.name in SPLITS]
            tar.extractall(folder, wanted, filter="data")
    return [folder / corpus / split for corpus in ARCHIVES for split in SPLITS]


def say(title: str, measured: Reliability) -> None:
    """Print what confidences are worth."""
    precisions = "/".join(f"{100 * measured.precision(share):.1f}" for share in COVERAGES)
    print(
        f"{title}: {len(measured.right):,} mentions, error {measured.expected_error:.3f}, "
        f"Brier score {measured.brier:.3f}, precision at 50/80/90/100 % coverage {precisions}"
    )


if __name__ == "__main__":
    main()
