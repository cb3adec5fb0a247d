"""`nymlink project new`: make a project file."""

from __future__ import annotations

from pathlib import Path

import click

from nymlink.cli.project.common import index_option, open_index, project_argument
from nymlink.project.project import Project


@click.command()
@project_argument
@index_option("The index that terms are linked to; without it the embedded default.")
@click.option("--title", default="", help="What the project is called; without it as its file.")
def new(file: Path, index: Path | None, title: str) -> None:
    """Make the project file FILE, for the review of tables against an index.

    It is one SQLite file, which can be copied, sent and kept. `nymlink serve --projects FOLDER` shows those that
    are in a folder and end in .nymlink.

    \b
    nymlink project new visits.nymlink --index mondo-index --title "Visits of 2025"
    """
    reference, _ = open_index(index)
    with Project.create(file, index=reference, title=title) as made:
        click.echo(f"{made.path}: a project of {reference.name} ({reference.sources})", err=True)
