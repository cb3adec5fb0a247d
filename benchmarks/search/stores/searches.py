"""Build a search over the vectors of a file, in files here or in a server, and ask it."""

from __future__ import annotations

import resource
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.search.stores.asking import asked

if TYPE_CHECKING:
    import numpy as np

    from nymlink.index.dense.dense_search import DenseSearch
    from nymlink.index.stores.vector_store import Store


def build_here(folder: str, file: str, room: str, *, kind: str) -> dict[str, Any]:
    """Build a search of files over the vectors of a file."""
    from nymlink.core.store.arrays import map_array
    from nymlink.index.dense.approximate import FaissIndex
    from nymlink.index.dense.exact import Int8Codes

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
    from nymlink.index.dense.exact import Int8Codes

    # As DenseSearch.load maps them.
    vectors = map_array(Path(folder), file, scattered=kind != "exact")
    if kind == "exact":
        search = _search(vectors, int8_codes=Int8Codes.load(Path(room), vectors))
    else:
        search = _search(vectors, FaissIndex.load(Path(room), kind, len(vectors)))
    return asked(search, Path(folder), file, **settings)


def measure_server(folder: str, file: str, *, kind: str, url: str, **settings: Any) -> dict[str, Any]:
    """Copy the vectors of a file to a server, and search it."""
    from nymlink.core.store.arrays import map_array
    from nymlink.index.stores.servers import upload
    from nymlink.index.stores.vector_store import StoreAddress

    vectors = map_array(Path(folder), file)
    start = time.perf_counter()
    store = upload(StoreAddress.of(url), vectors, kind, progress=True)
    built = {
        "build_seconds": time.perf_counter() - start,
        "build_peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6,
        "disk_mb": (_size_in_postgres(store.content.name, url) if "://" in url else _size(Path(url))) / 1e6,
    }
    return built | asked(_search(vectors, store), Path(folder), file, **settings)


def _search(vectors: np.ndarray, store: Store | None = None, **codes: Any) -> DenseSearch:
    """Make a search of vectors that are there already."""
    import numpy as np
    import pyarrow as pa

    from nymlink.index.dense.dense_search import DenseSearch
    from nymlink.index.entries.entries import Entries

    class Nothing:
        """Encoder that encodes nothing, since queries are vectors here."""

        width = vectors.shape[1]

        def encode(self, names: Sequence[str], *, cache: object = None, progress: bool = False) -> np.ndarray:
            raise NotImplementedError

    # Entries only look up the texts of queries, which are vectors here.
    texts = Entries(pa.array([], pa.large_string()), np.zeros(1, np.int64), np.zeros(0, np.int32))
    return DenseSearch(texts, Nothing(), vectors, store, **codes)


def _size(folder: Path) -> int:
    """Add up the bytes of a file, or of the files in a folder."""
    files = [folder] if folder.is_file() else folder.rglob("*")
    return sum(path.stat().st_size for path in files if path.is_file())


def _size_in_postgres(table: str, url: str) -> int:
    import psycopg

    with psycopg.connect(url) as connection:
        return int(connection.execute("SELECT pg_total_relation_size(%s)", [table]).fetchone()[0])
