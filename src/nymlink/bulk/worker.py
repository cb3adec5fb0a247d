"""A worker: does shards one after the other, and writes the part of each, whichever engine gives it them."""

from __future__ import annotations

import os
import platform
import time
import warnings
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

import psutil

from nymlink.bulk.job_folder import read_counts, write_part
from nymlink.bulk.report import Rejection, ShardReport
from nymlink.bulk.row import Shard
from nymlink.bulk.sources import ROW_FORMATS
from nymlink.bulk.tasks import Task, Work, answer_all
from nymlink.core.errors import NymlinkError, StoreError
from nymlink.core.store.digests import json_digest
from nymlink.encode.batches import TruncationCounts
from nymlink.linking.inputs import UnknownScripts

_SHOWN: Final = 20
"""Rejected rows of a shard that are reported one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkOrder:
    """What a worker must know of a job; can be pickled.

    Attributes:
        task: what to do.
        work: digest of the identity of its work, as the driver opened it.
        job: digest of the job.
        folder: the output.
    """

    task: Task
    work: str
    job: str
    folder: str


class Worker:
    """Does shards of a job.

    Args:
        order: the job.
        work: the task, where it is open already.
    """

    def __init__(self, order: WorkOrder, work: Work | None = None) -> None:
        self._order = order
        self._folder = Path(order.folder)
        self._name = f"{platform.node()}:{os.getpid()}"
        self._failure: str | None = None
        try:
            self._work = order.task.open() if work is None else work
            self._check()
        except NymlinkError as error:
            # Said when there is a shard to do: an engine would start a worker that fails at its start again.
            self._failure = str(error)

    def do(self, shard: Shard) -> ShardReport:
        """Do a shard, unless it is done; what hinders that is in the report."""
        if self._failure is not None:
            return ShardReport(shard=shard.number, worker=self._name, failure=self._failure)
        try:
            return self._done(shard)
        except NymlinkError as error:
            failure = str(error)
        except MemoryError:
            failure = "memory does not suffice: give fewer --workers, or fewer --shard-rows in another output"
        return ShardReport(shard=shard.number, worker=self._name, failure=failure)

    def _done(self, shard: Shard) -> ShardReport:
        start, cpu_start = time.perf_counter(), time.process_time()
        before = read_counts(self._folder, self._order.job, shard.number)
        if before is not None:
            return ShardReport(shard=shard.number, worker=self._name, counts=before)
        counted = (TruncationCounts(), UnknownScripts())
        with counted[0].collected(), counted[1].collected(), warnings.catch_warnings(action="ignore"):
            rows = sorted(ROW_FORMATS[shard.source.format].read(shard), key=lambda row: row.number)
            answers = answer_all(self._work, rows)
        counts = write_part(self._folder, self._order.job, shard, rows, answers, self._work.schema)
        faults = (
            Rejection(shard.source.name, row.number, fault, kept=answer.error is None)
            for row, answer in zip(rows, answers, strict=True)
            if (fault := answer.error or row.problem) is not None
        )
        return ShardReport(
            shard=shard.number,
            worker=self._name,
            counts=counts,
            seconds=time.perf_counter() - start,
            cpu_seconds=time.process_time() - cpu_start,
            memory=_memory(),
            rejections=tuple(islice(faults, _SHOWN)),
            warnings=counted,
        )

    def _check(self) -> None:
        """Check that this machine has what the job is of.

        Raises:
            StoreError: it has something else, or does not see the output.
        """
        if json_digest(self._work.identity) != self._order.work:
            raise StoreError(
                f"what {platform.node()} has there is not what the job was begun with: put the same on every node",
                path=next(iter(self._order.task.folders), None),
            )
        if not self._folder.is_dir():
            raise StoreError(
                f"{platform.node()} does not see the output: choose a folder that all nodes share",
                path=self._folder,
            )


def _memory() -> int:
    """Measure the bytes that this process has for itself in memory, without what it shares by mapping files."""
    used = psutil.Process().memory_info()
    return int(used.rss - getattr(used, "shared", 0))
