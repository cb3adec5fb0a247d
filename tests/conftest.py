"""What all tests share: where the real data lies, and a cache of their own."""

from __future__ import annotations

import os
from pathlib import Path

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
