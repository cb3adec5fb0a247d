"""`nymlink project add`: add a table to a project, and link its terms."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from nymlink.cli.common import map_column_option, mapping
from nymlink.cli.project.common import (
    finish_with,
    index_of,
    index_option,
    link_terms,
    project_argument,
    reviewer_option,
)
from nymlink.core.files import open_buffered
from nymlink.project.add_file import add_table
from nymlink.project.project import Project

_ROLES: Final = ("code", "frequency", "language", "type")


@click.command()
@project_argument
@click.argument("table", type=click.Path(path_type=Path), metavar="TABLE")
@click.option("--column", help="Name or number of the column of terms; guessed if not given.")
@map_column_option("code=icd (also frequency=, language=, type=)")
@click.option("--encoding", help="Encoding of a text, for example windows-1252; found if not given.")
@click.option("--delimiter", help="tab, comma, semicolon, bar, or none for plain lines; found if not given.")
@index_option("Where the index of the project is now, if it was moved.")
@reviewer_option("Who decided, where a review of Usagi or SSSOM does not say.")
def add(
    file: Path,
    table: Path,
    column: str | None,
    mapped_columns: tuple[str, ...],
    encoding: str | None,
    delimiter: str | None,
    index: Path | None,
    reviewer: str,
) -> None:
    """Add TABLE to the project FILE, and link its terms.

    A table is CSV, TSV, a workbook, Parquet, JSON lines, plain lines, a review of Usagi, or SSSOM. Equal terms are
    one; those that were decided before are decided in this table too. The decisions of Usagi and SSSOM come with
    them. A run that was stopped goes on with `nymlink project link`.

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
            vocabulary=opened.vocabulary,
        )
        click.echo(
            f"{added['rows']:,} rows, {added['terms']:,} terms: {added['new_terms']:,} new, "
            f"{added['decided']:,} decided before",
            err=True,
        )
        if "decisions" in added:
            click.echo(f"{added['decisions']['new']:,} decisions of the table were taken over", err=True)
        link_terms(project, opened)
    finish_with(added["problems"])
