"""`nymlink project status`: show how far a review is."""

from __future__ import annotations

from pathlib import Path

import click

from nymlink.cli.project.common import project_argument
from nymlink.project.index_reference import DEFAULT
from nymlink.project.project import Project
from nymlink.project.summary import summary


@click.command()
@project_argument
def status(file: Path) -> None:
    """Show how far the review of the project FILE is: also while a server has it.

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
    for reviewer in found["reviewers"]:
        click.echo(
            f"reviewer    {reviewer['name']}: {reviewer['decided']:,} decided, {reviewer['assigned']:,} assigned"
        )
    for pair in found["agreement"]:
        kappa = "not defined" if pair["kappa"] is None else f"{pair['kappa']:.3f}"
        names = " and ".join(pair["reviewers"])
        click.echo(f"agreement   {names}: {pair['agree']:,} of {pair['terms']:,} terms, kappa {kappa}")
    if found["changed"]:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in found["changed"].items())
        click.echo(f"changed     by the last release: {kinds}")
