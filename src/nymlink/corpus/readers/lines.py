"""Plain text, one mention a line and no gold: whatever no other format claims."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from nymlink.core.files import read_lines
from nymlink.core.formats import Format
from nymlink.core.problems import Problems
from nymlink.corpus.model import Document, Mention
from nymlink.corpus.options import CorpusOptions
from nymlink.corpus.readers import CorpusFormat
from nymlink.corpus.readers.common import first_lines, some_documents, source_name


def _recognises(_: Path, head: str) -> bool:
    return bool(first_lines(head))


def _read(path: Path, *, options: CorpusOptions, problems: Problems) -> Iterator[Document]:  # noqa: ARG001
    return some_documents(_documents(path, problems), path=path, problems=problems)


def _documents(path: Path, problems: Problems) -> Iterator[Document]:
    name = source_name(path)
    for number, line in read_lines(path, problems):
        if "\0" in line:
            problems.reject(path, number, "holds a NUL character: this is not text")
        elif line.strip():
            # A document of its own for each, so that its id says on which line it stands.
            yield Document(f"{name}:{number}", mentions=(Mention(line.strip()),))


FORMAT: Final[CorpusFormat] = Format(
    name="lines",
    description="plain text, one mention a line, no gold ids",
    recognises=_recognises,
    read=_read,
    priority=1000,
)
