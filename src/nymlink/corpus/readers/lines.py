"""Reader of plain text, one mention per line, without gold ids: for text that no other format recognises.

Text that looks like another format (XML, JSON, standoff annotations, an ontology …) is read only where the caller
names this one.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from nymlink.core.files import read_lines
from nymlink.core.formats import Format
from nymlink.core.problems import Problems
from nymlink.corpus.foreign_formats import describe_format
from nymlink.corpus.model import Document, Mention
from nymlink.corpus.options import CorpusOptions
from nymlink.corpus.readers import CorpusFormat
from nymlink.corpus.readers.common import first_lines, require_documents, source_name


def _recognises(_: Path, head: str) -> bool:
    return bool(first_lines(head)) and describe_format(head) is None


def _read(path: Path, *, options: CorpusOptions, problems: Problems) -> Iterator[Document]:  # noqa: ARG001
    return require_documents(_documents(path, problems), path=path, problems=problems)


def _documents(path: Path, problems: Problems) -> Iterator[Document]:
    name = source_name(path)
    for number, line in read_lines(path, problems):
        if "\0" in line:
            problems.reject(path, number, "contains a NUL character: this is not text")
        elif line.strip():
            # One document per mention, so that its id gives the line.
            yield Document(f"{name}:{number}", mentions=(Mention(line.strip()),))


FORMAT: Final[CorpusFormat] = Format(
    name="lines",
    description="plain text, one mention a line, no gold ids",
    recognises=_recognises,
    read=_read,
    priority=1000,
)
