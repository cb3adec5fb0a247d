"""Measure stores, each in processes of its own, and show them as lines of a table."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.common import apart, report
from benchmarks.search.stores.asking import CLIENTS

LINES: Final[tuple[tuple[str, str, str], ...]] = (
    # Label, store, kind of dense search.
    ("mapped files, exact (default)", "here", "exact"),
    ("faiss, hnsw", "here", "hnsw"),
    ("faiss, ivf-pq", "here", "ivf-pq"),
    ("PostgreSQL, exact", "postgres", "exact"),
    ("PostgreSQL, hnsw", "postgres", "hnsw"),
    ("Milvus Lite, exact", "milvus", "exact"),
    ("Milvus Lite, hnsw", "milvus", "hnsw"),
)
LARGEST: Final[Mapping[str, int]] = {
    "mapped files, exact (default)": 1 << 30,
    "faiss, ivf-pq": 1 << 30,
    "faiss, hnsw": 2_000_000,
    "PostgreSQL, exact": 2_000_000,
    "PostgreSQL, hnsw": 2_000_000,
    "Milvus Lite, exact": 2_000_000,
    "Milvus Lite, hnsw": 2_000_000,
}
"""Lines for the generated vectors → most of them: what two cores build in minutes."""


def measure(
    folder: str, file: str, url: str, labels: Sequence[str], *, count: int, k: int, seconds: float
) -> dict[str, Any]:
    """Measure lines, one after the other; those that were measured before are kept in the folder."""
    kept = Path(folder) / f"{file}-{count}-{k} figures.json"
    found: dict[str, Any] = report.load(kept)
    vectors = {"folder": folder, "file": file}
    apart.run("search.stores.vectors:find_nearest", **vectors, count=count, k=k)
    settings = {"count": count, "k": k, "seconds": seconds}
    for label, store, kind in LINES:
        if label not in labels or label in found:
            continue
        with tempfile.TemporaryDirectory(dir=folder) as room:
            if store == "here":
                here = {**vectors, "room": room, "kind": kind}
                built = apart.run("search.stores.searches:build_here", **here)
                found[label] = {
                    "build_peak_mb": built["peak_mb"],
                    **built,
                    **apart.run("search.stores.searches:search_here", **here, **settings),
                }
            else:
                where = url if store == "postgres" else f"{room}/vectors.db"
                found[label] = apart.run(
                    "search.stores.searches:measure_server", **vectors, kind=kind, url=where, **settings
                )
        print(label, found[label], flush=True)
        report.save(kept, found)
    return {label: found[label] for label in labels}


def text(counts: dict[str, int], found: dict[str, dict[str, Any]], k: int) -> str:
    """Format the results as a table of each number of vectors."""
    tables = []
    for file, lines in found.items():
        header = (
            f"{counts[file]:,} vectors",
            "build s",
            "build peak MB",
            "disk MB",
            "search peak MB",
            "of it private",
            f"recall@{k} %",
            "together: queries/s",
            "1 client: ms",
            "p95 ms",
            f"{CLIENTS} clients: ms",
            "p95 ms each",
            "queries/s",
        )
        rows = [
            [
                label,
                f"{one['build_seconds']:,.1f}",
                f"{one['build_peak_mb']:,.0f}",
                f"{one['disk_mb']:,.0f}",
                f"{one['peak_mb']:,.0f}",
                f"{one['private_mb']:,.0f}" if "private_mb" in one else "",
                f"{100 * one['recall']:.1f}",
                f"{one['together_per_second']:,.0f}",
                f"{one['one']['median_ms']:,.1f}",
                f"{one['one']['p95_ms']:,.1f}",
                f"{one['many']['median_ms']:,.1f}",
                f"{one['many']['p95_ms']:,.1f}",
                f"{one['many']['per_second']:,.0f}",
            ]
            for label, one in lines.items()
        ]
        tables.append(report.table(header, rows))
    return "\n\n".join(tables)
