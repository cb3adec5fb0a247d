"""`nymlink project import`: read decisions from a file."""

from __future__ import annotations

from pathlib import Path

import click

from nymlink.cli.project.common import finish_with, index_of, index_option, project_argument, reviewer_option
from nymlink.core.files import open_buffered
from nymlink.project.importing.apply import import_decisions
from nymlink.project.project import Project


@click.command("import")
@project_argument
@click.argument("decisions", type=click.Path(path_type=Path), metavar="DECISIONS")
@reviewer_option("Who decided, where the file does not say.")
@index_option("Where the index of the project is now, if it was moved.")
def import_(file: Path, decisions: Path, reviewer: str, index: Path | None) -> None:
    """Apply what DECISIONS says of equal terms to the project FILE.

    DECISIONS is another project, a table or JSON lines that `nymlink project export` wrote, a review of Usagi, or
    SSSOM. What a reviewer decided later stays; the same file twice is as once.

    \b
    nymlink project import review.nymlink last-year.nymlink
    """
    with open_buffered(decisions) as stream:
        raw = stream.read()
    with Project(file) as project:
        vocabulary = index_of(project, index).vocabulary
        found = import_decisions(project, raw, decisions.name, vocabulary=vocabulary, reviewer=reviewer)
    click.echo(
        f"{found['stated']:,} decisions, {found['new']:,} of them new; {found['unknown_terms']:,} of terms that "
        "the project does not have",
        err=True,
    )
    if found["unknown_concepts"]:
        first = ", ".join(found["unknown_concepts"][:5])
        click.echo(f"{len(found['unknown_concepts']):,} concepts are not in the index (kept): {first}", err=True)
    finish_with(found["problems"])
