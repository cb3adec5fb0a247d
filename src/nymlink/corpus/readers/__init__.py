"""Reading corpora: a registry of formats, each in a file of its own, chosen by content.

A reader is a :class:`CorpusReader` under an entry point in the group ``nymlink.corpus_readers``. Reading never
loses good input to bad: what cannot be used is reported with its line number and left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from nymlink.corpus.model import Document
from nymlink.errors import InputError
from nymlink.files import read_head
from nymlink.problems import Problems
from nymlink.registry import Registry


class ReadFunction(Protocol):
    """Yields the documents of a source one by one; large inputs stream."""

    def __call__(self, path: Path, *, problems: Problems) -> Iterator[Document]: ...


@dataclass(frozen=True, slots=True)
class CorpusReader:
    """One corpus format.

    Attributes:
        name: as given to ``--format``.
        description: one line for the help.
        recognises: whether a source looks like this format, from its path and the first bytes of its text
            (empty for a directory).
        read: reads it.
        priority: smaller is asked earlier; formats told by clear signs come before catch-alls.
    """

    name: str
    description: str
    recognises: Callable[[Path, str], bool]
    read: ReadFunction
    priority: int = 0


CORPUS_READERS: Final[Registry[CorpusReader]] = Registry("nymlink.corpus_readers", noun="corpus format")


def find_reader(path: Path, format: str | None = None) -> CorpusReader:
    """The reader called ``format``, or the one that recognises the source.

    Raises:
        InputError: the source is missing or empty, or no reader recognises it.
        UnknownNameError: there is no format of that name.
    """
    if not path.exists():
        raise InputError("no such file or directory", path=path)
    if format is not None:
        return CORPUS_READERS.get(format)
    head = "" if path.is_dir() else read_head(path)
    if path.is_file() and not head.strip():
        raise InputError("the file is empty", path=path)
    for reader in sorted((reader for _, reader in CORPUS_READERS), key=lambda reader: reader.priority):
        if reader.recognises(path, head):
            return reader
    known = ", ".join(CORPUS_READERS.names())
    raise InputError(f"unknown corpus format: say which with --format (known: {known})", path=path)
