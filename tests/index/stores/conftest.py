"""Stores to test: those here, PostgreSQL out of the wheel of pgserver, files of Milvus Lite."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

STORES = ("ours", "faiss hnsw", "postgres exact", "postgres hnsw", "milvus exact", "milvus hnsw")
"""Name of a store and kind of dense search."""


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """URL of a server that has a database and no password."""
    for package in ("psycopg", "pgvector"):
        pytest.importorskip(package)
    pgserver = pytest.importorskip("pgserver")
    # Not a folder of pytest: the server, which is another user if this one is root, must be able to enter it.
    folder = tempfile.mkdtemp(prefix="nymlink-pg-")
    server = pgserver.get_server(folder)
    yield server.get_uri()
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def address(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str | None]:
    """Give the address of a store; ``None`` for those here."""

    def of(store: str) -> str | None:
        name = store.split()[0]
        if name == "postgres":
            return str(request.getfixturevalue("postgres"))
        if name == "milvus":
            for package in ("pymilvus", "milvus_lite"):
                pytest.importorskip(package)
            return str(tmp_path_factory.mktemp("milvus") / "test.db")
        if name == "faiss":
            pytest.importorskip("faiss")
        return None

    return of


def has(*packages: str) -> bool:
    return all(map(find_spec, packages))


def kind(store: str) -> str:
    return store.split()[1] if " " in store else "exact"


def folder_of(path: str) -> Path:
    return Path(path)
