"""Compare sparse search over the names of MEDIC with other libraries: speed, memory, recall.

    python benchmarks/search/sparse_search.py [--queries 2000] [--k 20] [--json FILE]

Reads the corpora from $NYMLINK_DATA or ../shared/data; needs ``nymlink[bench]``. Every line of the table is
measured in a process of its own that opens an index from disk, one after the other in one run.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any, Final

from benchmarks.common import apart, inputs, report

Settings = dict[str, Any]

CONTENDERS: Final[tuple[tuple[str, str, int, Settings], ...]] = (
    # Label, function, divisor of the number of queries (slow ones get fewer), further arguments.
    ("nymlink, sparse search", "sparse", 1, {"repeats": 5}),
    ("nymlink, hybrid search", "hybrid", 1, {"repeats": 5}),
    ("nymlink, `Linker.link`", "link", 1, {"repeats": 5}),
    ("nymlink, `Linker.link`, 5 candidates", "link", 1, {"repeats": 5, "k": 5}),
    ("scikit-learn, argpartition", "scikit_learn", 2, {"repeats": 3, "whole_sort": False}),
    ("scikit-learn, argsort", "scikit_learn", 4, {"repeats": 1, "whole_sort": True}),
    ("scikit-learn + sparse_dot_topn", "scikit_topn", 2, {"repeats": 3}),
    ("rapidfuzz `cdist`, ratio, 2 cores", "rapidfuzz_cdist", 4, {"repeats": 1}),
    ("rapidfuzz `extract`, ratio", "rapidfuzz_extract", 10, {"repeats": 1, "scorer": "ratio"}),
    ("rapidfuzz `extract`, WRatio", "rapidfuzz_extract", 50, {"repeats": 1, "scorer": "WRatio"}),
)


def measure(source: str, queries: str, folder: str, *, count: int, k: int, fewer: bool = True) -> dict[str, Any]:
    """Build an index in a folder, then measure every contender on it.

    Args:
        source: the vocabulary.
        queries: file of queries.
        folder: folder for the index.
        count: number of queries.
        k: number of names to find.
        fewer: whether slow contenders get a sample of the queries.
    """
    built = apart.run("common.inputs:build", source=source, directory=folder)
    common = {"index": str(Path(folder) / "index"), "queries": queries}
    found = {
        label: apart.run(
            f"search.contenders:{function}",
            **{**common, "count": max(count // share, 1) if fewer else count, "k": k, **settings},
        )
        for label, function, share, settings in CONTENDERS
    }
    return {
        "k": k,
        "build": built,
        "contenders": found,
        "recall": apart.run("search.contenders:recall", **common, count=count, k=k),
    }


def text(result: dict[str, Any]) -> str:
    """Format the result as text and a table."""
    build, recall = result["build"], result["recall"]
    contenders = result["contenders"]
    baseline = next(iter(contenders.values()))["per_second"]
    rows = [
        [
            label,
            f"{figures['queries']:,}",
            f"{figures['per_second']:,.0f}",
            f"{baseline / figures['per_second']:.1f}×",
            f"{figures['peak_mb']:.0f}",
        ]
        for label, figures in contenders.items()
    ]
    searched = f"top {result['k']} of {build['entries']:,} entries"
    header = (searched, "queries", "per second", "sparse is", "peak MB")
    return "\n".join(
        [
            report.table(header, rows),
            "",
            f"build: vocabulary {build['vocabulary_seconds']:.1f} s, index {build['index_seconds']:.1f} s, "
            f"peak {build['peak_mb']:.0f} MB",
            f"recall@{result['k']} against the exact cosine: {100 * recall['recall']:.2f} %, "
            f"first name: {100 * recall['recall_1']:.2f} % ({recall['queries']:,} queries)",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=2000, help="number of queries")
    parser.add_argument("--k", type=int, default=20, help="number of names to find for each")
    parser.add_argument("--seed", type=int, default=0, help="which queries")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    data = inputs.data_root()
    with tempfile.TemporaryDirectory() as folder:
        queries = str(Path(folder) / "queries.json")
        apart.run("common.inputs:write_queries", data=str(data), output=queries, seed=arguments.seed)
        result = measure(str(data / inputs.MEDIC), queries, folder, count=arguments.queries, k=arguments.k)
    print(text(result))
    report.publish(
        arguments.json,
        text(result),
        ["contenders"],
        data="prepared queries of NCBI disease and BC5CDR disease",
        split="train and dev",
        dictionary="MEDIC 2012, bare",
        seed=0,
        figures=result,
    )


if __name__ == "__main__":
    main()
