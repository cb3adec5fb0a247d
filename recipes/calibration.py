"""Calibrates indexes that are built with nymlink-mini and otherwise as by default.

    python recipes/calibration.py [--data DATA]

Fits confidences to the training and development mentions of NCBI disease and BC5CDR disease, linked to MEDIC
without their names, and to mentions that have no answer there: some of the same with their concepts left out, and
names of other vocabularies. Writes them beside the encoder. What they are worth elsewhere, ``benchmarks/trust.py``
measures.
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
from nymlink.corpus.model import Corpus
from nymlink.corpus.read import read_corpus
from nymlink.encode.cache.embedding_cache import EmbeddingCache
from nymlink.encode.encoder import Encoder
from nymlink.encode.model.embedded import MINI
from nymlink.encode.model.installed import calibration_file
from nymlink.evaluation.absent_names import draw_absent_names
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
"""Names of each of these tables."""


def main() -> None:
    """Fit, write, and say what it is worth."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="corpora/ and vocabularies/")
    data: Path = parser.parse_args().data
    encoder, cache = Encoder.load(MINI), EmbeddingCache.of_user()
    medic = Index.build(read_vocabulary(data / MEDIC), encoder=encoder, cache=cache, progress=True)
    found = fit_calibration(medic, annotated(data), absent=foreign_names(medic, data))
    made = {"fingerprint": encoder.fingerprint, "calibration": found.calibration.to_dict()}
    with atomic_file(calibration_file(MINI)) as partial:
        partial.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    say("annotated mentions, cross-validated", found.annotated)
    say("and mentions without an answer", found.reliability)


def foreign_names(index: Index, data: Path) -> list[str]:
    """Names of other vocabularies than those of diseases, words and codes that an index lacks."""
    names: list[str] = []
    for table in FOREIGN:
        vocabulary = read_vocabulary(data / "vocabularies" / f"{table}.tsv.gz")
        drawn = np.random.default_rng(0).permutation(len(vocabulary))[:EACH].tolist()
        names += [vocabulary.preferred_name(row) for row in drawn]
    lacking = [name for name in names if index.entries.find(normalise(name)) is None]
    return lacking + draw_absent_names(index, len(lacking))


def annotated(data: Path) -> Corpus:
    """The documents of all splits; those of two corpora may have one id."""
    documents = []
    with tempfile.TemporaryDirectory() as folder:
        for split in unpacked(data, Path(folder)):
            documents += read_corpus(split).documents
    return Corpus("NCBI disease and BC5CDR disease (training, development) in MEDIC", tuple(documents))


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
        f"Brier score {measured.brier:.3f}, AUROC of an answer {measured.answerable_auroc:.3f}, "
        f"precision at 50/80/90/100 % coverage {precisions}"
    )


if __name__ == "__main__":
    main()
