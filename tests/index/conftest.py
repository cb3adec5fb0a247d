"""What tests of searches share."""

from __future__ import annotations

from pathlib import Path

import pytest

from nymlink.encode.encoder import Encoder
from nymlink.index.index import Index
from tests.encode import tiny
from tests.index.dense_samples import VOCABULARY


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.folder(tmp_path_factory.mktemp("model") / "tiny")


@pytest.fixture(scope="module")
def encoder(model: Path) -> Encoder:
    return Encoder.load(model)


@pytest.fixture(scope="module")
def saved(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("index") / "dense"
    Index.build(VOCABULARY, directory=directory, encoder=model)
    return directory
