"""Kill a server while two reviewers decide, start it again, and look for every decision that it had answered.

A trial counts as

- absent, partial, whole: how many of all decisions were in the project after the kill;
- damaged: `nymlink verify` finds damage in it, or a decision that was answered is not there;
- failed: the server does not start again, takes no further decision, or does not end well;
- different: in the end there are other decisions than all that were made;
- leftovers: there is more than the project in its folder in the end.
"""

from __future__ import annotations

import shutil
import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any, Final

from benchmarks.campaigns.commands import Child
from benchmarks.campaigns.reviewing import NAME, TERMS, Reviewer, Server, listed, make_projects, saved
from benchmarks.campaigns.world import emptied

_PROJECT: Final = "visits"
_REVIEWERS: Final = ("ann", "bob")
_ALL: Final = {(_PROJECT, reviewer, term) for reviewer in _REVIEWERS for term in range(1, TERMS + 1)}


class KilledReview:
    """Kills servers, and tells what became of what they had answered.

    Args:
        place: the world of the campaigns.
        scratch: a folder for all that is written.
    """

    def __init__(self, place: Path, scratch: Path) -> None:
        self._index, self._scratch = place / "index", scratch
        self._prepared, self._folder = scratch / "prepared", scratch / "projects"
        make_projects(place, self._prepared, [_PROJECT], scratch)

    def _started(self) -> tuple[Server, int]:
        server = Server(self._index, self._folder, self._scratch / "server")
        return server, server.port()

    def _damage(self) -> list[str]:
        result = Child(["verify", str(self._folder)], self._scratch / "verify").wait(self._scratch / "nothing")
        return [f"damaged: {result.said[-400:]}"] if result.status else []

    def undisturbed(self) -> float:
        """Measure the seconds of a review without a kill."""
        shutil.copytree(self._prepared, emptied(self._folder), dirs_exist_ok=True)
        server, port = self._started()
        began = time.perf_counter()
        for thread in [Reviewer(name, port, [_PROJECT]).start() for name in _REVIEWERS]:
            thread.join()
        took = time.perf_counter() - began
        result = server.end()
        if result.status or saved(self._folder).keys() != _ALL or self._damage():
            raise SystemExit(f"a review fails without a kill: {result.said[-400:]}")
        return took

    def trial(self, seconds: float) -> tuple[str, list[str]]:
        """Kill a server once; return what it left, and what failed."""
        shutil.copytree(self._prepared, emptied(self._folder), dirs_exist_ok=True)
        server, port = self._started()
        reviewers = [Reviewer(name, port, [_PROJECT]) for name in _REVIEWERS]
        threads = [reviewer.start() for reviewer in reviewers]
        time.sleep(seconds)
        server.kill()
        for thread in threads:
            thread.join()
        bad = self._damage()
        answered = {key: number for reviewer in reviewers for key, number in reviewer.decided.items()}
        try:
            server, port = self._started()
            kept = listed(port, _PROJECT)
        except OSError as error:
            server.kill()
            return "partial", [*bad, f"failed: {error}"]
        if lost := sorted(answered.items() - kept.items()):
            bad.append(f"damaged: {len(lost)} decisions that were answered are lost: {lost[:3]}")
        bad += self._finished(server, port)
        left = "absent" if not kept else "whole" if kept.keys() == _ALL else "partial"
        return left, bad

    def _finished(self, server: Server, port: int) -> list[str]:
        """Decide the rest, one reviewer after the other, and end the server."""
        reviewers = [Reviewer(name, port, [_PROJECT]) for name in _REVIEWERS]
        for reviewer in reviewers:
            reviewer.review()
        bad = [f"failed: {reviewer.refused[:2]}" for reviewer in reviewers if len(reviewer.decided) < TERMS]
        result = server.end()
        if result.status or result.is_traceback:
            bad.append(f"failed: exit {result.status}: {result.said[-400:]}")
        bad += self._damage()
        if saved(self._folder).keys() != _ALL:
            bad.append("different")
        if more := [path.name for path in self._folder.iterdir() if not path.name.endswith((".nymlink", ".lock"))]:
            bad.append(f"leftovers: {more[:3]}")
        return bad


def measure_review(count: int, place: Path, scratch: Path, seed: int) -> tuple[Counter[str], float, list[Any]]:
    """Kill so many servers; return what became of them, the seconds of a review, and what failed."""
    random, review = Random(f"{NAME} {seed}"), KilledReview(place, scratch)
    took, counts, failures = review.undisturbed(), Counter[str](), []
    for number in range(count):
        moment = random.uniform(0, took)
        left, bad = review.trial(moment)
        counts.update([left, *(each.partition(":")[0] for each in bad)])
        failures += [{"command": NAME, "kill": number, "s": round(moment, 3), "said": each} for each in bad]
    return counts, took, failures
