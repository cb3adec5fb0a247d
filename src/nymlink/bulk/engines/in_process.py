"""The engine without workers: shards are done in this process, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from nymlink.bulk.report import ShardReport
from nymlink.bulk.rows.row import Shard, Source
from nymlink.bulk.tasks.task import Work
from nymlink.bulk.worker import Worker, WorkOrder


class InProcess:
    """Does all shards itself."""

    @contextmanager
    def started(self, order: WorkOrder, work: Work, sources: Sequence[Source]) -> Iterator[_Own]:
        """Take the work as it was opened."""
        yield _Own(Worker(order, work))


class _Own:
    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    def do(self, shards: Sequence[Shard]) -> Iterator[ShardReport]:
        yield from map(self._worker.do, shards)
