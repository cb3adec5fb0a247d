"""The options that all bulk jobs have, and running one."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, Final

import click

from nymlink.bulk.job import SHARD_ROWS, run_job
from nymlink.bulk.job_folder import PARTS
from nymlink.bulk.report import JobReport
from nymlink.bulk.rows.sources import ROW_FORMATS
from nymlink.bulk.tasks.task import Task
from nymlink.cli.common import input_format_option, map_column_option, mapping, reported_problems

_OPTIONS: Final = (
    click.argument("inputs", nargs=-1, required=True, metavar="INPUT...", type=click.Path(path_type=Path)),
    click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="Folder to write."),
    click.option(
        "--column",
        metavar="COLUMN",
        help="The column of tables with the mention, the text or the name; without it the one called mention, "
        "text or name.",
    ),
    map_column_option("id=note_id (also language=)", "Of tables"),
    input_format_option("the INPUT", tuple(ROW_FORMATS)),
    click.option(
        "--workers",
        type=click.IntRange(min=0),
        help="Processes that work, each on one core; one a core if not given. 0: none but this one, without Ray.",
    ),
    click.option(
        "--address",
        metavar="ADDRESS",
        help="The Ray cluster to work on, as Ray is told it: auto for the one that this machine is of. Without it "
        "this machine alone.",
    ),
    click.option(
        "--gpus",
        default=0.0,
        show_default=True,
        type=click.FloatRange(min=0),
        help="Share of a GPU that each worker has: 1, or 0.5 for two workers on each.",
    ),
    click.option(
        "--shard-rows",
        default=SHARD_ROWS,
        show_default=True,
        type=click.IntRange(min=1),
        help="Rows of a part: what is lost with a worker that dies.",
    ),
    click.option("--restart", is_flag=True, help="Replace a job in the output folder."),
)


def job_options(command: Callable[..., Task]) -> Callable[..., None]:
    """Make a command that makes a task of its own options one that runs a job."""

    @wraps(command)
    def run(
        *,
        inputs: tuple[Path, ...],
        output: Path,
        column: str | None,
        mapped_columns: tuple[str, ...],
        input_format: str | None,
        workers: int | None,
        address: str | None,
        gpus: float,
        shard_rows: int,
        restart: bool,
        **own: Any,
    ) -> None:
        if workers == 0 and (address is not None or gpus):
            raise click.UsageError("--workers 0 works in this process: it goes with neither --address nor --gpus")
        task = command(**own)
        report = run_job(
            inputs,
            output,
            task,
            workers=workers,
            address=address,
            gpus=gpus,
            column=column,
            further=mapping(mapped_columns),
            format=input_format,
            shard_rows=shard_rows,
            restart=restart,
            progress=True,
            problems=reported_problems(),
        )
        click.echo(describe(report, task.unit, output))
        if report.counts.rejected:
            click.get_current_context().exit(1)

    decorated: Callable[..., None] = run
    for decorate in reversed(_OPTIONS):
        decorated = decorate(decorated)
    return decorated


def describe(report: JobReport, unit: str, output: Path) -> str:
    """Write the report of a job in a few lines."""
    counts = report.counts
    lines = [
        f"{counts.rows:,} rows, {counts.rejected:,} of them rejected: {counts.mentions:,} {unit}, "
        f"{counts.nil:,} NIL → {output / PARTS}"
    ]
    if report.done_before:
        lines.append(f"{report.done_before:,} of {report.shards:,} shards were done before")
    if report.workers:
        workers = f"{len(report.workers)} worker{'s' * (len(report.workers) > 1)}"
        lines.append(
            f"{report.seconds:,.1f} s, {report.start_seconds:,.1f} s of them before the first shard; "
            f"{report.rate:,.0f} {unit}/s by {workers}:"
        )
    lines += [
        f"  {worker.worker}  {worker.counts.rows:,} rows  {worker.rate:,.0f} {unit}/s  {worker.memory >> 20:,} MB"
        for worker in report.workers
    ]
    return "\n".join(lines)


def absolute(path: Path) -> str:
    """Write a path as every process finds it, wherever it was started."""
    return str(path.absolute())
