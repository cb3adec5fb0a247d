"""Registry of vocabulary formats, recognised by content; a format is a file, a family of formats a folder.

A format is a :class:`~nymlink.core.registry.Format` under an entry point of ``nymlink.vocabulary_readers``.
Bad input never costs good input: input that cannot be used is reported with its line number and left out.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, Protocol

from nymlink.core.problems import Problems
from nymlink.core.registry import Format, Registry
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.tables import Tables


class ReadVocabulary(Protocol):
    """Read one source. Raises :class:`~nymlink.core.errors.InputError` if nothing in it can be used."""

    def __call__(self, path: Path, *, options: ReadOptions, problems: Problems) -> Tables: ...


VocabularyFormat = Format[ReadVocabulary]

VOCABULARY_FORMATS: Final[Registry[VocabularyFormat]] = Registry(
    "nymlink.vocabulary_readers", noun="vocabulary format"
)
