"""Measure a task by the plain command and by jobs, and the driver of jobs by itself."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any, Final

from benchmarks.commands.bulk.tasks import NYMLINK, bulk, job, plain
from benchmarks.commands.bulk.watched import Watched

_PLANNED: Final = 50 << 20
"""Bytes of the file by which the speed of cutting is measured."""


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
            done = Watched(bulk(task, path, folder, index, workers, rows), list(range(workers)))
            made = json.loads(done.output.splitlines()[-1])
            runs[str(workers)].append(
                {
                    "rate": made["counts"]["rows"] / made["work_seconds"],
                    "cpu": sum(worker["cpu_seconds"] for worker in made["workers"]) / rows,
                    "others_cpu": done.cpu[1] - done.cpu[0],
                    "start": made["start_seconds"],
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
    from nymlink.bulk.sources import cut_sources, open_sources

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
    done = Watched(job("encode", str(path), str(folder / "single"), "", "2", "1"), [0, 1])
    made = json.loads(done.output.splitlines()[-1])
    busy = sum(worker["seconds"] for worker in made["workers"]) / 2
    return {
        "shards_per_second": shards / made["work_seconds"],
        "idle_ms": 1000 * (made["work_seconds"] - busy) / shards,
    }
