"""Compare the stores in which the vectors of an index are searched: building, disk, recall, latency.

    python benchmarks/search/stores [--queries 400] [--k 20] [--seconds 8] [--folder FOLDER] [--large N …]
        [--only-large] [--only TEXT …] [--json FILE]

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
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.common import apart, inputs, report

if TYPE_CHECKING:
    import numpy as np

    from nymlink.index.dense.dense_search import DenseSearch
    from nymlink.index.dense.stores.store import Store

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
LARGEST: Final[Mapping[str, int]] = {
    "mapped files, exact (default)": 1 << 30,
    "faiss, ivf-pq": 1 << 30,
    "faiss, hnsw": 2_000_000,
    "PostgreSQL, exact": 2_000_000,
}
"""Lines for the generated vectors → most of them: what two cores build in minutes."""

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


def generate(folder: str, file: str, *, count: int) -> dict[str, Any]:
    """Write a file of vectors of ``names.npy`` moved a little, unless it is there."""
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

    if not (Path(folder) / f"{file}.npy").exists():
        save_blocks(Path(folder), file, blocks(), dtype=np.float16, shape=(count, names.shape[1]))
    return {"count": count}


def find_nearest(folder: str, file: str, *, count: int, k: int) -> dict[str, Any]:
    """Write the rows of the vectors that are truly nearest to each query, unless they are there."""
    import numpy as np

    from nymlink.core.store.arrays import map_array, save_array
    from nymlink.index.dense.nearest import nearest

    target = Path(folder)
    if not (target / f"{file}-{count}-{k}.npy").exists():
        queries = np.array(map_array(target, "queries")[:count])
        save_array(target, f"{file}-{count}-{k}", nearest(queries, map_array(target, file), k).rows)
    return {}


def build_here(folder: str, file: str, room: str, *, kind: str) -> dict[str, Any]:
    """Build a search of files over the vectors of a file."""
    from nymlink.core.store.arrays import map_array
    from nymlink.index.dense.approximate import FaissIndex
    from nymlink.index.dense.int8_codes import Int8Codes

    vectors = map_array(Path(folder), file)
    start = time.perf_counter()
    if kind == "exact":
        Int8Codes.write(Path(room), vectors)
    else:
        FaissIndex.build(vectors, kind).save(Path(room))
    seconds = time.perf_counter() - start
    return {"build_seconds": seconds, "disk_mb": _size(Path(room)) / 1e6}


def search_here(folder: str, file: str, room: str, *, kind: str, **settings: Any) -> dict[str, Any]:
    """Open a search of files, and search it."""
    from nymlink.core.store.arrays import map_array
    from nymlink.index.dense.approximate import FaissIndex
    from nymlink.index.dense.int8_codes import Int8Codes

    # As DenseSearch.load maps them.
    vectors = map_array(Path(folder), file, scattered=kind != "exact")
    if kind == "exact":
        search = _search(vectors, int8_codes=Int8Codes.load(Path(room), vectors))
    else:
        search = _search(vectors, FaissIndex.load(Path(room), kind, len(vectors)))
    return _asked(search, Path(folder), file, **settings)


def measure_server(folder: str, file: str, *, kind: str, url: str, **settings: Any) -> dict[str, Any]:
    """Copy the vectors of a file to a server, and search it."""
    from nymlink.core.store.arrays import map_array
    from nymlink.index.dense.stores.address import StoreAddress
    from nymlink.index.dense.stores.servers import upload

    vectors = map_array(Path(folder), file)
    start = time.perf_counter()
    store = upload(StoreAddress.of(url), vectors, kind, progress=True)
    built = {
        "build_seconds": time.perf_counter() - start,
        "build_peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6,
        "disk_mb": (_size_in_postgres(store.content.name, url) if "://" in url else _size(Path(url))) / 1e6,
    }
    return built | _asked(_search(vectors, store), Path(folder), file, **settings)


def _asked(search: DenseSearch, folder: Path, file: str, *, count: int, k: int, seconds: float) -> dict[str, Any]:
    """Search for some queries together, then by one client, and by many."""
    import numpy as np

    from nymlink.core.store.arrays import map_array

    queries = np.array(map_array(folder, "queries")[:count])
    exact = map_array(folder, f"{file}-{count}-{k}")
    start = time.perf_counter()
    found = search.search_vectors(queries[: count // 4], k).rows
    together = time.perf_counter() - start
    shared = (exact[: len(found), :, None] == found[:, None, :]).any(axis=2)

    def ask(place: int) -> float:
        asked = time.perf_counter()
        search.search_vectors(queries[place % count : place % count + 1], k)
        return 1000 * (time.perf_counter() - asked)

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


def _search(vectors: np.ndarray, store: Store | None = None, **codes: Any) -> DenseSearch:
    """Make a search of vectors that are there already."""
    import numpy as np
    import pyarrow as pa

    from nymlink.index.dense.dense_search import DenseSearch
    from nymlink.index.entries.entries import Entries

    class Nothing:
        """Encoder that encodes nothing, since queries are vectors here."""

        width = vectors.shape[1]

        def encode(self, names: Sequence[str], *, cache: object = None) -> np.ndarray:
            raise NotImplementedError

    # Entries only look up the texts of queries, which are vectors here.
    texts = Entries(pa.array([], pa.large_string()), np.zeros(1, np.int64), np.zeros(0, np.int32))
    return DenseSearch(texts, Nothing(), vectors, store, **codes)


def _private_mb() -> float:
    """Measure the memory of this process that is no page of a mapped file, which can be given up at any time."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("RssAnon:")[1].split()[0]) / 1024


def _size(folder: Path) -> int:
    """Add up the bytes of a file, or of the files in a folder."""
    files = [folder] if folder.is_file() else folder.rglob("*")
    return sum(path.stat().st_size for path in files if path.is_file())


def _size_in_postgres(table: str, url: str) -> int:
    import psycopg

    with psycopg.connect(url) as connection:
        return int(connection.execute("SELECT pg_total_relation_size(%s)", [table]).fetchone()[0])


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
    vectors = {"folder": folder, "file": file}
    apart.run("search.stores:find_nearest", **vectors, count=count, k=k)
    settings = {"count": count, "k": k, "seconds": seconds}
    for label, store, kind in LINES:
        if label not in labels:
            continue
        with tempfile.TemporaryDirectory(dir=folder) as room:
            if store == "here":
                here = {**vectors, "room": room, "kind": kind}
                built = apart.run("search.stores:build_here", **here)
                found[label] = {
                    "build_peak_mb": built["peak_mb"],
                    **built,
                    **apart.run("search.stores:search_here", **here, **settings),
                }
            else:
                where = url if store == "postgres" else f"{room}/vectors.db"
                found[label] = apart.run(
                    "search.stores:measure_server", **vectors, kind=kind, url=where, **settings
                )
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=400, help="number of queries")
    parser.add_argument("--k", type=int, default=20, help="names wanted for each")
    parser.add_argument("--seconds", type=float, default=8, help="most seconds of a phase")
    parser.add_argument("--folder", type=Path, help="folder that keeps vectors for the next run")
    parser.add_argument("--large", type=int, nargs="*", default=[], metavar="N", help="N generated vectors, too")
    parser.add_argument(
        "--only", nargs="*", default=[""], metavar="TEXT", help="stores whose label has one of these"
    )
    parser.add_argument("--only-large", action="store_true", help="leave out the vectors of MEDIC")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    data = inputs.data_root()
    if arguments.folder is not None:
        arguments.folder.mkdir(parents=True, exist_ok=True)
    settings = {"count": arguments.queries, "k": arguments.k, "seconds": arguments.seconds}
    counts, found = {}, {}
    wanted = [label for label, *_ in LINES if any(text in label for text in arguments.only)]
    with tempfile.TemporaryDirectory() if arguments.folder is None else nullcontext(arguments.folder) as folder:
        queries = str(Path(folder) / "queries.json")
        apart.run("common.inputs:write_queries", data=str(data), output=queries, seed=0)
        source = str(data / inputs.MEDIC)
        counts["names"] = apart.run("search.stores:encode", source=source, queries=queries, folder=str(folder))[
            "count"
        ]
        with postgres() as url:
            if not arguments.only_large:
                found["names"] = measure(str(folder), "names", url, wanted, **settings)
            for count in arguments.large:
                file = f"generated-{count}"
                counts[file] = apart.run("search.stores:generate", folder=str(folder), file=file, count=count)[
                    "count"
                ]
                labels = [label for label, most in LARGEST.items() if count <= most and label in wanted]
                found[file] = measure(str(folder), file, url, labels, **settings)
    print(text(counts, found, arguments.k))
    report.publish(
        arguments.json,
        text(counts, found, arguments.k),
        list(found),
        data="prepared queries of NCBI disease and BC5CDR disease",
        split="train and dev",
        dictionary="MEDIC 2012, bare, each name as it stands"
        + "".join(f"; {count:,} generated from it" for count in arguments.large),
        encoder="nymlink-mini",
        note="PostgreSQL 16 with pgvector 0.6.2, default settings, and the clients on the same two cores",
        seed=0,
        figures=found,
    )


if __name__ == "__main__":
    main()
