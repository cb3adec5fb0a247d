"""Write the input of each task, and name the commands that do it: the plain one, and the job."""

from __future__ import annotations

import csv
import json
import sys
from itertools import cycle, islice
from pathlib import Path
from typing import Final

from benchmarks.common import inputs

NYMLINK: Final = [sys.executable, "-m", "nymlink"]
ABSTRACTS: Final = (
    "corpora/bc5cdr/CDR_TrainingSet.PubTator.txt.gz",
    "corpora/bc5cdr/CDR_DevelopmentSet.PubTator.txt.gz",
)
UNITS: Final = {"link": "mentions", "annotate": "texts", "encode": "names"}

SHARDS: Final = 12
"""Shards of a job: several for each worker, so that none ends with one alone."""


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
    return job(task, *where)


def job(task: str, *arguments: str) -> list[str]:
    """Return the command that runs a job; see :mod:`benchmarks.commands.bulk.job`."""
    return [sys.executable, "-m", "benchmarks.commands.bulk.job", task, *arguments]
