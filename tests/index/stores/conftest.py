"""Stores to test: those here, PostgreSQL out of the wheel of pgserver, a file of Milvus Lite."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.postgres import postgres_server


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """URL of a running server, which asks for no password."""
    with postgres_server() as url:
        yield url


@pytest.fixture(scope="session")
def milvus(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Path of a file of Milvus Lite."""
    for package in ("pymilvus", "milvus_lite"):
        pytest.importorskip(package)
    return str(tmp_path_factory.mktemp("milvus") / "test.db")


@pytest.fixture
def address(request: pytest.FixtureRequest) -> Callable[[str], str | None]:
    """Give the address of a store by its name; ``None`` for those here."""

    def of(name: str) -> str | None:
        if name == "faiss":
            pytest.importorskip("faiss")
        return str(request.getfixturevalue(name)) if name in ("postgres", "milvus") else None

    return of


@pytest.fixture(params=["postgres", "milvus"])
def server(request: pytest.FixtureRequest) -> str:
    """Address of each store that is a server."""
    return str(request.getfixturevalue(request.param))


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port of this machine on which nobody listens."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port on which connections are made, and nothing is ever answered."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield listening.getsockname()[1]


def contents(directory: Path) -> bytes:
    """All bytes of all files of a directory."""
    return b"".join(path.read_bytes() for path in sorted(directory.rglob("*")) if path.is_file())
