"""`nymlink project link`: go on linking the terms of a project."""

from __future__ import annotations

from pathlib import Path

import click

from nymlink.cli.project.common import index_of, index_option, link_terms, project_argument
from nymlink.project.project import Project


@click.command()
@project_argument
@index_option("Where the index of the project is now, if it was moved.")
def link(file: Path, index: Path | None) -> None:
    """Link the terms of the project FILE that wait: after a run that was stopped.

    \b
    nymlink project link review.nymlink
    """
    with Project(file) as project:
        link_terms(project, index_of(project, index))
