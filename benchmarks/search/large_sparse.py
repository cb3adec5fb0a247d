"""Measure sparse search over ten million English names: building, opening, searching, and recall under sampling.

    python benchmarks/search/large_sparse.py [--folder FOLDER] [--concepts 4000000 --english 11400000]
        [--json FILE]

The names are invented (``umls_shaped.py``); of the English rows, ten million different names of live concepts are
left. Queries are names of the index, drawn with a seed, each in one of six ways: as it is; with one slip of the
keyboard (a letter left out, put in, exchanged or swapped with the next); with two; with a word left out; with its
words in another order; with that and a slip. Recall is measured against the cosines of all names over all
features, computed without the index.

Writes some 12 GB into a temporary folder ($TMPDIR), or into FOLDER, where an existing vocabulary, queries and
their exact cosines (the slowest part) are used again.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from benchmarks.common import apart, report

BARS: Final = {"build_seconds": 900, "build_mb": 10_000, "search_mb": 8_000, "per_second": 50, "recall": 0.99}
"""Limits of time and memory for ten million English names on two cores, and least recall."""

_BLOCK: Final = 50_000
"""Names whose cosines are computed at once."""

_SAME: Final = 1e-5
"""Cosines that differ by less are equal up to the rounding of 32-bit sums."""

_SINGLE: Final = 60
"""Queries that are searched one by one."""


def vocabulary(release: str, output: str) -> dict[str, Any]:
    """Read the release as ``nymlink vocab build`` does."""
    from nymlink.vocabulary.read import read_vocabulary

    built = read_vocabulary(release)
    built.save(output)
    return {"concepts": len(built), "names": built.name_count}


def build(source: str, output: str) -> dict[str, Any]:
    """Build the index of the English names as ``nymlink index build --language en`` does."""
    from nymlink.index.index import Index
    from nymlink.vocabulary.vocabulary import Vocabulary

    start = time.perf_counter()
    built = Index.build(Vocabulary.load(source), directory=output, languages=["en"], encoder=None)
    seconds = time.perf_counter() - start
    return {"names": len(built.entries.names), "entries": len(built.entries), "seconds": seconds}


def write_queries(index: str, output: str, *, count: int, seed: int) -> dict[str, Any]:
    """Draw names of an index and write them as people might."""
    from nymlink.index.index import Index

    entries = Index.load(index).entries
    draw = random.Random(seed)
    rows = draw.sample(range(len(entries)), min(count, len(entries)))
    queries = [miswritten(entries.text(row), draw) for row in rows]
    Path(output).write_text(json.dumps(queries), encoding="utf-8")
    return {"queries": len(queries)}


def miswritten(name: str, draw: random.Random) -> str:
    """Write a name in one of the six ways; a single word with a slip instead of the last three."""
    words = name.split()
    dropped, shuffled, slips = draw.choice([(0, 0, 0), (0, 0, 1), (0, 0, 2), (1, 0, 0), (0, 1, 0), (0, 1, 1)])
    if (dropped or shuffled) and len(words) == 1:
        dropped, shuffled, slips = 0, 0, 1
    if dropped:
        words.pop(draw.randrange(len(words)))
    if shuffled:
        draw.shuffle(words)
    text = " ".join(words)
    for _ in range(slips):
        text = _slip(text, draw)
    return " ".join(text.split())


def _slip(text: str, draw: random.Random) -> str:
    at, letter = draw.randrange(len(text)), draw.choice("abcdefghijklmnopqrstuvwxyz")
    before, here, after = text[:at], text[at], text[at + 1 :]
    ways = [before + letter + here + after, before + letter + after, before + after[:1] + here + after[1:]]
    return draw.choice([*ways, before + after] if len(text) > 1 else ways)


def exact(index: str, queries: str, output: str, *, k: int) -> dict[str, Any]:
    """Compute the k highest cosines of each query with all names over all features, without the search."""
    import numpy as np

    from benchmarks.search.contenders import matrix
    from nymlink.index.index import Index

    opened = Index.load(index)
    weights, texts = opened.search.parts["sparse"].weights, opened.entries.texts
    written = json.loads(Path(queries).read_text(encoding="utf-8"))
    # Queries have their words in the order in which entries have them.
    prepared = matrix(weights.transform([opened.entries.searched_order(query) for query in written]))
    table = np.ascontiguousarray(prepared.T.toarray())
    highest = np.zeros((prepared.shape[0], k), np.float32)
    for start in range(0, len(texts), _BLOCK):
        cosines = (matrix(weights.transform(texts[start : start + _BLOCK].to_pylist())) @ table).T
        highest = -np.partition(-np.concatenate([highest, cosines], axis=1), k - 1, axis=1)[:, :k]
    np.save(output, -np.sort(-highest, axis=1))
    return {}


def search(index: str, queries: str, cosines: str, *, k: int) -> dict[str, Any]:
    """Open, search all queries three times, some of them one by one, and compare with the exact cosines."""
    import numpy as np

    from nymlink.index.index import Index

    start = time.perf_counter()
    sparse = Index.load(index).search.parts["sparse"]
    opened = time.perf_counter() - start
    asked = json.loads(Path(queries).read_text(encoding="utf-8"))
    first = _seconds(lambda: sparse.search(asked[:1], k))
    hits = sparse.search(asked, k)
    batch = statistics.median(_seconds(lambda: sparse.search(asked, k)) for _ in range(3))
    single = [_seconds(lambda query=query: sparse.search([query], k)) for query in asked[:_SINGLE]]
    nearest = np.load(cosines)
    # Of equally near names any counts, and names without a common feature need not be found.
    wanted = np.maximum((nearest > 0).sum(axis=1), 1)
    border = nearest[np.arange(len(asked)), wanted - 1]
    found = np.minimum(((hits.scores > 0) & (hits.scores >= border[:, None] - _SAME)).sum(axis=1), wanted)
    shares = found / wanted
    return {
        "open_seconds": opened,
        "first_seconds": first,
        "per_second": len(asked) / batch,
        "single_ms": 1000 * statistics.median(single),
        "longest_ms": 1000 * max(single),
        "queries": len(asked),
        "recall": float(shares.mean()),
        "worst": float(shares.min()),
        "recall_1": float((hits.scores[:, 0] >= nearest[:, 0] - _SAME).mean()),
    }


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measure(folder: Path, *, sizes: dict[str, int], queries: int, k: int, seed: int) -> dict[str, Any]:
    """Run all steps, each in a process of its own."""
    names, index = folder / "vocabulary", folder / "index"
    asked, cosines = folder / "queries.json", folder / "exact.npy"
    if not names.exists():
        release = folder / "release"
        options = [word for name, size in sizes.items() for word in (f"--{name}", str(size))]
        script = str(Path(__file__).parents[1] / "vocabularies" / "umls_shaped.py")
        subprocess.run([sys.executable, script, str(release), *options, "--seed", str(seed)], check=True)
        apart.run("search.large_sparse:vocabulary", release=str(release), output=str(names))
    built = apart.run("search.large_sparse:build", source=str(names), output=str(index))
    if not asked.exists():
        apart.run(
            "search.large_sparse:write_queries", index=str(index), output=str(asked), count=queries, seed=seed
        )
    if not cosines.exists():
        apart.run("search.large_sparse:exact", index=str(index), queries=str(asked), output=str(cosines), k=k)
    searched = apart.run(
        "search.large_sparse:search", index=str(index), queries=str(asked), cosines=str(cosines), k=k
    )
    size = sum(path.stat().st_size for path in (index / "sparse").rglob("*") if path.is_file())
    return {"k": k, "build": built, "search": searched, "index_mb": size / 1e6}


def text(result: dict[str, Any]) -> str:
    """Format the results next to the limits."""
    built, searched, k = result["build"], result["search"], result["k"]
    rows = [
        ["build, s", f"{built['seconds']:.0f}", f"at most {BARS['build_seconds']}"],
        ["build, peak MB", f"{built['peak_mb']:,.0f}", f"at most {BARS['build_mb']:,}"],
        ["open, s", f"{searched['open_seconds']:.2f}", ""],
        ["search, queries a second", f"{searched['per_second']:.0f}", f"at least {BARS['per_second']}"],
        ["search, peak MB", f"{searched['peak_mb']:,.0f}", f"at most {BARS['search_mb']:,}"],
        ["one query alone, ms", f"{searched['single_ms']:.0f}", ""],
        [f"recall@{k}", f"{searched['recall']:.4f}", f"at least {BARS['recall']}"],
    ]
    return "\n".join(
        [
            report.table((f"{built['entries']:,} entries", "measured", "bar"), rows),
            "",
            f"{built['names']:,} names; the sparse search takes {result['index_mb']:,.0f} MB on disk",
            f"{searched['queries']} queries, top {k}: at worst {searched['worst']:.2f} of them, the nearest name "
            f"in {searched['recall_1']:.4f} of the queries; the first query took {searched['first_seconds']:.1f} "
            f"s, the longest single one {searched['longest_ms']:.0f} ms",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, help="folder that keeps everything for the next run")
    parser.add_argument("--concepts", type=int, default=4_000_000)
    parser.add_argument("--english", type=int, default=11_400_000, help="English rows, at least one a concept")
    parser.add_argument("--other", type=int, default=5_000_000, help="rows in other languages")
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--k", type=int, default=64, help="names wanted for each")
    parser.add_argument("--seed", type=int, default=1, help="which names, which queries")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    sizes = {name: getattr(arguments, name) for name in ("concepts", "english", "other")}
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        result = measure(folder, sizes=sizes, queries=arguments.queries, k=arguments.k, seed=arguments.seed)
    print(text(result))
    report.publish(
        arguments.json,
        text(result),
        ["measured"],
        data="invented names",
        split=None,
        dictionary="the same",
        seed=arguments.seed,
        figures=result,
    )


if __name__ == "__main__":
    main()
