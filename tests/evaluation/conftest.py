"""Real data that several tests share, read and indexed once."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from nymlink.corpus import Corpus, read_corpus
from nymlink.vocabulary.read import read_vocabulary
from nymlink.vocabulary.vocabulary import Vocabulary


@pytest.fixture(scope="session")
def ncbi(data: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Corpus]:
    """The prepared NCBI queries: ``train``, ``dev`` and ``test``."""
    folder = tmp_path_factory.mktemp("ncbi")
    with tarfile.open(data / "corpora/ncbi_disease/biosyn_form/ncbi-disease_processed_concepts.tar.gz") as tar:
        tar.extractall(folder, filter="data")
    splits = ("train", "dev", "test")
    return {split: read_corpus(folder / f"ncbi-disease/processed_{split}") for split in splits}


@pytest.fixture(scope="session")
def medic(data: Path) -> Vocabulary:
    """MEDIC of July 2012."""
    return read_vocabulary(data / "corpora/ncbi_disease/medic_06Jul2012.txt.gz")
