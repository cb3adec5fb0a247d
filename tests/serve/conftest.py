from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("fastapi", reason="nymlink[serve] is not installed")

from fastapi.testclient import TestClient

from tests.serve.toy import serving


@pytest.fixture(scope="session")
def client() -> Iterator[TestClient]:
    """A client of a server with the default settings."""
    with serving() as client:
        yield client
