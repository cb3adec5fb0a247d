"""Format what was measured of bulk jobs, and what larger jobs take by these rates."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any, Final

from benchmarks.commands.bulk.tasks import UNITS
from benchmarks.common import report

JOBS: Final = {
    "PubMed, 38 million abstracts": ("annotate", 38e6),
    "100 million notes of a hospital": ("annotate", 100e6),
    "UMLS-sized encoding, 10 million names": ("encode", 10e6),
    "100 million mentions": ("link", 100e6),
}
"""Job → task and rows."""


def median(runs: Sequence[dict[str, float]], name: str) -> float:
    return statistics.median(run[name] for run in runs)


def tables(result: dict[str, Any]) -> str:
    """Format the result as tables."""
    efficiency, cost, jobs = [], [], []
    for task, one in result["tasks"].items():
        before = one["runs"]["plain"]
        plain_name = {"encode": "`nymlink encoder encode`"}.get(task, f"`nymlink {task}`")
        for name, runs, cores in [
            (plain_name, before, 1),
            *(
                (f"`nymlink bulk {task} --address local --workers {each}`", one["runs"][str(each)], each)
                for each in (1, 2)
            ),
        ]:
            # By pairs of runs that were made one after the other.
            shares = [first["cpu"] / run["cpu"] for first, run in zip(before, runs, strict=True)]
            efficiency.append(
                [
                    name,
                    UNITS[task],
                    str(cores),
                    f"{median(runs, 'rate'):,.0f}",
                    f"{1000 * median(runs, 'cpu'):.2f}",
                    f"{100 * statistics.median(shares):.0f} %",
                ]
            )
            others = f"{median(runs, 'others_cpu'):.1f}" if "others_cpu" in runs[0] else "–"
            cost.append([name, f"{median(runs, 'start'):.1f}", f"{median(runs, 'memory'):.0f}", others])
    for job, (task, rows) in JOBS.items():
        one = result["tasks"][task]
        # Of a core that does nothing else, as a machine of a cluster has them.
        rate = 1 / median(one["runs"]["2"], "cpu")
        memory = median(one["runs"]["2"], "memory")
        for cores in (32, 1000):
            seconds = rows / rate / cores
            traffic = rows * (one["bytes_in"] + one["bytes_out"])
            jobs.append(
                [
                    job,
                    f"{cores:,}",
                    f"{seconds / 3600:,.1f} h" if seconds >= 3600 else f"{seconds / 60:,.1f} min",
                    f"{cores * memory / 1024:,.0f}",
                    f"{rows * one['bytes_in'] / 1e9:,.0f}",
                    f"{rows * one['bytes_out'] / 1e9:,.0f}",
                    f"{traffic / seconds / 1e6:,.0f}",
                    f"{rows / 5000 / seconds:,.2f}",
                ]
            )
    limits = [
        [
            "the driver cuts JSON lines of abstracts, MB/s",
            f"{result['planning']['annotate']['mb_per_second']:,.0f}",
        ],
        ["… of names, rows/s", f"{result['planning']['encode']['rows_per_second']:,.0f}"],
        ["the driver cuts CSV of mentions, rows/s", f"{result['planning']['link']['rows_per_second']:,.0f}"],
        [
            "shards of one row that are given out, done and written, a second, 2 workers",
            f"{result['scheduling']['shards_per_second']:,.0f}",
        ],
        ["time of a worker between two shards, ms", f"{result['scheduling']['idle_ms']:,.0f}"],
    ]
    return "\n\n".join(
        [
            report.table(
                ("command", "what", "cores", "a second, in all", "CPU ms each", "per core, by CPU time"),
                efficiency,
            ),
            report.table(
                ("command ", "seconds to the first row", "MB of a worker's own", "CPU seconds of Ray and driver"),
                cost,
            ),
            report.table(
                (
                    "job",
                    "cores",
                    "time",
                    "GB of workers",
                    "GB in",
                    "GB out",
                    "MB/s in and out",
                    "shards/s of 5,000 rows",
                ),
                jobs,
            ),
            report.table(("limit", "measured"), limits),
        ]
    )
