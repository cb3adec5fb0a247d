"""What became of the rows of a job, and how fast each worker was."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Self

from nymlink.core.json_files import to_dataclass
from nymlink.core.problems import CollectedCounts
from nymlink.jobs.job_folder import Part


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of a shard, or of many.

    Attributes:
        rows: rows of the input.
        rejected: those that could not be used, which say why in the column ``error``.
        mentions: mentions linked or found, or names encoded.
        nil: those that mean no concept, or have a vector of zeros.
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
    def of(cls, part: Part) -> Self:
        """Read the counts in the record of a part.

        Raises:
            ValueError: there are none.
        """
        if part.facts.keys() != asdict(cls()).keys():
            raise ValueError(f"{sorted(part.facts)} are not the counts of rows")
        return to_dataclass(cls, part.facts)

    def to_dict(self) -> dict[str, int]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Rejection:
    """A row that could not be used, or something in a row: where it is, and why.

    Attributes:
        source: name of the file.
        row: number of the row.
        message: what is wrong.
        kept: whether the row is used all the same.
    """

    source: str
    row: int
    message: str
    kept: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardReport:
    """What a worker says of a shard.

    Attributes:
        shard: its number.
        worker: the worker: its host and process.
        part: record of its part, with the counts of its rows; ``None`` if it could not be done.
        seconds: how long it took.
        cpu_seconds: how long its process computed meanwhile, on any number of cores.
        memory: bytes that the worker has in memory, without what it maps of files.
        rejections: the first rows that could not be used.
        warnings: counts to warn of, once for all shards.
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
        """Counts of its rows."""
        return Counts() if self.part is None else Counts.of(self.part)


@dataclass(frozen=True, slots=True)
class WorkerReport:
    """What a worker did in this run.

    Attributes:
        worker: its host and process.
        counts: of its shards.
        seconds: how long it worked.
        cpu_seconds: how long its process computed meanwhile.
        memory: the most bytes that it had in memory after a shard.
    """

    worker: str
    counts: Counts
    seconds: float
    cpu_seconds: float
    memory: int

    @property
    def rate(self) -> float:
        """Mentions or names a second."""
        return self.counts.mentions / self.seconds if self.seconds else 0.0


@dataclass(frozen=True, slots=True)
class JobReport:
    """What became of a job.

    Attributes:
        counts: of all shards, those of earlier runs included.
        shards: how many shards there are.
        done_before: how many of them an earlier run had done.
        seconds: how long this run took, from its start.
        start_seconds: how much of that was before a worker began with a shard.
        work_seconds: how much was from there to the last shard.
        workers: what each worker did in this run.
    """

    counts: Counts
    shards: int
    done_before: int = 0
    seconds: float = 0.0
    start_seconds: float = 0.0
    work_seconds: float = 0.0
    workers: tuple[WorkerReport, ...] = ()

    @property
    def rate(self) -> float:
        """Mentions or names a second, by all workers of this run."""
        done = sum(worker.counts.mentions for worker in self.workers)
        return done / self.work_seconds if self.work_seconds else 0.0

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "workers": [{**asdict(one), "rate": one.rate} for one in self.workers]}


def worker_reports(reports: Iterable[ShardReport]) -> tuple[WorkerReport, ...]:
    """Add up the reports of shards by their workers, in the order of their names."""
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
