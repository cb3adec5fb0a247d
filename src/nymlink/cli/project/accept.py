"""`nymlink project accept`: accept what is sure enough."""

from __future__ import annotations

from pathlib import Path

import click

from nymlink.cli.project.common import project_argument, reviewer_option
from nymlink.project.project import Project
from nymlink.project.review.accept import accept as accept_terms


@click.command()
@project_argument
@click.option("--above", required=True, type=click.FloatRange(0, 1), help="Confidence at least.")
@reviewer_option("Who decides.", required=True)
@click.option("--dry-run", is_flag=True, help="Only say what it would mean.")
def accept(file: Path, above: float, reviewer: str, dry_run: bool) -> None:
    """Give the terms of FILE that nobody has decided, and that are sure enough, their first candidates.

    One undo on the page takes all of them back.

    \b
    nymlink project accept review.nymlink --above 0.95 --reviewer Ann --dry-run
    """
    with Project(file, writes=not dry_run) as project:
        found = accept_terms(project, reviewer=reviewer, above=above, dry_run=dry_run)
    done = "would be accepted" if dry_run else "accepted"
    click.echo(
        f"{found['terms']:,} terms in {found['rows']:,} rows {done}; about {found['expected_wrong']:.0f} of them "
        "will be wrong, as far as confidences tell"
    )
