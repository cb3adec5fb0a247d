"""Start each command that writes twice at nearly the same time, with the same output, and check that output.

A trial counts as

- both: both succeeded, and the output is that of one of them alone, or of one after the other;
- one: one was refused with status 2 and a message, and the output is that of the other;
- traceback, another status: one ended otherwise;
- damaged: the output is another, or temporary files are left.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Final

from benchmarks.campaigns.at_once_review import ReviewsAtOnce
from benchmarks.campaigns.commands import Child, Result, comparable, prepare, run_all
from benchmarks.campaigns.killed import leftovers, written
from benchmarks.campaigns.reviewing import NAME as REVIEW
from benchmarks.campaigns.world import WRITERS, Writer, emptied, make_world

OUTCOMES: Final = ("both", "one")
FAILURES: Final = ("traceback", "another status", "damaged")

Trial = Callable[[float], tuple[str, str]]
"""Starts both, the second so many seconds after the first; returns the outcome, and what was said."""


def _prepared(writer: Writer, place: Path, scratch: Path) -> Path:
    out = emptied(scratch / "out")
    run_all(writer.preparation(place, out), scratch)
    return out


def _start(writer: Writer, place: Path, out: Path, streams: Path) -> Child:
    return Child(writer.command(place, out), streams)


def _outcome(results: list[Result], writer: Writer, out: Path, expected: list[Any]) -> tuple[str, str]:
    said = " | ".join(result.said.strip()[-400:] for result in results if result.said.strip())
    if any(result.is_traceback for result in results):
        return "traceback", said
    statuses = sorted(result.status for result in results)
    if statuses not in ([0, 0], [0, 2]):
        return "another status", f"{statuses}: {said}"
    if written(writer, out) not in expected or leftovers(out):
        return "damaged", said
    return ("both" if statuses == [0, 0] else "one"), said


def measure(count: int, *, only: str = "", seed: int = 0) -> dict[str, Any]:
    """Start each command twice, so many times.

    Args:
        count: trials of each.
        only: of commands whose name begins so.
        seed: of the time between both.
    """
    rows, failures, said = [], [], set()
    with tempfile.TemporaryDirectory() as name:
        scratch, place = Path(name), Path(name) / "world"
        os.environ["NYMLINK_CACHE"] = str(scratch / "own-cache")
        make_world(place)
        prepare(torch=True)
        trials: dict[str, Callable[[], tuple[float, Trial]]] = {
            writer.name: partial(_trials, writer, place, scratch) for writer in WRITERS if not writer.is_slow
        }
        trials[REVIEW] = partial(_reviews, place, scratch)
        for command in (each for each in trials if each.startswith(only)):
            random, counts = Random(f"{command} {seed}"), Counter[str]()
            took, trial = trials[command]()
            for number in range(count):
                # Half of the trials at the same time, the others while the first is at work.
                became, text = trial(0 if number % 2 else random.uniform(0, took))
                counts[became] += 1
                if became in FAILURES:
                    failures.append({"command": command, "trial": number, "outcome": became, "said": text})
                elif became == "one":
                    said.add(comparable(text, name))
            rows.append(
                {"twice at once": command, "trials": count}
                | {outcome: counts[outcome] for outcome in (*OUTCOMES, *FAILURES)}
            )
    return {"rows": rows, "failures": failures, "messages": sorted(said)}


def _trials(writer: Writer, place: Path, scratch: Path) -> tuple[float, Trial]:
    """Run a command alone, once and again; return the seconds of a run, and what tries it twice at once."""
    out = _prepared(writer, place, scratch)
    expected = []
    began = time.perf_counter()
    for _ in range(2):
        _start(writer, place, out, scratch / "sound").wait(scratch / "nothing")
        expected.append(written(writer, out))
    took = (time.perf_counter() - began) / 2

    def trial(later: float) -> tuple[str, str]:
        out = _prepared(writer, place, scratch)
        first = _start(writer, place, out, scratch / "first")
        time.sleep(later)
        second = _start(writer, place, out, scratch / "second")
        results = [first.wait(scratch / "nothing"), second.wait(scratch / "nothing")]
        return _outcome(results, writer, out, expected)

    return took, trial


def _reviews(place: Path, scratch: Path) -> tuple[float, Trial]:
    reviews = ReviewsAtOnce(place, scratch)
    return reviews.start(), reviews.trial
