"""Export a project: its tables with what was decided, or the mappings of its terms."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import BinaryIO, Final, TextIO

from nymlink.core.errors import InputError
from nymlink.linking.writers import LINK_FORMATS
from nymlink.linking.writers.files import open_target, open_writer
from nymlink.linking.writers.writer import LinksInfo
from nymlink.project.export.kept_mappings import KEPT, write_with_kept
from nymlink.project.export.reviewed_links import reviewed_terms
from nymlink.project.export.rows import ProjectTable, link_of_row
from nymlink.project.links import CANDIDATES
from nymlink.project.project import Project
from nymlink.vocabulary.vocabulary import Vocabulary

SUGGESTING: Final = frozenset({"usagi"})
"""Formats that have a place for further candidates of terms that nobody decided; others have the first."""


def export_formats() -> tuple[str, ...]:
    """List the formats that a project can be written in: all that need no documents."""
    return tuple(name for name, format in LINK_FORMATS if not format.needs)


def export_project(
    project: Project,
    target: Path | TextIO | BinaryIO,
    *,
    format: str,
    vocabulary: Vocabulary | None = None,
    decided: bool = False,
) -> None:
    """Write all rows of a project with what was decided of their terms, and what was linked of the others.

    Of each term the last decision of any reviewer counts. Rows that were read from a file of the same format of
    mappings (Usagi, SSSOM) are written as they were, unless their term was decided since.

    Args:
        project: what is written.
        target: a file, which is replaced in one step, or a stream.
        format: name of a format, one of :func:`export_formats`.
        vocabulary: the concepts that it is linked to, of which formats of mappings name source and domains.
        decided: whether only terms are written that were given concepts, or none.

    Raises:
        InputError: the format needs documents, or other concepts (those of OMOP), or there is no row.
        OutputError: it cannot be written; nothing was changed.
    """
    if format not in export_formats():
        raise InputError(f"a project is written as {', '.join(export_formats())}, not as {format[:40]!r}")
    table = ProjectTable(project)
    rows = list(table.rows())
    # After the rows: somebody may be adding a table with further terms.
    terms = reviewed_terms(project, candidates=CANDIDATES if format in SUGGESTING else 1)
    if decided:
        rows = [row for row in rows if row.term is not None and terms[row.term].is_decided]
    info = LinksInfo(
        calibrated=any(term.link.confidence is not None for term in terms.values()),
        reviewed=True,
        table=table.layout if LINK_FORMATS.get(format).keeps_table else None,
        vocabulary=vocabulary,
        title=project.title,
    )
    opened: AbstractContextManager[TextIO | BinaryIO | Path] = (
        open_target(target, format) if isinstance(target, Path) else nullcontext(target)
    )
    with opened as out:
        if format in KEPT:
            write_with_kept(project, format, out, info, rows, terms)  # type: ignore[arg-type]
            return
        writer = open_writer(format, out, info)
        for row in rows:
            writer.write(link_of_row(row, terms), None if info.table is None else row.record)
        writer.close()
