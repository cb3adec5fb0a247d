"""PostgreSQL where processes can share little memory, as in containers."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("psycopg")
pytest.importorskip("pgserver")

_LITTLE = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=16m tmpfs /dev/shm && exec "$@"', "-"]
_BUILD = """
import numpy as np
from nymlink.index.stores.vector_store import StoreAddress
from nymlink.index.stores.servers import upload
from tests.index.stores.test_conformance import drawn
from tests.postgres import postgres_server

vectors = drawn(500).astype(np.float16)
with postgres_server() as url:
    # A small table is built by one process otherwise.
    address = StoreAddress.of(url + "&options=-cmin_parallel_table_scan_size%3D0")
    store = upload(address, vectors, "hnsw", progress=False)
    print(store.search(vectors[:3].astype(np.float32), 1).ravel().tolist())
"""


def _runs(*command: str) -> bool:
    try:
        return subprocess.run([*_LITTLE, *command], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def test_a_graph_is_built_by_one_process_where_more_cannot_share_its_memory() -> None:
    if not _runs("true"):
        pytest.skip("no file system of one's own can be mounted here")
    built = subprocess.run(
        [*_LITTLE, sys.executable, "-c", _BUILD], capture_output=True, encoding="utf-8", check=False
    )
    assert built.stdout == "[0, 1, 2]\n", built.stderr
