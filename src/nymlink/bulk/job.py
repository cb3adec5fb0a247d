"""Run a job: cut rows into shards, and give these to workers of an engine."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Final, Protocol

from tqdm import tqdm

from nymlink.bulk.job_folder import JobFolder
from nymlink.bulk.ray_engine import RayEngine
from nymlink.bulk.report import Counts, JobReport, ShardReport, worker_reports
from nymlink.bulk.row import Shard, Source
from nymlink.bulk.sources import cut_sources, open_sources
from nymlink.bulk.tasks import Task, Work
from nymlink.bulk.worker import Worker, WorkOrder
from nymlink.core.errors import InputError, NymlinkError, OutputError
from nymlink.core.problems import Problems
from nymlink.core.store.digests import json_digest
from nymlink.encode.batches import TruncationCounts
from nymlink.linking.inputs import UnknownScripts


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


SHARD_ROWS: Final = 5000
"""Rows of a shard: some ten seconds of work, which is what is lost with a worker."""

_TRIES: Final = 3
"""How often a shard is begun again whose worker ended early."""


def run_job(
    inputs: Iterable[str | Path],
    output: str | Path,
    task: Task,
    *,
    workers: int | None = None,
    address: str | None = None,
    gpus: float = 0.0,
    column: str | None = None,
    further: Mapping[str, str] | None = None,
    format: str | None = None,
    shard_rows: int = SHARD_ROWS,
    restart: bool = False,
    progress: bool = False,
    problems: Problems | None = None,
) -> JobReport:
    """Do a task with every row of many files, or go on with a job that was killed; a finished one is not changed.

    The parts that are written are the same to the byte for any number of workers, and however often the job was
    killed, as long as the machines are of one kind.

    Args:
        inputs: files of rows (Parquet, JSON lines, delimited text, PubTator), and folders of such.
        output: the folder to write.
        task: what to do.
        workers: processes that work, each on one core, on Ray; 0: none but this process, without Ray; ``None``:
            one for each core that there is, or for each share of a GPU.
        address: of a Ray cluster, as Ray is told it: ``"auto"`` for the one that this machine is of; ``None`` for
            a Ray of its own on this machine.
        gpus: the share of a GPU that each worker has.
        column: the column of tables with what is asked of; ``None`` for that of the task.
        further: the columns of tables with ``id`` and ``language``.
        format: of all files; ``None``: told by the content of each.
        shard_rows: rows of a part.
        restart: replace a job in the output folder instead of going on with it.
        progress: whether to show progress when standard error is a terminal.
        problems: receives the first rows that cannot be used, at most 20 of each part.

    Raises:
        InputError: the input cannot be used, the output folder holds another job, there is no such cluster, or a
            machine lacks what the job needs.
        OutputError: the output folder holds something else, or cannot be written, or another job writes to it.
        StoreError: what the task needs is missing or damaged.
        MissingExtraError: Ray is not installed.
        NymlinkError: a shard cannot be done.
    """
    began = time.perf_counter()
    inputs = list(inputs)
    _require_outside(Path(output), inputs)
    if shard_rows < 1:
        raise InputError(f"a part has at least 1 row, not {shard_rows}")
    engine: Engine = InProcess() if workers == 0 else RayEngine(workers=workers, address=address, gpus=gpus)
    sources = open_sources(
        inputs, column=column or task.column, given=column is not None, further=further or {}, format=format
    )
    work = task.open()
    shards = list(cut_sources(sources, shard_rows))
    described = {
        "command": task.command,
        "version of nymlink": version("nymlink"),
        **work.identity,
        "columns": [column or task.column, dict(further or {})],
        "rows of a part": shard_rows,
        "input": json_digest([shard.to_dict() for shard in shards]),
    }
    folder = JobFolder(Path(output).absolute(), described, shards)
    with folder.opened(restart=restart) as done:
        remaining = [shard for shard in shards if shard.number not in done]
        if not remaining and folder.is_finished:
            return JobReport(Counts.sum(done.values()), len(shards), done_before=len(done))
        order = WorkOrder(task=task, work=json_digest(work.identity), job=folder.digest, folder=str(folder.parts))
        run = _Run(shards, done, began=began, progress=progress, problems=problems or Problems())
        if remaining:
            with engine.started(order, work, sources) as started:
                run.do(started, remaining)
        report = run.report()
        folder.finish(report.counts)
    return report


def _require_outside(output: Path, inputs: Iterable[str | Path]) -> None:
    """Check that the output is in no input folder, where the next run would take its parts for input.

    Raises:
        OutputError: it is.
    """
    places = {output.resolve(), *output.resolve().parents}
    if inside := [given for given in inputs if Path(given).resolve() in places]:
        raise OutputError(f"is in the input {inside[0]}: choose a place outside", path=output)


class _Run:
    """One run of a job: what is done so far."""

    def __init__(
        self,
        shards: list[Shard],
        done: Mapping[int, Counts],
        *,
        began: float,
        progress: bool,
        problems: Problems,
    ) -> None:
        self._shards = shards
        self._before = dict(done)
        self._reports: dict[int, ShardReport] = {}
        self._progress = progress
        self._problems = problems
        self._began = began
        self._started = self._ended = began

    def do(self, workers: Workers, shards: list[Shard]) -> None:
        """Do shards; those whose workers died are begun again.

        Raises:
            NymlinkError: a shard cannot be done.
        """
        rows = sum(shard.rows for shard in self._shards)
        done = rows - sum(shard.rows for shard in shards)
        truncation, unknown_scripts = TruncationCounts(), UnknownScripts()
        # For tqdm ``None`` means: disabled unless standard error is a terminal.
        bar = tqdm(
            total=rows,
            initial=done,
            desc="rows",
            unit=" rows",
            disable=None if self._progress else True,
            leave=False,
        )
        with bar, truncation.collected(), unknown_scripts.collected():
            for _ in range(_TRIES):
                for report in workers.do(shards):
                    self._take(report)
                    bar.update(self._shards[report.shard].rows)
                shards = [shard for shard in shards if shard.number not in self._reports]
                if not shards:
                    break
        truncation.warn(stacklevel=1)
        unknown_scripts.warn(stacklevel=1)
        if shards:
            raise NymlinkError(
                f"the worker of shard {shards[0].number:,} ({shards[0].source.name}, row {shards[0].line:,}) "
                f"ended early {_TRIES} times, which too little memory does, or a row that ends its "
                "process: give fewer --workers, or look at these rows. What is done is kept; the same command "
                "goes on"
            )

    def report(self) -> JobReport:
        """Report what all runs have done, and how fast the workers of this one were."""
        counts = Counts.sum([*self._before.values(), *(each.counts for each in self._reports.values())])
        return JobReport(
            counts,
            len(self._shards),
            done_before=len(self._before),
            seconds=time.perf_counter() - self._began,
            start_seconds=self._started - self._began,
            work_seconds=self._ended - self._started,
            workers=worker_reports(self._reports.values()),
        )

    def _take(self, report: ShardReport) -> None:
        """Take the report of a shard.

        Raises:
            NymlinkError: it could not be done.
        """
        if report.failure is not None:
            place = f"on {report.worker.partition(':')[0]}"
            raise NymlinkError(
                f"{place}: {report.failure}. What is done is kept: the same command goes on once that is put right"
            )
        self._ended = time.perf_counter()
        if not self._reports:
            self._started = self._ended - report.seconds
        self._reports[report.shard] = report
        for rejection in report.rejections:
            if rejection.kept:
                self._problems.repair(rejection.source, rejection.row, rejection.message)
            else:
                self._problems.reject(rejection.source, rejection.row, rejection.message, outcome="not used")
        for counts in report.warnings:
            counts.warn(stacklevel=1)
