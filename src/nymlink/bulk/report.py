"""Counts of rows and speeds of workers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from nymlink.core.json_files import member, to_dataclass
from nymlink.core.problems import CollectedCounts
from nymlink.jobs.job_folder import Part


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of a shard, or of many.

    Attributes:
        rows: rows of the input.
        rejected: unusable rows, with the reason in the column ``error``.
        mentions: mentions linked or found, or names encoded.
        nil: NIL mentions, or names with a vector of zeros.
        written: rows of the output.
    """

    rows: int = 0
    rejected: int = 0
    mentions: int = 0
    nil: int = 0
    written: int = 0

    @classmethod
    def sum(cls, parts: Iterable[Self]) -> Self:
        """Add up counts."""
        return cls(*map(sum, zip(*(asdict(part).values() for part in (cls(), *parts)), strict=True)))

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Self:
        """Read the counts in the facts of a part, or in the manifest of a job.

        Raises:
            ValueError: there are none.
        """
        counts = member(facts, "counts", dict)
        if counts.keys() != asdict(cls()).keys():
            raise ValueError(f"{sorted(counts)} are not the counts of rows")
        return to_dataclass(cls, counts)

    def to_dict(self) -> dict[str, int]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Rejection:
    """An unusable row, or an unusable part of a row, with its place and the reason.

    Attributes:
        source: name of the file.
        row: number of the row.
        message: what is wrong.
        kept: whether the rest of the row is used.
    """

    source: str
    row: int
    message: str
    kept: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardReport:
    """A worker's report of a shard.

    Attributes:
        shard: its number.
        worker: the worker: its host and process.
        part: record of its part, with the counts of its rows; ``None`` if it could not be done.
        seconds: duration.
        cpu_seconds: CPU time of the process, over all cores.
        memory: bytes of the worker in memory, without mapped files.
        rejections: the first unusable rows.
        warnings: counts for warnings, given once for all shards.
        failure: why the shard could not be done; ``None`` if it was.
    """

    shard: int
    worker: str
    part: Part | None = None
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    memory: int = 0
    rejections: tuple[Rejection, ...] = ()
    warnings: tuple[CollectedCounts, ...] = ()
    failure: str | None = None

    @property
    def counts(self) -> Counts:
        return Counts() if self.part is None else Counts.of(self.part.facts)


@dataclass(frozen=True, slots=True)
class WorkerReport:
    """The work of a worker in this run.

    Attributes:
        worker: its host and process.
        counts: of its shards.
        seconds: duration of its work.
        cpu_seconds: CPU time of its process.
        memory: the most bytes in memory after a shard.
    """

    worker: str
    counts: Counts
    seconds: float
    cpu_seconds: float
    memory: int

    @property
    def rate(self) -> float:
        """Mentions or names per second."""
        return self.counts.mentions / self.seconds if self.seconds else 0.0


@dataclass(frozen=True, slots=True)
class JobReport:
    """The report of a job.

    Attributes:
        counts: of all shards, including earlier runs.
        shards: number of shards.
        done_before: number of shards done by earlier runs.
        new_rows: number of rows that were not in the input when the job was last finished; 0 if it never was.
        seconds: duration of this run.
        start_seconds: time until the first worker began a shard.
        work_seconds: time from there to the end of the last shard.
        workers: the work of each worker in this run.
    """

    counts: Counts
    shards: int
    done_before: int = 0
    new_rows: int = 0
    seconds: float = 0.0
    start_seconds: float = 0.0
    work_seconds: float = 0.0
    workers: tuple[WorkerReport, ...] = ()

    @property
    def rate(self) -> float:
        """Mentions or names per second, by all workers of this run."""
        done = sum(worker.counts.mentions for worker in self.workers)
        return done / self.work_seconds if self.work_seconds else 0.0

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "workers": [{**asdict(one), "rate": one.rate} for one in self.workers]}


def worker_reports(reports: Iterable[ShardReport]) -> tuple[WorkerReport, ...]:
    """Add up the reports of shards by worker, sorted by name."""
    by_worker: dict[str, list[ShardReport]] = {}
    for report in reports:
        by_worker.setdefault(report.worker, []).append(report)
    return tuple(
        WorkerReport(
            worker,
            Counts.sum(each.counts for each in own),
            sum(each.seconds for each in own),
            sum(each.cpu_seconds for each in own),
            max(each.memory for each in own),
        )
        for worker, own in sorted(by_worker.items())
    )
