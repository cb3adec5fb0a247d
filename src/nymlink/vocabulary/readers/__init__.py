"""Reading vocabularies: a registry of formats, each in a file of its own, chosen by content.

A reader is a :class:`VocabularyReader` under an entry point in the group ``nymlink.vocabulary_readers``. Reading
never loses good input to bad: what cannot be used is reported to :class:`~nymlink.problems.Problems` with its line
number and left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from nymlink.errors import InputError
from nymlink.files import read_head
from nymlink.problems import Problems
from nymlink.registry import Registry
from nymlink.vocabulary.options import ReadOptions
from nymlink.vocabulary.tables import Tables


class ReadFunction(Protocol):
    """Reads one source. Raises :class:`~nymlink.errors.InputError` when nothing in it can be used."""

    def __call__(self, path: Path, *, options: ReadOptions, problems: Problems) -> Tables: ...


@dataclass(frozen=True, slots=True)
class VocabularyReader:
    """One vocabulary format.

    Attributes:
        name: as given to ``--format``.
        description: one line for the help.
        recognises: whether a source looks like this format, from its path and the first bytes of its text
            (empty for a directory). The first reader in order of ``priority``, then name, that says yes is taken.
        read: reads it.
        priority: smaller is asked earlier; formats told by clear signs come before catch-alls.
    """

    name: str
    description: str
    recognises: Callable[[Path, str], bool]
    read: ReadFunction
    priority: int = 0


VOCABULARY_READERS: Final[Registry[VocabularyReader]] = Registry(
    "nymlink.vocabulary_readers", noun="vocabulary format"
)


def find_reader(path: Path, format: str | None = None) -> VocabularyReader:
    """The reader called ``format``, or the one that recognises the source.

    Raises:
        InputError: the source is missing or empty, or no reader recognises it.
        UnknownNameError: there is no format of that name.
    """
    if not path.exists():
        raise InputError("no such file or directory", path=path)
    if format is not None:
        return VOCABULARY_READERS.get(format)
    head = "" if path.is_dir() else read_head(path)
    if path.is_file() and not head.strip():
        raise InputError("the file is empty", path=path)
    readers = sorted((reader for _, reader in VOCABULARY_READERS), key=lambda reader: reader.priority)
    for reader in readers:
        if reader.recognises(path, head):
            return reader
    known = ", ".join(VOCABULARY_READERS.names())
    raise InputError(f"unknown vocabulary format: say which with --format (known: {known})", path=path)
