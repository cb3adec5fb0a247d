"""A real PostgreSQL with pgvector, out of the wheel of pgserver."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def postgres_server() -> Iterator[str]:
    """Start a server that asks for no password, and yield its URL; skip the test where packages are missing."""
    for package in ("psycopg", "pgvector"):
        pytest.importorskip(package)
    # Not a folder of pytest: the server, which is another user if this one is root, must be able to enter it.
    with tempfile.TemporaryDirectory(prefix="nymlink-pg-", ignore_cleanup_errors=True) as folder:
        with warnings.catch_warnings(), pytest.MonkeyPatch.context() as context:
            # Of pgserver, about where it keeps its locks.
            warnings.simplefilter("ignore")
            # A database in UTF-8 cannot be made in another locale.
            context.setenv("LC_ALL", "C")
            server = pytest.importorskip("pgserver").get_server(folder)
        try:
            yield server.get_uri()
        finally:
            server.cleanup()
