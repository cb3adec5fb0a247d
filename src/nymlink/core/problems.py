"""Counted reports of broken input: the bad part is set aside with its line number, the good part goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any

from nymlink.core.visible import visible


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with the input.

    Attributes:
        path: the file it stands in.
        line: 1-based line number, or ``None`` where lines mean nothing.
        message: what is wrong.
        rejected: whether the input at that place was not used (``False``: it was repaired and kept).
        outcome: what became of it, in a word or two.
    """

    path: str
    line: int | None
    message: str
    rejected: bool
    outcome: str

    def __str__(self) -> str:
        where = self.path if self.line is None else f"{self.path}:{self.line}"
        return visible(f"{where}: {self.message} ({self.outcome})")

    def to_dict(self) -> dict[str, Any]:
        return {"path": self.path, "line": self.line, "message": self.message, "rejected": self.rejected}


class Problems:
    """Collects problems: counts all of them, remembers the first ``keep``.

    Args:
        keep: how many problems are remembered in full; memory stays bounded on a file that is all broken.
        on_problem: called with each problem as it comes, for instance to print it.
    """

    def __init__(self, *, keep: int = 100, on_problem: Callable[[Problem], None] | None = None) -> None:
        self.rejected = 0
        self.repaired = 0
        self.first: list[Problem] = []
        self.last: Problem | None = None
        self._keep = keep
        self._on_problem = on_problem

    def reject(
        self, path: str | PathLike[str], line: int | None, message: str, *, outcome: str = "left out"
    ) -> None:
        """Report input that was not used."""
        self.rejected += 1
        self._add(Problem(fspath(path), line, message, True, outcome))

    def repair(self, path: str | PathLike[str], line: int | None, message: str) -> None:
        """Report input that was mended and kept."""
        self.repaired += 1
        self._add(Problem(fspath(path), line, message, False, "kept"))

    def _add(self, problem: Problem) -> None:
        self.last = problem
        if len(self.first) < self._keep:
            self.first.append(problem)
        if self._on_problem is not None:
            self._on_problem(problem)

    @property
    def count(self) -> int:
        """All problems, whether rejected or repaired."""
        return self.rejected + self.repaired

    def to_dict(self) -> dict[str, Any]:
        return {
            "rejected": self.rejected,
            "repaired": self.repaired,
            "first": [problem.to_dict() for problem in self.first],
        }
