"""Run a job: cut rows into shards, and give them to workers."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from tqdm import tqdm

from nymlink.bulk.report import Counts, JobReport, ShardReport, worker_reports
from nymlink.bulk.sources import cut_sources, open_sources
from nymlink.bulk.tasks import Task
from nymlink.bulk.worker import Worker, WorkOrder
from nymlink.core.environment import usable_cores
from nymlink.core.errors import InputError, NymlinkError, OutputError
from nymlink.core.json_files import member
from nymlink.core.problems import Problems
from nymlink.core.store.digests import json_digest
from nymlink.core.terminal import no_bar
from nymlink.encode.batches import TruncationCounts
from nymlink.jobs.engine import Engine, InProcess, WorkerEndedError
from nymlink.jobs.job_folder import JobFolder, Part
from nymlink.jobs.processes import Processes
from nymlink.jobs.ray_engine import RayEngine
from nymlink.linking.inputs import UnknownScripts
from nymlink.tables.shards import Shard, shard_bytes

SHARD_ROWS: Final = 5000
"""Rows per shard: some ten seconds of work, lost if a worker dies."""

KIND: Final = "bulk job"


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
    """Process every row of many files, or continue a job that was killed or whose input has grown.

    The parts are the same to the byte for any number of workers and any number of kills, on machines of one kind.
    In a script, call this under ``if __name__ == "__main__":``, because each worker process imports the script.

    Args:
        inputs: files of rows (Parquet, JSON lines, delimited text, PubTator), and folders of such files.
        output: the folder to write.
        task: what to do.
        workers: number of processes, of one core each; 0: only this process; ``None``: one per core, or one per
            share of a GPU.
        address: of a Ray cluster, in Ray's notation: ``"auto"`` for the cluster of this machine, ``"local"`` for a
            new Ray on this machine; ``None``: processes of this machine, without Ray.
        gpus: the share of a GPU per worker; needs an address.
        column: the column of tables with mentions, names or texts; ``None`` for the default of the task.
        further: the columns of tables with ``id`` and ``language``.
        format: of all files; ``None``: recognised by the content of each.
        shard_rows: rows per part.
        restart: replace a job in the output folder instead of continuing it.
        progress: whether to show progress when standard error is a terminal.
        problems: receives the first unusable rows, at most 20 per part.

    Raises:
        InputError: the input cannot be used, the output folder holds another job or one with rows that are no
            longer in the input, there is no such cluster, or a machine lacks what the job needs.
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
    engine = _engine(workers, address, gpus)
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
    }
    folder = JobFolder(Path(output).absolute(), KIND, ".parquet", described, replace="--restart to replace it")
    with folder.opened(restart=restart) as found:
        finished = folder.manifest
        rows_before = None if finished is None else Counts.of(finished).rows
        kept = _kept(folder, shards, found)
        parts = {new: found[former] for former, new in kept.items()}
        run = _Run(
            folder, shards, parts, rows_before, began=began, progress=progress, problems=problems or Problems()
        )
        moved = {former: new for former, new in kept.items() if former != new}
        if finished is not None and not run.remaining and not moved:
            return run.report()
        if finished is not None or moved:
            folder.keep(parts, moved)
        if run.remaining:
            order = WorkOrder(task=task, work=json_digest(work.identity), folder=folder)
            needs = [*task.folders, *(source.path for source in sources), str(folder.parts)]
            run.do(engine, order, Worker(order, work), needs)
        run.finish()
    return run.report()


def _engine(workers: int | None, address: str | None, gpus: float) -> Engine:
    if address is not None:
        return RayEngine(workers=workers, address=address, gpus=gpus)
    if gpus:
        raise InputError("shares of a GPU are given out by Ray: give an address, too (local for this machine)")
    if workers is not None and workers < 0:
        raise InputError(f"the number of workers is 0 or more, not {workers}")
    return InProcess() if workers == 0 else Processes(workers or usable_cores())


def _kept(folder: JobFolder, shards: Iterable[Shard], found: Mapping[int, Part]) -> dict[int, int]:
    """Return which parts are of the present input: former number → present number of the shard.

    The input may have grown since: by new files, or by rows at the end of a file of text. The last shard of a
    longer file is another one, and is done again.

    Raises:
        InputError: the input had rows that it does not have any more.
    """
    numbers = {json_digest(shard.to_dict()): shard.number for shard in shards}
    by_place = {(shard.source.name, shard.start): shard for shard in shards}
    kept = {}
    for former, part in found.items():
        try:
            Counts.of(part.facts)
            described = member(part.facts, "shard", dict)
            place = member(described, "source", str), member(described, "start", int)
        except ValueError:
            continue
        if (number := numbers.get(json_digest(described))) is not None:
            kept[former] = number
        elif not _is_longer(by_place.get(place), described):
            raise folder.another(f"input ({place[0]}, row {described.get('line')})")
    return kept


def _is_longer(shard: Shard | None, former: Mapping[str, Any]) -> bool:
    """Whether a shard of text begins with all rows of a former shard."""
    if shard is None:
        return False
    try:
        stop, digest = member(former, "stop", int), member(former, "digest", str)
        shorter = replace(shard, stop=stop, rows=member(former, "rows", int), digest=digest)
        if shorter.to_dict() != former or stop >= shard.stop:
            return False
        shard_bytes(shorter)
    except (ValueError, InputError):
        return False
    return True


def _require_outside(output: Path, inputs: Iterable[str | Path]) -> None:
    """Check that the output is in no input folder: the next run would read its parts as input.

    Raises:
        OutputError: it is in an input folder.
    """
    places = {output.resolve(), *output.resolve().parents}
    if inside := [given for given in inputs if Path(given).resolve() in places]:
        raise OutputError(f"is in the input {inside[0]}: choose a place outside", path=output)


class _Run:
    """One run of a job, with its progress."""

    def __init__(
        self,
        folder: JobFolder,
        shards: list[Shard],
        done: Mapping[int, Part],
        rows_before: int | None,
        *,
        began: float,
        progress: bool,
        problems: Problems,
    ) -> None:
        self._folder = folder
        self._shards = shards
        self._before = done
        self._rows_before = rows_before
        self._reports: dict[int, ShardReport] = {}
        self._progress = progress
        self._problems = problems
        self._began = began
        self._started = self._ended = began

    @property
    def remaining(self) -> list[Shard]:
        """Shards to do."""
        return [shard for shard in self._shards if shard.number not in self._before.keys() | self._reports.keys()]

    def do(self, engine: Engine, order: WorkOrder, own: Worker, needs: Sequence[str]) -> None:
        """Start workers, and do the remaining shards.

        Raises:
            InputError: the engine cannot be started, or a machine lacks what the job needs.
            NymlinkError: a shard cannot be done.
        """
        rows, shards = sum(shard.rows for shard in self._shards), self.remaining
        truncation, unknown_scripts = TruncationCounts(), UnknownScripts()
        bar = tqdm(
            total=rows,
            initial=rows - sum(shard.rows for shard in shards),
            desc=engine.waits_for,
            unit=" rows",
            disable=no_bar(shown=self._progress),
            leave=False,
        )
        with bar, truncation.collected(), unknown_scripts.collected():
            try:
                with engine.started(order, own, needs) as workers:
                    bar.set_description("each worker opens what it needs")
                    for report in workers.do(shards):
                        self._take(report)
                        bar.set_description("rows", refresh=False)
                        bar.update(self._shards[report.shard].rows)
            except WorkerEndedError as error:
                shard = self._shards[error.shard]
                raise NymlinkError(
                    f"the worker of shard {shard.number:,} ({shard.source.name}, row {shard.line:,}) "
                    f"ended early {error.tries} times, which too little memory does, or a row that ends its "
                    "process: give fewer --workers, or look at these rows. What is done is kept; the same command "
                    "goes on"
                ) from error
        truncation.warn(stacklevel=1)
        unknown_scripts.warn(stacklevel=1)

    def finish(self) -> None:
        """Finish the folder.

        Raises:
            OutputError: it cannot be written.
        """
        done = {number: report.part for number, report in self._reports.items() if report.part is not None}
        self._folder.finish({**self._before, **done}, {"counts": self._counts.to_dict()})

    def report(self) -> JobReport:
        """Report the results of all runs, and the speed of the workers of this one."""
        before = self._rows_before
        new_rows = 0 if before is None else self._counts.rows - before
        if not self._reports:
            return JobReport(self._counts, len(self._shards), done_before=len(self._before), new_rows=new_rows)
        return JobReport(
            self._counts,
            len(self._shards),
            done_before=len(self._before),
            new_rows=new_rows,
            seconds=time.perf_counter() - self._began,
            start_seconds=self._started - self._began,
            work_seconds=self._ended - self._started,
            workers=worker_reports(self._reports.values()),
        )

    @property
    def _counts(self) -> Counts:
        return Counts.sum(
            [
                *(Counts.of(part.facts) for part in self._before.values()),
                *(each.counts for each in self._reports.values()),
            ]
        )

    def _take(self, report: ShardReport) -> None:
        """Record the report of a shard.

        Raises:
            NymlinkError: the shard could not be done.
        """
        if report.failure is not None or report.part is None:
            place = f"on {report.worker.partition(':')[0]}"
            raise NymlinkError(
                f"{place}: {report.failure}. What is done is kept: the same command goes on once that is put right"
            )
        self._folder.note(report.shard, report.part)
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
