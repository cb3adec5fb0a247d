"""Define an engine: what gives the shards of a job to workers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from nymlink.bulk.report import ShardReport
from nymlink.bulk.rows.row import Shard, Source
from nymlink.bulk.tasks.task import Work
from nymlink.bulk.worker import WorkOrder


class Engine(Protocol):
    """Gives shards to workers. Which worker does which shard, and in what order, makes no difference."""

    def started(self, order: WorkOrder, work: Work, sources: Sequence[Source]) -> AbstractContextManager[Workers]:
        """Start the engine, and check that workers can do the job.

        Args:
            order: the job.
            work: the task, opened in this process.
            sources: the files of the job.

        Raises:
            InputError: it cannot be started, or a machine has not what the job needs.
        """
        ...


class Workers(Protocol):
    """The workers of a job."""

    def do(self, shards: Sequence[Shard]) -> Iterator[ShardReport]:
        """Do shards, and report each that is done; one whose worker dies may be left out."""
        ...
