"""Calibrate indexes that are built with an encoder in a package and otherwise as by default.

    python recipes/calibration.py [--data DATA] [--encoder NAME]

Fits confidences to the training and development mentions of NCBI disease and BC5CDR disease, linked to MEDIC
without their names, and to mentions that have no answer there: some of the same with their concepts left out, and
names of other vocabularies. Writes the calibration to the folder of the encoder.
``benchmarks/confidence/trust.py`` measures it on other data.
"""

from __future__ import annotations

import argparse
import json
import tarfile
import tempfile
from pathlib import Path
from typing import Final

import numpy as np

from nymlink.core.store.atomic import atomic_file
from nymlink.corpus.documents import Corpus
from nymlink.corpus.read import read_corpus
from nymlink.encode.cached_vectors import EmbeddingCache
from nymlink.encode.encoder import Encoder
from nymlink.encode.model.folder import MINI, calibration_file
from nymlink.evaluation.calibration_data import draw_absent_names
from nymlink.evaluation.calibration_metrics import COVERAGES, Reliability
from nymlink.evaluation.fit_calibration import fit_calibration
from nymlink.index.index import Index
from nymlink.text.normalise import normalise
from nymlink.vocabulary.read import read_vocabulary

ARCHIVES: Final = {
    "ncbi-disease": "corpora/ncbi_disease/biosyn_form/ncbi-disease_processed_concepts.tar.gz",
    "bc5cdr-disease": "corpora/bc5cdr/bc5cdr-disease_processed_train_dev.tar.gz",
}
SPLITS: Final = ("processed_train", "processed_dev")
MEDIC: Final = "corpora/ncbi_disease/biosyn_form/ncbi-disease_train_dictionary.txt.gz"
FOREIGN: Final = ("cellosaurus_human", "chebi", "foodon", "go", "hgnc", "icd10pcs", "ncbitaxon", "uberon")
EACH: Final = 400
"""Names drawn of each of these tables."""


def main() -> None:
    """Fit and write the calibration, and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="corpora/ and vocabularies/")
    parser.add_argument("--encoder", default=MINI, help="name of the installed encoder")
    arguments = parser.parse_args()
    data: Path = arguments.data
    encoder, cache = Encoder.load(arguments.encoder), EmbeddingCache.of_user()
    medic = Index.build(read_vocabulary(data / MEDIC), encoder=encoder, cache=cache, progress=True)
    fitted = fit_calibration(medic, annotated(data), absent=foreign_names(medic, data))
    content = {"fingerprint": encoder.fingerprint, "calibration": fitted.calibration.to_dict()}
    with atomic_file(calibration_file(arguments.encoder)) as partial:
        partial.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    print_metrics("annotated mentions, cross-validated", fitted.annotated)
    print_metrics("and mentions without an answer", fitted.reliability)


def foreign_names(index: Index, data: Path) -> list[str]:
    """Draw names of vocabularies of other things than diseases, words and codes that an index lacks."""
    names: list[str] = []
    for table in FOREIGN:
        vocabulary = read_vocabulary(data / "vocabularies" / f"{table}.tsv.gz")
        drawn = np.random.default_rng(0).permutation(len(vocabulary))[:EACH].tolist()
        names += [vocabulary.preferred_name(row) for row in drawn]
    lacking = [name for name in names if index.entries.find(normalise(name)) is None]
    return lacking + draw_absent_names(index, len(lacking))


def annotated(data: Path) -> Corpus:
    """Read the documents of all splits; ids of documents may repeat across corpora."""
    documents = []
    with tempfile.TemporaryDirectory() as folder:
        for split in unpacked(data, Path(folder)):
            documents += read_corpus(split).documents
    return Corpus("NCBI disease and BC5CDR disease (training, development) in MEDIC", tuple(documents))


def unpacked(data: Path, folder: Path) -> list[Path]:
    """Unpack the splits of each corpus, each to a folder below ``folder``, and nothing else of the archives."""
    for archive in ARCHIVES.values():
        with tarfile.open(data / archive) as tar:
            members = [member for member in tar if Path(member.name).parent.name in SPLITS]
            tar.extractall(folder, members, filter="data")
    return [folder / corpus / split for corpus in ARCHIVES for split in SPLITS]


def print_metrics(title: str, reliability: Reliability) -> None:
    """Print metrics of confidences."""
    precisions = "/".join(f"{100 * reliability.precision(share):.1f}" for share in COVERAGES)
    print(
        f"{title}: {len(reliability.right):,} mentions, error {reliability.expected_error:.3f}, "
        f"Brier score {reliability.brier:.3f}, AUROC of an answer {reliability.answerable_auroc:.3f}, "
        f"precision at 50/80/90/100 % coverage {precisions}"
    )


if __name__ == "__main__":
    main()
