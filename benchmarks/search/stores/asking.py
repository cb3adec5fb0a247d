"""Ask a search for vectors: together, by one client, and by many at the same time."""

from __future__ import annotations

import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from nymlink.index.dense.dense_search import DenseSearch

CLIENTS: Final = 32


def asked(search: DenseSearch, folder: Path, file: str, *, count: int, k: int, seconds: float) -> dict[str, Any]:
    """Search for a quarter of the queries together, which recall is of, then by one client, and by many."""
    import numpy as np

    from nymlink.core.store.arrays import map_array

    queries = np.array(map_array(folder, "queries")[:count])
    exact = map_array(folder, f"{file}-{count}-{k}")
    start = time.perf_counter()
    found = search.search_vectors(queries[: count // 4], k).rows
    together = time.perf_counter() - start
    shared = (exact[: len(found), :, None] == found[:, None, :]).any(axis=2)

    def ask(place: int) -> float:
        began = time.perf_counter()
        search.search_vectors(queries[place % count : place % count + 1], k)
        return 1000 * (time.perf_counter() - began)

    # What is mapped or cached on demand is there once all have been asked for.
    one = _phase(ask, 1, count, seconds)
    many = _phase(ask, CLIENTS, count, seconds)
    if together < seconds:
        start = time.perf_counter()
        search.search_vectors(queries, k)
        together = (time.perf_counter() - start) / 4
    return {
        "private_mb": _private_mb(),
        "recall": float(shared.mean()),
        "together_per_second": (count // 4) / together,
        "one": one,
        "many": many,
    }


def _phase(ask: Any, clients: int, count: int, seconds: float) -> dict[str, float]:
    """Let clients ask for some time, at most ``count`` queries in all and at least one each."""
    start = time.perf_counter()

    def client(number: int) -> list[float]:
        times = []
        for place in range(number, count, clients):
            times.append(ask(place))
            if time.perf_counter() - start > seconds:
                break
        return times

    with ThreadPoolExecutor(clients) as pool:
        times = [time for part in pool.map(client, range(clients)) for time in part]
    passed = time.perf_counter() - start
    ordered = sorted(times)
    return {
        "queries": len(times),
        "median_ms": statistics.median(times),
        "p95_ms": ordered[int(0.95 * (len(ordered) - 1))],
        "per_second": len(times) / passed,
    }


def _private_mb() -> float:
    """Measure the memory of this process that is no page of a mapped file, which can be given up at any time."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("RssAnon:")[1].split()[0]) / 1024
