"""Kill commands that write at random moments, run them again, and compare with what an undisturbed run writes.

All processes of a command are killed: the workers of a job and the processes of a training with what started them.
A trial counts as

- absent, whole, partial: what the killed run left of its output: nothing, all of it, or (of commands that go on
  from there) a part;
- damaged: what it left is neither, or `nymlink verify` finds damage in it;
- failed: the same command, run again, did not succeed;
- different: it succeeded with another output, to the byte, than without a kill;
- leftovers: temporary files were still there in the end.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any, Final

from benchmarks.campaigns.commands import Child, Result, prepare, run_all
from benchmarks.campaigns.killed_review import measure_review
from benchmarks.campaigns.reviewing import NAME as REVIEW
from benchmarks.campaigns.world import WRITERS, Writer, emptied, make_world

LEFT: Final = ("absent", "partial", "whole")
FAILURES: Final = ("damaged", "failed", "different", "leftovers")
DAMAGED: Final = 1
"""Status of `nymlink verify`; it does not know links and texts."""

_OWN_TIMES: Final = ("run.json", "metrics.jsonl", "manifest.json", "recipe.toml")
"""Files of a training in which times are, and what happened to it."""


def content(path: Path) -> dict[str, bytes] | list[Any] | None:
    """Read an output: a file, the files of a folder, or the rows of a project; ``None`` where there is none."""
    if path.suffix == ".nymlink":
        return _rows(path) if path.is_file() else None
    if path.is_dir():
        files = {each.relative_to(path).as_posix(): each for each in path.rglob("*") if each.is_file()}
        is_training = "run.json" in files
        return {
            name: file.read_bytes()
            for name, file in sorted(files.items())
            if not (name.endswith(".lock") or (is_training and (file.name in _OWN_TIMES or "checkpoints" in name)))
        }
    return {path.name: path.read_bytes()} if path.is_file() else None


def written(writer: Writer, out: Path) -> list[Any]:
    """Read all that a command writes."""
    return [content(out / name) for name in (writer.output, writer.beside) if name is not None]


def _rows(path: Path) -> list[Any]:
    """Read what a project has of tables and links, without times."""
    connection = sqlite3.connect(path)
    try:
        return [
            connection.execute(f"SELECT {columns} FROM {table} ORDER BY 1, 2").fetchall()
            for table, columns in (("row", "file, number, cells"), ("term", "id, text, rows, state, link"))
        ]
    finally:
        connection.close()


def again(writer: Writer, place: Path, out: Path) -> list[str]:
    """Return the command that goes on."""
    if writer.name == "annotate -o":
        return [*writer.command(place, out), "--resume"]
    # A table is in a project whole, or is not; its terms are linked later.
    if writer.name == "project add" and content(out / writer.output) is not None and _rows(out / writer.output)[0]:
        return ["project", "link", str(out / writer.output)]
    return writer.command(place, out)


def leftovers(out: Path) -> list[str]:
    """List temporary files of nymlink in a folder."""
    return [str(each.relative_to(out)) for each in out.rglob("*") if each.name.endswith((".partial", ".retired"))]


def trial(writer: Writer, place: Path, scratch: Path, seconds: float, sound: list[Any]) -> tuple[str, list[str]]:
    """Kill a command once; return what it left, and what failed."""
    out = emptied(scratch / "out")
    run_all(writer.preparation(place, out), scratch)
    child = Child(writer.command(place, out), scratch / "killed", processes=writer.processes)
    time.sleep(seconds)
    child.kill()
    child.wait(scratch / "nothing")
    output = out / writer.output
    found, bad = content(output), []
    if found is None:
        left = "absent"
    elif found == sound[0]:
        left = "whole"
    else:
        left = "partial"
        if not writer.goes_on:
            bad.append(f"damaged: {sorted(found)[:5]}" if isinstance(found, dict) else "damaged")
    if output.exists() and (result := _verified(output, scratch)).status == DAMAGED:
        bad.append(f"damaged: {result.said}")
    result = _run(again(writer, place, out), writer, scratch)
    if result.status:
        bad.append(f"failed: {result.said[-600:]}")
    elif written(writer, out) != sound:
        bad.append("different")
    if temporary := leftovers(out):
        bad.append(f"leftovers: {temporary[:3]}")
    return left, bad


def _verified(output: Path, scratch: Path) -> Result:
    return Child(["verify", str(output)], scratch / "verify").wait(scratch / "nothing")


def _run(command: list[str], writer: Writer, scratch: Path) -> Result:
    return Child(command, scratch / "again", processes=writer.processes).wait(scratch / "nothing")


def measure(count: int, *, only: str = "", seed: int = 0) -> dict[str, Any]:
    """Kill each command so many times.

    Args:
        count: kills of each.
        only: of commands whose name begins so.
        seed: of the moments.
    """
    rows, failures = [], []
    with tempfile.TemporaryDirectory() as name:
        scratch, place = Path(name), Path(name) / "world"
        os.environ["NYMLINK_CACHE"] = str(scratch / "own-cache")
        make_world(place)
        prepare(torch=True)
        for writer in (each for each in WRITERS if each.name.startswith(only)):
            counts, took, bad = _measure_writer(writer, count, place, scratch, seed)
            rows.append(_row(writer.name, count, took, counts))
            failures += bad
        if REVIEW.startswith(only):
            counts, took, bad = measure_review(count, place, scratch, seed)
            rows.append(_row(REVIEW, count, took, counts))
            failures += bad
    return {"rows": rows, "failures": failures}


def _measure_writer(
    writer: Writer, count: int, place: Path, scratch: Path, seed: int
) -> tuple[Counter[str], float, list[Any]]:
    random, out = Random(f"{writer.name} {seed}"), emptied(scratch / "out")
    run_all(writer.preparation(place, out), scratch)
    began = time.perf_counter()
    result = _run(writer.command(place, out), writer, scratch)
    took, sound = time.perf_counter() - began, written(writer, out)
    if result.status or None in sound:
        raise SystemExit(f"{writer.name} fails without a kill: {result.said}")
    counts, failures = Counter[str](), []
    for number in range(count):
        moment = random.uniform(0, took)
        left, bad = trial(writer, place, scratch, moment, sound)
        counts.update([left, *(each.partition(":")[0] for each in bad)])
        failures += [{"command": writer.name, "kill": number, "s": round(moment, 3), "said": each} for each in bad]
    return counts, took, failures


def _row(name: str, count: int, took: float, counts: Counter[str]) -> dict[str, Any]:
    outcomes = {outcome: counts[outcome] for outcome in (*LEFT, *FAILURES)}
    return {"killed": name, "kills": count, "of s": round(took, 2), **outcomes}
