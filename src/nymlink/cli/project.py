"""Commands on the file of a review: make it, fill it, link it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import click
from tqdm import tqdm

from nymlink.cli.common import (
    finish,
    map_column_option,
    mapping,
    reported_problems,
    restriction_options,
)
from nymlink.cli.lazy import LazyCommands
from nymlink.cli.option_groups import GroupedCommand
from nymlink.core.errors import StoreError
from nymlink.core.files import open_buffered
from nymlink.core.terminal import no_bar, tell
from nymlink.index.index import Index
from nymlink.linking.default import default_index
from nymlink.project.add_file import add_table
from nymlink.project.index_reference import ADVICE, DEFAULT, IndexReference, vocabulary_digest
from nymlink.project.learned import Learned, LearnedLinker
from nymlink.project.links import count_progress, link_waiting
from nymlink.project.project import Project
from nymlink.project.rebase import count_changes
from nymlink.project.rebase import rebase as rebase_project
from nymlink.project.rows import ReadOnlyError
from nymlink.project.summary import summary
from nymlink.text.prepare import Composites
from nymlink.vocabulary.restriction import Restriction

project = LazyCommands(
    "project",
    help="""Review tables: keep what is decided of their terms in a project file.

    On the page of `nymlink serve` a project is made, reviewed and exported with the mouse or a few keys; these
    commands do what needs no eyes.
    """,
    commands={
        "new": "nymlink.cli.project:new",
        "add": "nymlink.cli.project:add",
        "link": "nymlink.cli.project:link",
        "status": "nymlink.cli.project:status",
        "next": "nymlink.cli.project_decisions:next_",
        "accept": "nymlink.cli.project_decisions:accept",
        "learn": "nymlink.cli.project_decisions:learn",
        "import": "nymlink.cli.project_decisions:import_",
        "export": "nymlink.cli.project_decisions:export",
        "rebase": "nymlink.cli.project:rebase",
        "reviewers": "nymlink.cli.project_decisions:reviewers",
        "split": "nymlink.cli.project_decisions:split",
        "report": "nymlink.cli.project_decisions:report",
        "concept": "nymlink.cli.project_decisions:concept",
        "concepts": "nymlink.cli.project_decisions:concepts",
    },
)


project_argument = click.argument("file", type=click.Path(path_type=Path), metavar="FILE")


def index_option(help: str) -> Callable[[Any], Any]:
    """Make the option ``--index PATH``."""
    return click.option("--index", type=click.Path(path_type=Path), help=help)


def reviewer_option(help: str, *, required: bool = False) -> Callable[[Any], Any]:
    """Make the option ``--reviewer NAME``."""
    if required:
        return click.option("--reviewer", metavar="NAME", required=True, help=help)
    return click.option("--reviewer", metavar="NAME", default="", help=help)


def open_index(path: Path | None) -> tuple[IndexReference, Index]:
    """Open an index, or the embedded default, and describe it.

    Raises:
        StoreError: it is missing or damaged.
    """
    if path is None:
        index = default_index(progress=True)
        return IndexReference(DEFAULT, "", vocabulary_digest(index.vocabulary), "hp"), index
    index = Index.load(path)
    return IndexReference.of(path.resolve().name, index), index


def index_of(project: Project, moved: Path | None = None) -> Index:
    """Open the index of a project.

    Args:
        project: the project.
        moved: the present place of the index; ``None`` for the recorded one.

    Raises:
        ReadOnlyError: it is gone, or has another vocabulary.
    """
    wanted = project.index
    path = moved or (Path(wanted.path) if wanted.path else None)
    if moved is None and wanted.name == DEFAULT and path is not None and not path.exists():
        # Another version of nymlink keeps the embedded default elsewhere.
        path = None
    try:
        _, index = open_index(path)
    except StoreError as error:
        raise ReadOnlyError(f"{ADVICE['gone']} ({error})", path=project.path) from error
    state = wanted.state(vocabulary_digest(index.vocabulary))
    if state != "same":
        raise ReadOnlyError(ADVICE[state], path=project.path)
    return index


def link_terms(project: Project, index: Index) -> None:
    """Link the terms of a project that wait, with progress on a terminal; Ctrl-C loses nothing that is linked."""
    linker = LearnedLinker(
        index, Learned.of(project), composites=project.composites, restriction=project.restriction
    )
    before = count_progress(project)
    bar = tqdm(total=before.total, initial=before.done, desc="linking", disable=no_bar(), leave=False)
    with bar:

        def report(done: int, _: float) -> None:
            bar.update(before.done + done - bar.n)

        link_waiting(project, linker.link, report=report)
    after = count_progress(project)
    failed = f", {after.failed:,} cannot be linked" if after.failed else ""
    tell(f"{after.done - before.done:,} terms linked{failed}")


def finish_with(problems: dict[str, Any]) -> None:
    """Print the first problems of a file, and exit with status 1 if something was rejected."""
    reported = reported_problems()
    for problem in problems["first"]:
        report = reported.reject if problem["rejected"] else reported.repair
        report(problem["path"], problem["line"], problem["message"])
    reported.rejected, reported.repaired = problems["rejected"], problems["repaired"]
    finish(reported)


@click.command(cls=GroupedCommand)
@project_argument
@index_option("The index that terms are linked to; without it the embedded default.")
@click.option("--title", default="", help="Title of the project; the name of the file if not given.")
def new(file: Path, index: Path | None, title: str) -> None:
    """Make the project file FILE, to review tables linked to an index.

    It is one SQLite file, to copy, send and keep. `nymlink serve --projects FOLDER` shows the project files of a
    folder with names in .nymlink.

    \b
    nymlink project new visits.nymlink --index mondo-index --title "Visits of 2025"
    """
    reference, _ = open_index(index)
    with Project.create(file, index=reference, title=title) as made:
        tell(f"{made.path}: a project of {reference.name} ({reference.sources})")


_ROLES: Final = ("code", "frequency", "language", "type")


@click.command(cls=GroupedCommand)
@project_argument
@click.argument("table", type=click.Path(path_type=Path), metavar="TABLE")
@click.option("--column", help="Name or number of the column of terms; guessed if not given.")
@map_column_option("code=icd (also frequency=, language=, type=)")
@click.option("--encoding", help="Encoding of a text, for example windows-1252; found if not given.")
@click.option("--delimiter", help="tab, comma, semicolon, bar, or none for plain lines; found if not given.")
@index_option("Where the index of the project is now, if it was moved.")
@restriction_options
@click.option(
    "--composites",
    type=click.Choice(("given", "always")),
    default="given",
    show_default=True,
    help="Mentions that are split, with a link for each part: those with given parts, or always those that "
    "list several findings, too: fever, no cough.",
)
@reviewer_option("Who decided, where a review of Usagi or SSSOM does not say.")
def add(
    file: Path,
    table: Path,
    column: str | None,
    mapped_columns: tuple[str, ...],
    encoding: str | None,
    delimiter: str | None,
    index: Path | None,
    restriction: Restriction,
    composites: Composites,
    reviewer: str,
) -> None:
    """Add TABLE to the project FILE, and link its terms.

    A table is CSV, TSV, a workbook, Parquet, JSON lines, plain lines, a review of Usagi, or SSSOM. Equal terms are
    one, and keep their earlier decisions. Decisions in Usagi and SSSOM files are imported. Mappings of SSSOM
    that nobody reviewed become first candidates. `nymlink project link` continues a stopped run.

    \b
    nymlink project add review.nymlink visits.csv --column finding --map-column language=lang
    """
    columns = mapping(mapped_columns)
    if others := sorted(columns.keys() - set(_ROLES)):
        raise click.UsageError(f"--map-column names the columns {', '.join(_ROLES)}, not {others[0]!r}")
    with open_buffered(table) as stream:
        raw = stream.read()
    with Project(file) as project:
        opened = index_of(project, index)
        added = add_table(
            project,
            raw,
            table.name,
            encoding=encoding,
            delimiter=delimiter,
            columns={**columns, **({} if column is None else {"mention": column})},
            by=reviewer,
            composites=composites,
            restriction=restriction,
            vocabulary=opened.vocabulary,
        )
        tell(
            f"{added['rows']:,} rows, {added['terms']:,} terms: {added['new_terms']:,} new, "
            f"{added['decided']:,} decided before"
        )
        if "decisions" in added:
            tell(f"{added['decisions']['new']:,} decisions of the table were taken over")
        link_terms(project, opened)
    finish_with(added["problems"])


@click.command(cls=GroupedCommand)
@project_argument
@index_option("New place of the project's index, after a move.")
def link(file: Path, index: Path | None) -> None:
    """Link the remaining terms of the project FILE, after a stopped run.

    \b
    nymlink project link review.nymlink
    """
    with Project(file) as project:
        link_terms(project, index_of(project, index))


@click.command(cls=GroupedCommand)
@project_argument
def status(file: Path) -> None:
    """Show the progress of the project FILE, even while a server has it open.

    \b
    nymlink project status review.nymlink
    """
    with Project(file, writes=False) as project:
        index, found = project.index, summary(project)
    verdicts, states, coverage = found["verdicts"], found["states"], found["coverage"]
    gone = "" if not index.path or Path(index.path).is_dir() else " (not there any more)"
    click.echo(f"title       {found['title']}")
    click.echo(f"index       {index.path or DEFAULT}{gone}, {index.sources}")
    for table in found["files"]:
        click.echo(f"table       {table['name']}, {table['rows']:,} rows")
    click.echo(f"terms       {found['terms']:,}, of them {states['waiting']:,} not linked yet")
    click.echo(
        f"decided     {verdicts['concept']:,} given concepts, {verdicts['nil']:,} none; {verdicts['flag']:,} "
        f"flagged, {verdicts['open']:,} open"
    )
    click.echo(
        f"coverage    {coverage['terms']:.1%} of terms, {coverage['rows']:.1%} of rows, "
        f"{coverage['frequency']:.1%} of occurrences"
    )
    echo_reviewers(found)
    if found["changed"]:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in found["changed"].items())
        click.echo(f"changed     by the last release: {kinds}")


def echo_reviewers(found: dict[str, Any]) -> None:
    """Print the reviewers in a summary, and their agreement."""
    for reviewer in found["reviewers"]:
        click.echo(
            f"reviewer    {reviewer['name']}: {reviewer['decided']:,} decided, {reviewer['assigned']:,} assigned"
        )
    for pair in found["agreement"]:
        kappa = "not defined" if pair["kappa"] is None else f"{pair['kappa']:.3f}"
        names = " and ".join(pair["reviewers"])
        click.echo(f"agreement   {names}: {pair['agree']:,} of {pair['terms']:,} terms, kappa {kappa}")


_SAID: Final = {
    "gone": "with a concept that is gone: flagged",
    "obsolete": "with a concept that is obsolete, which several or none replace: flagged",
    "replaced": "with a concept that another one replaces: given that",
    "renamed": "with a concept that has another preferred name",
    "better": "with a better candidate than there was",
}


@click.command(cls=GroupedCommand)
@project_argument
@click.option("--index", type=click.Path(path_type=Path), help="Other index; the embedded default if not given.")
def rebase(file: Path, index: Path | None) -> None:
    """Apply the decisions of the project FILE to another release of its vocabulary, and link its terms to that.

    Changes for decided terms are printed; the page lists these terms.

    \b
    nymlink project rebase review.nymlink --index mondo-index
    """
    with Project(file) as project:
        reference, opened = open_index(index)
        rebase_project(project, reference, opened.vocabulary)
        link_terms(project, opened)
        changed = count_changes(project)
    for kind, count in changed.items():
        if count:
            click.echo(f"{count:,} terms {_SAID[kind]}")
    if not any(changed.values()):
        click.echo("nothing changed for the terms that were decided")
