"""`nymlink project export`: write what was decided."""

from __future__ import annotations

from pathlib import Path

import click

from nymlink.cli.common import require_files
from nymlink.cli.project.common import index_of, project_argument
from nymlink.linking.writers.files import format_of, standard_output
from nymlink.project.errors import ReadOnlyError
from nymlink.project.export.export import export_formats, export_project
from nymlink.project.project import Project


@click.command()
@project_argument
@click.option(
    "--format",
    type=click.Choice(export_formats()),
    help="Format; without it by the ending of --output, else tsv.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="File to write; without it standard output.")
@click.option("--decided", is_flag=True, help="Only terms that were given concepts, or none.")
def export(file: Path, format: str | None, output: Path | None, decided: bool) -> None:
    """Write the tables of the project FILE with what was decided, or the mappings of its terms.

    Of each term the last decision of any reviewer counts; terms that nobody decided have the concept that they
    were linked to, without a decision. Rows of a review of Usagi or of SSSOM stay as they were, cell by cell,
    unless they were decided since.

    \b
    nymlink project export review.nymlink --decided -o visits.xlsx
    nymlink project export review.nymlink --format sssom
    """
    require_files([output], [file])
    name = format or ("tsv" if output is None else format_of(output))
    with Project(file, writes=False) as project:
        try:
            vocabulary = index_of(project).vocabulary
        except ReadOnlyError as error:
            vocabulary = None
            click.echo(f"Warning: {error}; what was decided is written as it was", err=True)
        target = standard_output(name) if output is None else output
        export_project(project, target, format=name, vocabulary=vocabulary, decided=decided)
