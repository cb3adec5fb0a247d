"""Mentions of NCBI disease and BC5CDR disease, training and development parts, and their vocabulary."""

from __future__ import annotations

import tarfile
import tempfile
from pathlib import Path
from typing import Final

from nymlink.corpus.documents import Corpus
from nymlink.corpus.read import read_corpus

ARCHIVES: Final = {
    "ncbi-disease": "corpora/ncbi_disease/biosyn_form/ncbi-disease_processed_concepts.tar.gz",
    "bc5cdr-disease": "corpora/bc5cdr/bc5cdr-disease_processed_train_dev.tar.gz",
}
SPLITS: Final = ("processed_train", "processed_dev")
MEDIC: Final = "corpora/ncbi_disease/biosyn_form/ncbi-disease_train_dictionary.txt.gz"


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
