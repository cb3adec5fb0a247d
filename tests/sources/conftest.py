from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from nymlink.sources.download import Patience
from nymlink.sources.fetch import FetchOptions
from tests.sources.site import Site


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    stop = site.start()
    yield site
    stop()


@pytest.fixture
def options(tmp_path: Path) -> FetchOptions:
    """An empty cache and little patience."""
    return FetchOptions(folder=tmp_path / "cache", patience=Patience(timeout=5, tries=3, pause=0.001))
