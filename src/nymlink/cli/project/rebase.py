"""`nymlink project rebase`: apply decisions to another release of a vocabulary."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from nymlink.cli.project.common import link_terms, open_index, project_argument
from nymlink.project.project import Project
from nymlink.project.rebase import count_changes
from nymlink.project.rebase import rebase as rebase_project

_SAID: Final = {
    "gone": "with a concept that is gone: flagged",
    "obsolete": "with a concept that is obsolete, which several or none replace: flagged",
    "replaced": "with a concept that another one replaces: given that",
    "renamed": "with a concept that has another preferred name",
    "better": "with a better candidate than there was",
}


@click.command()
@project_argument
@click.option("--index", type=click.Path(path_type=Path), help="The other index; without it the embedded default.")
def rebase(file: Path, index: Path | None) -> None:
    """Apply the decisions of the project FILE to another release of its vocabulary, and link its terms to that.

    Says what changed for terms that were decided; the page lists these terms.

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
