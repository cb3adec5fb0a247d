"""Collect, count and report problems of the input."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from os import PathLike, fspath
from types import MappingProxyType
from typing import Any, Final, Self

from nymlink.core.terminal import escape_controls


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem in the input.

    Attributes:
        path: the file.
        line: 1-based line number, or ``None`` if there are no lines.
        message: what is wrong.
        rejected: whether the input was left out. ``False`` means that it was repaired and kept.
        outcome: what happened to the input, in a word or two.
    """

    path: str
    line: int | None
    message: str
    rejected: bool
    outcome: str

    def __str__(self) -> str:
        where = self.path if self.line is None else f"{self.path}:{self.line}"
        return escape_controls(f"{where}: {self.message} ({self.outcome})")

    def to_dict(self) -> dict[str, Any]:
        return {"path": self.path, "line": self.line, "message": self.message, "rejected": self.rejected}


class Problems:
    """A collector of problems. It counts all problems, and stores the first ``keep``.

    Args:
        keep: number of stored problems.
        on_problem: called with each problem when it is reported, for instance to print it.

    Attributes:
        rejected: number of problems because of which input was left out.
        repaired: number of problems that were repaired, so that the input was kept.
        first: the first ``keep`` problems.
        last: the latest problem.
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
        """Report input that was left out."""
        self.rejected += 1
        self._add(Problem(fspath(path), line, message, True, outcome))

    def repair(self, path: str | PathLike[str], line: int | None, message: str) -> None:
        """Report input that was repaired and kept."""
        self.repaired += 1
        self._add(Problem(fspath(path), line, message, False, "kept"))

    def named(self, path: str | PathLike[str]) -> Problems:
        """Return a collector that reports to this collector under another path.

        This is for reading a copy: the path is that of the original file.
        """

        def report(problem: Problem) -> None:
            if problem.rejected:
                self.reject(path, problem.line, problem.message, outcome=problem.outcome)
            else:
                self.repair(path, problem.line, problem.message)

        return Problems(keep=0, on_problem=report)

    def _add(self, problem: Problem) -> None:
        self.last = problem
        if len(self.first) < self._keep:
            self.first.append(problem)
        if self._on_problem is not None:
            self._on_problem(problem)

    @property
    def count(self) -> int:
        """Number of all problems, rejected and repaired."""
        return self.rejected + self.repaired

    def to_dict(self) -> dict[str, Any]:
        return {
            "rejected": self.rejected,
            "repaired": self.repaired,
            "first": [problem.to_dict() for problem in self.first],
        }


class CollectedCounts(ABC):
    """Base class of counts that end in a warning. A block around many calls replaces their warnings by one."""

    __slots__ = ()

    @abstractmethod
    def _add(self, other: Self) -> None:
        """Add the counts of a call."""

    @abstractmethod
    def _message(self) -> str | None:
        """Return the text of the warning; ``None`` if no warning is needed."""

    @contextmanager
    def collected(self) -> Iterator[None]:
        """Add up the counts of all calls within the block, for a single warning.

        Calls in another context, such as another thread, are not included.
        """
        token = _COLLECTING.set(MappingProxyType({**_COLLECTING.get(), type(self): self}))
        try:
            yield
        finally:
            _COLLECTING.reset(token)

    def warn(self, *, stacklevel: int) -> None:
        """Warn if necessary. Within a :meth:`collected` block, leave the warning to the block.

        Args:
            stacklevel: whose line the warning names: 1 for the caller, 2 for the caller of the caller.
        """
        collecting = _COLLECTING.get().get(type(self))
        if collecting is not None:
            collecting._add(self)
        elif (message := self._message()) is not None:
            warnings.warn(message, stacklevel=stacklevel + 1)


_COLLECTING: Final[ContextVar[Mapping[type[CollectedCounts], CollectedCounts]]] = ContextVar(
    "collected counts", default=MappingProxyType({})
)
"""Class → counts of the surrounding block."""
