from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="nymlink[serve] is not installed")

from fastapi.testclient import TestClient

from tests.serve.running import Server
from tests.serve.schemas import validator
from tests.serve.toy import built_index, serving


@pytest.fixture(scope="session")
def client() -> Iterator[TestClient]:
    """A client of a server with the default settings."""
    with serving() as client:
        yield client


@pytest.fixture(scope="session")
def valid(data: Path) -> Callable[[str, str, Any], None]:
    """Checks a value with an official schema: ``valid("0.2", "manifest", answer)``."""
    folder = data / "schemas" / "reconciliation"

    def check(version: str, name: str, value: Any) -> None:
        errors = [error.message for error in validator(folder, version, name).iter_errors(value)]
        assert not errors, (version, name, errors[:3])

    return check


@pytest.fixture(scope="session")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served") / "index"
    built_index().save(folder)
    return folder


@pytest.fixture(scope="session")
def server(index: Path) -> Iterator[Server]:
    running = Server.of(index)
    yield running
    running.process.kill()
    running.process.wait()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of the projects of a server."""
    return tmp_path / "projects"


@pytest.fixture
def api(folder: Path) -> Iterator[TestClient]:
    """A client of a server with projects."""
    with serving(projects=folder) as client:
        yield client
