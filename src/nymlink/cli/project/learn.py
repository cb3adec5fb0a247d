"""`nymlink project learn`: learn from what was decided."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from nymlink.cli.common import require_files
from nymlink.cli.project.common import index_of, index_option, link_terms, project_argument
from nymlink.project.learning.learn import forget as forget_learned
from nymlink.project.learning.learn import learn as learn_terms
from nymlink.project.learning.names_table import write_names
from nymlink.project.project import Project


@click.command()
@project_argument
@click.option("--forget", is_flag=True, help="Forget what was learned; decisions stay.")
@click.option(
    "--save-names", "names", type=click.Path(path_type=Path), help="Table of the decided terms to write, too."
)
@index_option("Where the index of the project is now, if it was moved.")
def learn(file: Path, forget: bool, names: Path | None, index: Path | None) -> None:
    """Learn from what was decided in the project FILE, and link its other terms again.

    Decided terms become names of their concepts, so that terms like them are found; the order of candidates and
    the confidences change where that proves better on decided terms that they did not learn from. All is kept in
    FILE, and counts for tables that are added later; the index stays as it is.

    The table of --save-names is a vocabulary of its own: build it together with the vocabulary, and any index has
    these names.

    \b
    nymlink project learn review.nymlink
    nymlink project learn review.nymlink --save-names reviewed.tsv
    nymlink vocab build mondo.obo reviewed.tsv -o reviewed
    nymlink index build reviewed -o reviewed-index
    """
    if forget and names is not None:
        raise click.UsageError("--save-names writes what was decided, and --forget forgets it: give one of them")
    require_files([names], [file])
    with Project(file) as project:
        opened = index_of(project, index)
        if names is not None:
            click.echo(f"{names}: {write_names(project, names):,} names", err=True)
        if forget:
            click.echo("what was learned is forgotten" if forget_learned(project) else "nothing was learned")
        else:
            _echo(learn_terms(project, opened).report)
        link_terms(project, opened)


def _echo(report: Mapping[str, Any]) -> None:
    click.echo(
        f"{report['terms']:,} decided terms: {report['names']:,} names of concepts, {report['nil']:,} of none "
        f"({report['seconds']:.1f} s)"
    )
    for part, what, measure in (
        ("ranker", "order of candidates", "share of first candidates right"),
        ("confidence", "confidences", "loss"),
    ):
        proof = report[part]
        if proof is None:
            said = f"too little to learn from: {report['looked_at']:,} terms that somebody looked at"
        elif proof["taken"]:
            said = f"learned; {measure} {proof['before']:.3f} → {proof['after']:.3f} on terms left out"
        else:
            said = f"as before, as nothing better was found; {measure} {proof['before']:.3f} on terms left out"
        click.echo(f"{what}: {said}")
