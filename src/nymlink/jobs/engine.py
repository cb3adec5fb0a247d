"""Interfaces of engines, orders and workers, which do the shards of a job, and the simplest engine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Final, Protocol, TypeVar

from nymlink.core.errors import NymlinkError

TRIES: Final = 3
"""How often a shard is begun if its worker ends early."""


class WorkerEndedError(NymlinkError):
    """The process of a worker ended before its shard was done, as often as the shard was tried.

    Attributes:
        shard: number of the shard.
        tries: how often it was begun.
    """

    def __init__(self, shard: int, tries: int) -> None:
        super().__init__(f"the worker of shard {shard:,} ended early {tries} times")
        self.shard = shard
        self.tries = tries


class Numbered(Protocol):
    """A shard: a part of the input for one worker."""

    @property
    def number(self) -> int:
        """Place of the shard in the job, from 0."""
        ...


class Reported(Protocol):
    """The report on a shard."""

    @property
    def shard(self) -> int:
        """Number of the shard."""
        ...


S = TypeVar("S", bound=Numbered)
R = TypeVar("R", bound=Reported)
S_in = TypeVar("S_in", bound=Numbered, contravariant=True)
R_out = TypeVar("R_out", bound=Reported, covariant=True)


class Worker(Protocol[S_in, R_out]):
    """Does shards, one after the other."""

    def do(self, shard: S_in, /) -> R_out:
        """Do a shard, and return a report on it."""
        ...


class Order(Protocol[S_in, R_out]):
    """The order of a job, which tells a process what to do. An order can be pickled."""

    def open(self) -> Worker[S_in, R_out]:
        """Make the worker of a process. Each process calls this once."""
        ...


class Workers(Protocol[S_in, R_out]):
    """The workers of a job that has started."""

    def do(self, shards: Iterable[S_in]) -> Iterator[R_out]:
        """Do shards, and yield their reports. If a worker dies, its shard is begun again.

        Raises:
            WorkerEndedError: the worker of a shard died each time.
        """
        ...


class Engine(Protocol):
    """Gives shards to workers. The result does not depend on which worker does which shard.

    Attributes:
        waits_for: what the user waits for while the engine starts, for a line of progress.
    """

    waits_for: str

    def started(
        self, order: Order[S, R], own: Worker[S, R], needs: Sequence[str]
    ) -> AbstractContextManager[Workers[S, R]]:
        """Start the workers.

        Args:
            order: the job.
            own: the worker of this process.
            needs: paths that must exist on the machine of every worker.

        Raises:
            InputError: the engine cannot be started, or a machine lacks what the job needs.
        """
        ...


class InProcess:
    """Does all shards in this process, in order."""

    waits_for = "rows"

    @contextmanager
    def started(self, order: Order[S, R], own: Worker[S, R], needs: Sequence[str] = ()) -> Iterator[Workers[S, R]]:
        """Use the worker of this process."""
        yield _Own(own)


class _Own(Workers[S, R]):
    def __init__(self, worker: Worker[S, R]) -> None:
        self._worker = worker

    def do(self, shards: Iterable[S]) -> Iterator[R]:
        yield from map(self._worker.do, shards)
