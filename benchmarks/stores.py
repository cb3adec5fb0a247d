"""Compare the stores in which the vectors of an index are searched: building, disk, recall, latency.

    python benchmarks/stores.py [--queries 400] [--k 20] [--seconds 8] [--folder FOLDER] [--large N] [--json FILE]

Vectors: the names of MEDIC, encoded with nymlink-mini (the user's cache of vectors is used), and with --large N a
number of generated ones, each a vector of MEDIC moved a little: by lengths drawn such that the neighbours of a
name are as unequally far as real ones, since no search could tell equally far ones apart. Reads the corpora from
$NYMLINK_DATA or ../shared/data; needs ``nymlink[faiss,postgres,milvus]``, pgserver and milvus-lite. PostgreSQL is
started for the run, with its default settings. Every line is measured in a process of its own: built, which says
its peak memory with the pages of the vectors that it read, then one client that asks one query after the other,
then 32 threads that do, each phase for at most --seconds.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import apart
import inputs
import report

if TYPE_CHECKING:
    import numpy as np

    from nymlink.index.dense.dense_search import DenseSearch

CLIENTS: Final = 32

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
LARGE: Final = ("mapped files, exact (default)", "faiss, ivf-pq", "PostgreSQL, exact")
"""Lines for the generated vectors: those that two cores build in minutes."""

_BLOCK: Final = 1 << 15
_MOVED: Final = 0.8
"""Largest length of what is added to a unit vector of MEDIC to generate another: about the distance of the 20th
neighbour of a name in MEDIC."""

_DIMENSION: Final = 4
"""The distance of the k-th neighbour grows as k to the power of one over this: among the names of MEDIC from 0.39
for the first to 0.83 for the 20th, 2.15 times, and 20 to the power of 1/4 is 2.11."""


def encode(source: str, queries: str, folder: str) -> dict[str, Any]:
    """Write ``names.npy`` (float16) and ``queries.npy`` (float32) into a folder, unless they are there."""
    import numpy as np

    from nymlink.core.store.arrays import map_array, save_array
    from nymlink.encode.cache.embedding_cache import EmbeddingCache
    from nymlink.encode.encoder import Encoder
    from nymlink.encode.model.embedded import MINI
    from nymlink.index.entries.entries import Entries
    from nymlink.vocabulary.read import read_vocabulary

    target = Path(folder)
    if not (target / "queries.npy").exists():
        encoder, cache = Encoder.load(MINI), EmbeddingCache.of_user()
        texts = Entries.of(read_vocabulary(source)).texts.to_pylist()
        save_array(target, "names", encoder.encode(texts, cache=cache, progress=True).astype(np.float16))
        save_array(target, "queries", encoder.encode(inputs.read_queries(queries, 2000)))
    return {"count": len(map_array(target, "names"))}


def generate(folder: str, *, count: int) -> dict[str, Any]:
    """Write ``large.npy``, vectors of ``names.npy`` moved a little."""
    import numpy as np

    from nymlink.core.store.arrays import map_array, save_blocks

    names = map_array(Path(folder), "names")
    draw = np.random.default_rng(0)

    def blocks() -> Iterator[np.ndarray]:
        for start in range(0, count, _BLOCK):
            size = min(_BLOCK, count - start)
            moves = draw.standard_normal((size, names.shape[1]), np.float32)
            lengths = _MOVED * draw.random((size, 1), np.float32) ** (1 / _DIMENSION)
            moves *= lengths / np.linalg.norm(moves, axis=1, keepdims=True)
            moved = names[draw.integers(0, len(names), size)].astype(np.float32) + moves
            yield (moved / np.linalg.norm(moved, axis=1, keepdims=True)).astype(np.float16)

    save_blocks(Path(folder), "large", blocks(), dtype=np.float16, shape=(count, names.shape[1]))
    return {"count": count}


def measure_store(
    folder: str, file: str, *, kind: str, url: str | None, count: int, k: int, seconds: float
) -> dict[str, Any]:
    """Build one store over the vectors of a file, and search it."""
    import numpy as np

    from nymlink.core.store.arrays import map_array
    from nymlink.index.dense.nearest import nearest

    vectors = map_array(Path(folder), file)
    queries = np.array(map_array(Path(folder), "queries")[:count])
    with tempfile.TemporaryDirectory(dir=folder) as room:
        start = time.perf_counter()
        search = _built(vectors, kind, url, Path(room))
        build_seconds = time.perf_counter() - start
        build_peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        disk = _disk(search, Path(room), url)
        exact, found = nearest(queries, vectors, k).rows, search.search_vectors(queries[: count // 4], k).rows
        shared = (exact[: len(found), :, None] == found[:, None, :]).any(axis=2)

        def ask(place: int) -> float:
            asked = time.perf_counter()
            search.search_vectors(queries[place % count : place % count + 1], k)
            return 1000 * (time.perf_counter() - asked)

        # What is mapped or cached on demand is there once all have been asked for.
        one = _phase(ask, 1, count, seconds)
        many = _phase(ask, CLIENTS, count, seconds)
    return {
        "build_seconds": build_seconds,
        "build_peak_mb": build_peak / 1e6,
        "disk_mb": disk / 1e6,
        "recall": float(shared.mean()),
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


def _built(vectors: np.ndarray, kind: str, url: str | None, room: Path) -> DenseSearch:
    """Build a search as :meth:`DenseSearch.build` does, of vectors that are there already."""
    import numpy as np
    import pyarrow as pa

    from nymlink.index.dense.approximate import FaissIndex
    from nymlink.index.dense.dense_search import DenseSearch
    from nymlink.index.dense.int8_codes import Int8Codes
    from nymlink.index.dense.stores.address import StoreAddress
    from nymlink.index.dense.stores.servers import upload
    from nymlink.index.entries.entries import Entries

    class Nothing:
        """Encoder that encodes nothing, since queries are vectors here."""

        width = vectors.shape[1]

        def encode(self, names: Sequence[str], *, cache: object = None) -> np.ndarray:
            raise NotImplementedError

    # Entries only look up the texts of queries, which are vectors here.
    texts = Entries(pa.array([], pa.large_string()), np.zeros(1, np.int64), np.zeros(0, np.int32))
    if url is not None:
        return DenseSearch(texts, Nothing(), vectors, upload(StoreAddress.of(url), vectors, kind, progress=True))
    if kind == "exact":
        return DenseSearch(texts, Nothing(), vectors, int8_codes=Int8Codes.write(room, vectors))
    FaissIndex.build(vectors, kind).save(room)
    return DenseSearch(texts, Nothing(), vectors, FaissIndex.load(room, kind, len(vectors)))


def _disk(search: DenseSearch, room: Path, url: str | None) -> int:
    """Measure the bytes that a store takes beside the file of vectors, which every index has."""
    from nymlink.index.dense.stores.server import ServerStore

    if isinstance(search.store, ServerStore) and url is not None and "://" in url:
        import psycopg

        with psycopg.connect(url) as connection:
            name = search.store.content.name
            return int(connection.execute("SELECT pg_total_relation_size(%s)", [name]).fetchone()[0])
    folder = room if url is None else Path(url)
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


@contextmanager
def postgres() -> Iterator[str]:
    """Start PostgreSQL in a new folder, and yield its URL."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pgserver

        with tempfile.TemporaryDirectory(prefix="nymlink-pg-", ignore_cleanup_errors=True) as folder:
            server = pgserver.get_server(folder)
            try:
                yield server.get_uri()
            finally:
                server.cleanup()


def measure(
    folder: str, file: str, url: str, labels: Sequence[str], *, count: int, k: int, seconds: float
) -> dict[str, Any]:
    """Measure lines, one after the other."""
    found = {}
    for label, store, kind in LINES:
        if label in labels:
            with tempfile.TemporaryDirectory() as room:
                where = {"here": None, "postgres": url, "milvus": f"{room}/vectors.db"}[store]
                settings = {"kind": kind, "url": where, "count": count, "k": k, "seconds": seconds}
                found[label] = apart.run("stores:measure_store", folder=folder, file=file, **settings)
                print(label, found[label], flush=True)
    return found


def text(counts: dict[str, int], found: dict[str, dict[str, Any]], k: int) -> str:
    """Format the results as a table of each number of vectors."""
    tables = []
    for file, lines in found.items():
        header = (
            f"{counts[file]:,} vectors",
            "build s",
            "build peak MB",
            "disk MB",
            f"recall@{k} %",
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
                f"{100 * one['recall']:.1f}",
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=400, help="number of queries")
    parser.add_argument("--k", type=int, default=20, help="names wanted for each")
    parser.add_argument("--seconds", type=float, default=8, help="most seconds of a phase")
    parser.add_argument("--folder", type=Path, help="folder that keeps vectors for the next run")
    parser.add_argument("--large", type=int, default=0, metavar="N", help="measure N generated vectors, too")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    data = inputs.data_root()
    if arguments.folder is not None:
        arguments.folder.mkdir(parents=True, exist_ok=True)
    settings = {"count": arguments.queries, "k": arguments.k, "seconds": arguments.seconds}
    counts, found = {}, {}
    with tempfile.TemporaryDirectory() if arguments.folder is None else nullcontext(arguments.folder) as folder:
        queries = str(Path(folder) / "queries.json")
        apart.run("inputs:write_queries", data=str(data), output=queries, seed=0)
        source = str(data / inputs.MEDIC)
        counts["names"] = apart.run("stores:encode", source=source, queries=queries, folder=str(folder))["count"]
        with postgres() as url:
            found["names"] = measure(str(folder), "names", url, [label for label, *_ in LINES], **settings)
            if arguments.large:
                counts["large"] = apart.run("stores:generate", folder=str(folder), count=arguments.large)["count"]
                found["large"] = measure(str(folder), "large", url, LARGE, **settings)
    print(text(counts, found, arguments.k))
    report.publish(
        arguments.json,
        text(counts, found, arguments.k),
        list(found),
        data="prepared queries of NCBI disease and BC5CDR disease",
        split="train and dev",
        dictionary="MEDIC 2012, bare, each name as it stands"
        + (f"; {arguments.large:,} generated from it" if arguments.large else ""),
        encoder="nymlink-mini",
        note="PostgreSQL 16 with pgvector 0.6.2, default settings, and the clients on the same two cores",
        seed=0,
        figures=found,
    )


if __name__ == "__main__":
    main()
