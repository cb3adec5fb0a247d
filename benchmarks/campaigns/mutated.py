"""Read mutated inputs with every reader, and count the outcomes.

Input N of a reader is always the same: ``--make READER N FOLDER`` writes it. Workers read them, a process for each
reader; one that crashes or hangs is counted and started again behind that input.

- read: without a problem;
- partly: what is bad was reported, and the rest read;
- rejected: an error of nymlink's that names the file;
- unnamed: one that does not name it;
- traceback, crash, hang (10 seconds of processor time, or two minutes), memory (half a gigabyte more than
  before): failures.
"""

from __future__ import annotations

import json
import os
import resource
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator, Sequence
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any, Final

import psutil

from benchmarks.campaigns.mutations import mutated
from benchmarks.campaigns.readers import Read, readers
from benchmarks.campaigns.seeds import Files, seeds
from nymlink.core.errors import NymlinkError
from nymlink.core.problems import Problems

OUTCOMES: Final = ("read", "partly", "rejected", "unnamed", "traceback", "crash", "hang", "memory")
FAILURES: Final = OUTCOMES[3:]
_HANGS: Final = 10.0
"""Seconds of processor time: on a busy machine, a reader may wait as long for its turn."""
_WAITS: Final = 120.0
_GROWTH: Final = 512 << 10
"""Kilobytes by which the peak of memory may grow with one input of at most 256 kB."""
_ROUND: Final = 2000
"""Inputs that are read with each reader before the next round."""
_KEPT: Final = 20
"""Failures of a reader that are kept with what was said."""


def make_input(reader: str, number: int, samples: Sequence[Files]) -> Files:
    """Make an input of a reader."""
    random = Random(f"{reader} {number}")
    chosen = random.choice(samples)
    others = [content for files in samples for content in files.values()]
    name = random.choice(list(chosen))
    return {**chosen, name: mutated(chosen[name], random, others)}


def write_input(files: Files, folder: Path) -> Path:
    """Write an input into an empty folder; one file is read by itself, other sources are the folder."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder / "source.dat" if list(files) == ["source.dat"] else folder


def outcome(read: Read, path: Path) -> tuple[str, str]:
    """Read an input; return what became of it, and what was said."""
    problems, peak = Problems(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        read(path, problems)
        found = ("partly" if problems.count else "read", "")
    except NymlinkError as error:
        found = ("rejected" if path.name in str(error) else "unnamed", str(error))
    except MemoryError:
        return "memory", traceback.format_exc()
    except BaseException:
        return "traceback", traceback.format_exc()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak
    return ("memory", f"{grown >> 10} MB more") if grown > _GROWTH else found


Task = tuple[str, int, int]
"""A reader, its first input, and where to stop."""


def _work(tasks: list[Task], at: Any, since: Any, spent: Any, results: Any) -> None:
    """Read inputs one after the other, in a process of its own."""
    warnings.simplefilter("ignore")
    read, samples = readers(), seeds()
    shared = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=shared if shared.is_dir() else None) as place:
        folder = Path(place) / "input"
        folder.mkdir()
        for task, (reader, start, stop) in enumerate(tasks):
            for file in folder.iterdir():
                file.unlink()
            for number in range(start, stop):
                path = write_input(make_input(reader, number, samples[reader]), folder)
                at[0], at[1], spent.value, since.value = task, number, time.process_time(), time.monotonic()
                became, said = outcome(read[reader], path)
                taken, since.value = time.monotonic() - since.value, 0.0
                results.send((task, number, became, said if became in FAILURES else "", taken))
    results.send(None)


def _is_stuck(worker: int | None, since: float, spent: float) -> bool:
    """Tell whether a worker is too long at an input; given when it began, and the processor time spent before."""
    waited = time.monotonic() - since
    if waited < _HANGS:
        return False
    try:
        times = psutil.Process(worker).cpu_times()
    except psutil.NoSuchProcess:
        return False
    return waited > _WAITS or times.user + times.system - spent > _HANGS


def read_inputs(tasks: list[Task]) -> Iterator[tuple[str, int, str, str, float]]:
    """Read inputs in workers; yield reader, number, outcome, what was said, and seconds of each."""
    context = get_context("spawn")
    while tasks:
        at = context.Array("q", 2, lock=False)
        since, spent = context.Value("d", 0.0, lock=False), context.Value("d", 0.0, lock=False)
        here, there = context.Pipe(duplex=False)
        worker = context.Process(target=_work, args=(tasks, at, since, spent, there))
        worker.start()
        there.close()
        ended = ""
        while not ended:
            try:
                if here.poll(0.5):
                    if (one := here.recv()) is None:
                        ended = "done"
                    else:
                        yield tasks[one[0]][0], *one[1:]
                elif since.value and _is_stuck(worker.pid, since.value, spent.value):
                    ended = "hang"
            except EOFError:
                ended = "crash"
        if ended == "hang":
            worker.kill()
        worker.join()
        if ended == "done":
            return
        if not since.value:
            raise RuntimeError(f"the worker ended between two inputs (exit {worker.exitcode})")
        reader, _, stop = tasks[at[0]]
        yield reader, at[1], ended, f"exit {worker.exitcode}", _HANGS if ended == "hang" else 0.0
        tasks = [(reader, at[1] + 1, stop), *tasks[at[0] + 1 :]]


def measure(count: int, *, only: str = "", state: Path | None = None, minutes: float = 1e9) -> dict[str, Any]:
    """Read inputs with all readers.

    Args:
        count: inputs of each reader.
        only: of readers whose name begins so.
        state: a file that remembers what is done, so that a run that ends goes on; ``None`` for none.
        minutes: after which no more is begun.
    """
    done: dict[str, Any] = {}
    if state is not None and state.is_file():
        done = json.loads(state.read_text(encoding="utf-8"))
    for name in readers():
        if name.startswith(only):
            done.setdefault(name, {"inputs": 0, "counts": {}, "failures": [], "seconds": 0.0, "slowest": 0.0})
    ends = time.monotonic() + 60 * minutes
    # In turns, so that a run that is ended has read about as many of each.
    for start in range(0, count, _ROUND):
        stop = min(start + _ROUND, count)
        tasks = [(name, one["inputs"], stop) for name, one in done.items() if one["inputs"] < stop]
        if not tasks or time.monotonic() > ends:
            continue
        for name, number, became, said, taken in read_inputs(tasks):
            one = done[name]
            one["inputs"] = number + 1
            one["seconds"] += taken
            one["slowest"] = max(one["slowest"], taken)
            one["counts"][became] = one["counts"].get(became, 0) + 1
            if became in FAILURES and len(one["failures"]) < _KEPT:
                one["failures"].append({"number": number, "outcome": became, "said": said[-1500:]})
        if state is not None:
            partial = state.with_suffix(".partial")
            partial.write_text(json.dumps(done, indent=1), encoding="utf-8")
            os.replace(partial, state)
    return {
        "rows": [
            {
                "reader": name,
                "inputs": one["inputs"],
                **{outcome: one["counts"].get(outcome, 0) for outcome in OUTCOMES},
                "inputs/s": round(one["inputs"] / max(one["seconds"], 0.001)),
                "slowest, ms": round(1000 * one["slowest"]),
            }
            for name, one in done.items()
        ],
        "failures": [{"reader": name, **each} for name, one in done.items() for each in one["failures"]],
    }


def make(reader: str, number: int, folder: Path) -> Path:
    """Write an input of a reader again, to look at it."""
    folder.mkdir(parents=True)
    return write_input(make_input(reader, number, seeds()[reader]), folder)
