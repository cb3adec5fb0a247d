"""Commands over millions of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import wraps
from pathlib import Path
from typing import Any, Final, Literal, get_args

import click

from nymlink.bulk.job import SHARD_ROWS, run_job
from nymlink.bulk.report import JobReport
from nymlink.bulk.row_formats import ROW_FORMATS
from nymlink.bulk.tasks import AnnotateTask, EncodeTask, LinkTask, Task
from nymlink.cli.annotate import ChosenSettings, annotator_options
from nymlink.cli.common import (
    input_format_option,
    map_column_option,
    mapping,
    read_settings,
    reported_problems,
    require_share,
    restriction_options,
    settings_option,
    top_k_option,
    with_options,
)
from nymlink.cli.lazy import LazyCommands
from nymlink.cli.option_groups import GroupedCommand
from nymlink.core.toml_settings import make_settings
from nymlink.encode.backend import Precision
from nymlink.encode.model.folder import MINI
from nymlink.jobs.job_folder import PARTS
from nymlink.vocabulary.restriction import Restriction

bulk = LazyCommands(
    "bulk",
    help="""Link, annotate or encode millions of rows on all cores, or on a Ray cluster.

    INPUT is a file of Parquet, XLSX, JSON lines, delimited text with a header (CSV, TSV) or PubTator, plain or
    gzipped, or a folder of such files. nymlink cuts it into shards. Workers process the shards, and write a part
    of Parquet for each. If a row cannot be used, the column "error" says why.

    The same command continues a job that was killed, and a job whose input has new files, or new rows at the end
    of a file of text. It processes only the shards that are new or not finished. The output is, to the byte, that
    of one run over the whole input.

    \b
    On this machine, and on the Ray cluster of this machine:
      nymlink bulk annotate abstracts.jsonl --index hpo-index -o annotated
      nymlink bulk annotate abstracts.jsonl --index hpo-index -o annotated --address auto

    The output is read as one table: pandas.read_parquet("annotated/parts").
    """,
    commands={
        "link": "nymlink.cli.bulk:link",
        "annotate": "nymlink.cli.bulk:annotate",
        "encode": "nymlink.cli.bulk:encode",
    },
)


_OPTIONS: Final = (
    click.argument("inputs", nargs=-1, required=True, metavar="INPUT...", type=click.Path(path_type=Path)),
    click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="Folder to write."),
    click.option(
        "--column",
        metavar="COLUMN",
        help="Column of tables with mentions, texts or names; if not given, the one called mention, text or name.",
    ),
    map_column_option("id=note_id (also language=)", "Of tables"),
    input_format_option("the INPUT", tuple(ROW_FORMATS)),
    click.option(
        "--workers",
        type=click.IntRange(min=0),
        help="Processes of one core each; one per core if not given. 0: only this process.",
    ),
    click.option(
        "--address",
        metavar="ADDRESS",
        help="Ray cluster, in Ray's notation: auto for the cluster of this machine, local for a new Ray on this "
        "machine. If not given: processes of this machine, without Ray.",
    ),
    click.option(
        "--gpus",
        default=0.0,
        show_default=True,
        type=click.FloatRange(min=0),
        help="Share of a GPU per worker: 1, or 0.5 for two workers per GPU. Needs --address.",
    ),
    click.option(
        "--shard-rows",
        default=SHARD_ROWS,
        show_default=True,
        type=click.IntRange(min=1),
        help="Rows per part; a dying worker loses at most one part.",
    ),
    click.option("--restart", is_flag=True, help="Replace a job in the output folder."),
)


def job_options(command: Callable[..., Task]) -> Callable[..., None]:
    """Turn a command that makes a task from its options into one that runs a job."""

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
        if workers == 0 and address is not None:
            raise click.UsageError("--workers 0 works in this process: it does not go with --address")
        if gpus and address is None:
            raise click.UsageError("--gpus is for workers on Ray: give --address, too (local for this machine)")
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

    return with_options(run, _OPTIONS)


def describe(report: JobReport, unit: str, output: Path) -> str:
    """Write the report of a job in a few lines."""
    counts = report.counts
    lines = [
        f"{counts.rows:,} rows, {counts.rejected:,} of them rejected: {counts.mentions:,} {unit}, "
        f"{counts.nil:,} NIL → {output / PARTS}"
    ]
    if report.new_rows:
        lines.append(f"{report.new_rows:,} new row{'s' * (report.new_rows > 1)}")
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


@dataclass(frozen=True, slots=True)
class LinkSettings:
    """What ``--settings`` of `nymlink bulk link` takes."""

    language: str | None = None
    target_precision: float | None = None
    composites: Literal["given", "always"] = "given"

    def __post_init__(self) -> None:
        require_share(self.target_precision)


@click.command(cls=GroupedCommand)
@click.option("--index", required=True, type=click.Path(path_type=Path), help="The index to link to.")
@restriction_options
@top_k_option
@settings_option("language, target_precision or composites, as of `nymlink link`")
@job_options
def link(index: Path, restriction: Restriction, top_k: int, settings: tuple[str, ...]) -> Task:
    """Link the mentions of many rows to concepts.

    A row of a table is a mention; a document of PubTator is linked with all its mentions. The links are those of
    `nymlink link`.

    \b
    nymlink bulk link table.csv --column diagnosis --index mondo-index -o links
    nymlink bulk link notes.PubTator.txt --index mondo-index -o more-links --workers 2
    """
    values, path = read_settings(settings)
    chosen = make_settings(LinkSettings, values, path=path)
    return LinkTask(index=absolute(index), top_k=top_k, restriction=restriction, **asdict(chosen))


@click.command(cls=GroupedCommand)
@click.option("--index", required=True, type=click.Path(path_type=Path), help="Index with the names.")
@annotator_options
@job_options
def annotate(index: Path, chosen: ChosenSettings) -> Task:
    """Find mentions of concepts in many texts, and link them.

    A row is a text. The links are those of `nymlink annotate`; with --detector given, the mentions of the
    documents are linked.

    \b
    nymlink bulk annotate abstracts.jsonl --index hpo-index -o annotated
    nymlink bulk annotate notes.PubTator.txt --index hpo-index -o more-annotated --workers 2
    """
    return AnnotateTask(index=absolute(index), settings=chosen.settings)


@click.command(cls=GroupedCommand)
@click.option(
    "--encoder",
    default=MINI,
    show_default=True,
    metavar="MODEL",
    help="An installed encoder, a folder, or the name of a model on the Hugging Face hub.",
)
@click.option(
    "--backend",
    help="Library for the model: onnx or torch; if not given, onnx if the model has files for it.",
)
@click.option("--precision", type=click.Choice(get_args(Precision)), help="Precision of matrix products.")
@click.option(
    "--device", help="Device of the encoder: cpu or cuda; if not given, torch uses a GPU if there is one."
)
@job_options
def encode(encoder: str, backend: str | None, precision: Precision | None, device: str | None) -> Task:
    """Encode many names as vectors of length 1, float32.

    A row of a table is a name. A name without any known word has a vector of zeros.

    \b
    nymlink bulk encode table.csv --column diagnosis -o vectors
    nymlink bulk encode table.csv --column diagnosis --encoder my-encoder -o more-vectors --workers 2
    """
    model = absolute(Path(encoder)) if Path(encoder).is_dir() else encoder
    return EncodeTask(encoder=model, backend=backend, precision=precision, device=device)
