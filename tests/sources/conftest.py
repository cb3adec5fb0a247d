from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from nymlink.sources.downloader import RetryPolicy
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
    """An empty cache and little retries."""
    return FetchOptions(folder=tmp_path / "cache", retries=RetryPolicy(timeout=5, tries=3, pause=0.001))
