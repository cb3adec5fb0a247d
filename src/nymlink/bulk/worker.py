"""A worker of any engine: does shards one after the other, and writes the part of each."""

from __future__ import annotations

import os
import platform
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

import psutil
import pyarrow as pa
import pyarrow.parquet as pq

from nymlink.bulk.report import Counts, Rejection, ShardReport
from nymlink.bulk.row_formats import Row, read_rows
from nymlink.bulk.tasks import Answer, Task, Work, answer_all
from nymlink.core.errors import InputError, NymlinkError, StoreError
from nymlink.core.files import split_part
from nymlink.core.store.digests import json_digest
from nymlink.encode.batches import TruncationCounts
from nymlink.jobs.job_folder import JobFolder, Part, write_part
from nymlink.linking.inputs import UnknownScripts
from nymlink.tables.arrow import arrow_table
from nymlink.tables.shards import Shard

_SHOWN: Final = 20
"""Most rejected rows of a shard in its report."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkOrder:
    """A worker's instructions; can be pickled.

    Attributes:
        task: what to do.
        work: digest of the identity of the work, computed by the driver.
        folder: the output.
    """

    task: Task
    work: str
    folder: JobFolder

    def open(self) -> Worker:
        """Make the worker of a process, with everything loaded."""
        return Worker(self)


class Worker:
    """Does shards of a job.

    Args:
        order: the job.
        work: the task, if it is already open.
    """

    def __init__(self, order: WorkOrder, work: Work | None = None) -> None:
        self._order = order
        self._name = f"{platform.node()}:{os.getpid()}"
        self._failure: str | None = None
        try:
            self._work = order.task.open() if work is None else work
            self._check()
        except NymlinkError as error:
            # Reported with the first shard: an engine would restart a worker that fails at its start.
            self._failure = str(error)

    def do(self, shard: Shard) -> ShardReport:
        """Do a shard; the report has the reason of a failure."""
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
        path, _ = split_part(Path(shard.source.path))
        if path.exists() and not path.is_file():
            # Opening a pipe would block the worker for ever.
            raise InputError("is no longer a file: give --restart to start again", path=path)
        counted = (TruncationCounts(), UnknownScripts())
        with counted[0].collected(), counted[1].collected(), warnings.catch_warnings(action="ignore"):
            rows = sorted(read_rows(shard), key=lambda row: row.number)
            answers = answer_all(self._work, rows)
        part = self._written(shard, rows, answers)
        faults = (
            Rejection(shard.source.name, row.number, fault, kept=answer.error is None)
            for row, answer in zip(rows, answers, strict=True)
            if (fault := answer.error or row.problem) is not None
        )
        return ShardReport(
            shard=shard.number,
            worker=self._name,
            part=part,
            seconds=time.perf_counter() - start,
            cpu_seconds=time.process_time() - cpu_start,
            memory=_memory(),
            rejections=tuple(islice(faults, _SHOWN)),
            warnings=counted,
        )

    def _written(self, shard: Shard, rows: Sequence[Row], answers: Sequence[Answer]) -> Part:
        """Write the part of a shard.

        Raises:
            OutputError: it cannot be written.
        """
        # A row without an answer has its id, and why.
        names = self._work.schema.names
        id_column = next(name for name in ("document_id", "id") if name in names)
        written: list[tuple[Any, ...]] = []
        for row, answer in zip(rows, answers, strict=True):
            nothing = tuple(row.id if name == id_column else None for name in names)
            values = answer.rows if answer.error is None else [nothing]
            written += ((shard.source.name, row.number, *each, answer.error) for each in values)
        schema = part_schema(self._work.schema)
        table = arrow_table(written, schema)
        counts = Counts(
            rows=len(rows),
            rejected=sum(answer.error is not None for answer in answers),
            mentions=sum(answer.mentions for answer in answers),
            nil=sum(answer.nil for answer in answers),
            written=len(written),
        )
        return write_part(
            self._order.folder.part(shard.number),
            lambda path: pq.write_table(table, path, compression="zstd"),
            {"counts": counts.to_dict(), "shard": shard.to_dict()},
        )

    def _check(self) -> None:
        """Check that this machine has the index or encoder of the job.

        Raises:
            StoreError: it has another one, or does not see the output.
        """
        if json_digest(self._work.identity) != self._order.work:
            raise StoreError(
                f"what {platform.node()} has there is not what the job was begun with: put the same on every node",
                path=next(iter(self._order.task.folders), None),
            )
        parts = self._order.folder.parts
        if not parts.is_dir():
            raise StoreError(
                f"{platform.node()} does not see the output: choose a folder that all nodes share",
                path=parts,
            )


def part_schema(answers: pa.Schema) -> pa.Schema:
    """Return the columns of a part: the source of a row, its answer, and its error."""
    return pa.schema([("source", pa.string()), ("row", pa.int64()), *answers, ("error", pa.string())])


def _memory() -> int:
    """Measure the private bytes of this process in memory, without shared mapped files."""
    used = psutil.Process().memory_info()
    return int(used.rss - getattr(used, "shared", 0))
