"""Readers of corpora, in a registry of formats. The content of a file decides which reader is used.

A format is a :class:`~nymlink.core.registry.Format` under an entry point in the group ``nymlink.corpus_readers``.
Bad input never stops a reader: input that cannot be used is reported with its line number and left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final, Protocol

from nymlink.core.problems import Problems
from nymlink.core.registry import Format, Registry
from nymlink.corpus.documents import Document
from nymlink.corpus.readers.common import CorpusOptions


class ReadCorpus(Protocol):
    """A function that yields the documents of a source one by one.

    It raises :class:`~nymlink.core.errors.InputError` if nothing in the source can be used.
    """

    def __call__(self, path: Path, *, options: CorpusOptions, problems: Problems) -> Iterator[Document]: ...


CorpusFormat = Format[ReadCorpus]

CORPUS_FORMATS: Final[Registry[CorpusFormat]] = Registry("nymlink.corpus_readers", noun="corpus format")
