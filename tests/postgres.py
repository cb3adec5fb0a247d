"""A real PostgreSQL with pgvector, out of the wheel of pgserver."""

from __future__ import annotations

import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Final

import pytest

_TRIES: Final = 3
"""initdb of the wheel aborts once in some hundred runs."""


@contextmanager
def postgres_server() -> Iterator[str]:
    """Start a server that asks for no password, and yield its URL; skip the test where packages are missing."""
    for package in ("psycopg", "pgvector"):
        pytest.importorskip(package)
    with ExitStack() as folders:
        server = _started(folders)
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


def _started(folders: ExitStack) -> Any:
    pgserver = pytest.importorskip("pgserver")
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as context:
        # Of pgserver, about where it keeps its locks.
        warnings.simplefilter("ignore")
        # A database in UTF-8 cannot be made in another locale.
        context.setenv("LC_ALL", "C")
        for tries_left in reversed(range(_TRIES)):
            # Not a folder of pytest: as root, the server runs as another user, who must be able to enter it.
            folder = tempfile.TemporaryDirectory(prefix="nymlink-pg-", ignore_cleanup_errors=True)
            try:
                return pgserver.get_server(folders.enter_context(folder))
            except subprocess.CalledProcessError:
                if not tries_left:
                    raise
    raise AssertionError
