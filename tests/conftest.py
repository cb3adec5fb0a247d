"""What all tests share: where the real data lies, a cache of their own, and the scripts of the benchmarks."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real corpora and vocabularies; tests that ask for it skip where it is absent."""
    root = Path(os.environ.get("NYMLINK_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not root.is_dir():
        pytest.skip("real data not found: set NYMLINK_DATA to its folder")
    return root


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Indexes and vectors go to a cache that is not the user's, and is empty at first."""
    os.environ["NYMLINK_CACHE"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """Imports a script of ``benchmarks/``: tests see that these run, on toys, where no figure means anything."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "benchmarks"))
    return importlib.import_module
