"""Write the decided terms of a project as a vocabulary table of their own."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TextIO

from nymlink.linking.writers.files import open_file
from nymlink.project.learning.lessons import lessons
from nymlink.project.learning.overlay import Overlay
from nymlink.project.project import Project
from nymlink.vocabulary.readers.columns.name_rows import ROWS


def write_names(project: Project, target: Path | TextIO) -> int:
    """Write what was decided as a table of names in the format ``shared-table``.

    It is read by whatever reads vocabularies: with the vocabulary itself it makes one that has these names.

    Args:
        project: what was decided in it, whether learned from or not.
        target: the table, which is replaced in one step, or a stream.

    Returns:
        The number of names.

    Raises:
        OutputError: it cannot be written.
    """
    names = [each for each in Overlay.of(lessons(project)).decided if each.concept_id]
    opened: AbstractContextManager[TextIO] = open_file(target) if isinstance(target, Path) else nullcontext(target)
    with opened as out:
        out.write("\t".join(ROWS.names) + "\n")
        for each in names:
            out.write("\t".join((each.concept_id, each.text, each.lang, each.kind, "", "")) + "\n")
    return len(names)
