"""Start two servers on one folder of projects, with a reviewer at each, and see that no decision is lost.

A project is written to by one server at a time: the one that opens it first. A trial counts as

- both: each took the decisions of a project, and refused those of the other with a message;
- one: one took all decisions, and the other refused them with a message;
- traceback, another status: a server ended otherwise than with status 0, or refused with another message;
- damaged: what was answered is not in the projects, `nymlink verify` finds damage, or the second server did not
  take all decisions once the first had ended.
"""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Final

from benchmarks.campaigns.commands import Child
from benchmarks.campaigns.reviewing import TERMS, Decisions, Reviewer, Server, make_projects, saved
from benchmarks.campaigns.world import emptied

_PROJECTS: Final = ("here", "there")


class ReviewsAtOnce:
    """Starts two servers on the same projects.

    Args:
        place: the world of the campaigns.
        scratch: a folder for all that is written.
    """

    def __init__(self, place: Path, scratch: Path) -> None:
        self._index, self._scratch = place / "index", scratch
        self._prepared, self._folder = scratch / "prepared", scratch / "projects"
        make_projects(place, self._prepared, _PROJECTS, scratch)

    def trial(self, later: float) -> tuple[str, str]:
        """Review at both servers; return the outcome, and what was said.

        Args:
            later: seconds after which the second server is started.
        """
        shutil.copytree(self._prepared, emptied(self._folder), dirs_exist_ok=True)
        with Server(self._index, self._folder, self._scratch / "first") as first:
            time.sleep(later)
            with Server(self._index, self._folder, self._scratch / "second") as second:
                return self._outcome(first, second)

    def _outcome(self, first: Server, second: Server) -> tuple[str, str]:
        """Review at both servers, end the first, go on at the second, and compare."""
        reviewers = [Reviewer("ann", first.port(), _PROJECTS), Reviewer("bob", second.port(), _PROJECTS)]
        for thread in [reviewer.start() for reviewer in reviewers]:
            thread.join()
        answered: Decisions = reviewers[0].decided | reviewers[1].decided
        shared = set.intersection(*({project for project, *_ in each.decided} for each in reviewers))
        refused = reviewers[0].refused + reviewers[1].refused
        results = [first.end()]
        # What the first had, the second takes now.
        after = Reviewer("carol", reviewers[1].port, _PROJECTS)
        after.review()
        results.append(second.end())
        said = " | ".join([*sorted({message for _, message in refused}), *(each.said[-300:] for each in results)])
        if any(result.is_traceback for result in results):
            return "traceback", said
        codes = {code for code, _ in refused + after.refused}
        if any(result.status for result in results) or codes - {"locked"}:
            return "another status", f"{[result.status for result in results]}: {after.refused[:2]} {said}"
        if shared:
            return "damaged", f"both took decisions of {', '.join(sorted(shared))}"
        answered |= after.decided
        if saved(self._folder) != answered or len(after.decided) != TERMS * len(_PROJECTS):
            return "damaged", f"{len(answered)} answered, {len(saved(self._folder))} saved: {after.refused[:2]}"
        if len(answered) + len(refused) != 3 * TERMS * len(_PROJECTS):
            return "damaged", f"{len(answered)} answered and {len(refused)} refused: {said}"
        checked = Child(["verify", str(self._folder)], self._scratch / "verify").wait(self._scratch / "nothing")
        if checked.status:
            return "damaged", checked.said
        return ("both" if reviewers[0].decided and reviewers[1].decided else "one"), said

    def start(self) -> float:
        """Start a server alone, and measure the seconds."""
        shutil.copytree(self._prepared, emptied(self._folder), dirs_exist_ok=True)
        began = time.perf_counter()
        with Server(self._index, self._folder, self._scratch / "first") as server:
            server.port()
            took = time.perf_counter() - began
            server.end()
        return took
