"""What tests of searches share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """Encode and build with one thread: others only stand in each other's way where the work is tiny."""
    torch, faiss = pytest.importorskip("torch"), pytest.importorskip("faiss")
    before = torch.get_num_threads(), faiss.omp_get_max_threads()
    torch.set_num_threads(1)
    faiss.omp_set_num_threads(1)
    yield
    torch.set_num_threads(before[0])
    faiss.omp_set_num_threads(before[1])
