"""The annotated corpus of several commands, and further corpora of the same kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import click

from nymlink.cli.common import input_format_option, language_option, map_column_option, mapping, offsets_option
from nymlink.core.problems import Problems
from nymlink.core.registry import find_format
from nymlink.corpus.documents import Corpus
from nymlink.corpus.offsets import OffsetUnit
from nymlink.corpus.read import read_corpus
from nymlink.corpus.readers import CORPUS_FORMATS
from nymlink.corpus.readers.common import CorpusOptions
from nymlink.tables.foreign_formats import describe_format


@dataclass(frozen=True, slots=True)
class AnnotatedCorpus:
    """A corpus named on the command line.

    Attributes:
        path: file or folder.
        format: its format; ``None`` to recognise it by its content.
        columns: in a table, the headers of columns.
        types: types of the mentions that count; ``None`` for all.
        language: default language code of mentions; ``None`` if it is unknown.
        offsets: unit of its offsets.
    """

    path: Path
    format: str | None
    columns: Mapping[str, str]
    types: set[str] | None
    language: str | None
    offsets: OffsetUnit

    def read(self, problems: Problems) -> Corpus:
        """Read the corpus.

        Raises:
            InputError: it cannot be read.
        """
        options = CorpusOptions(columns=self.columns, offsets=self.offsets)
        return read_corpus(self.path, format=self.format, options=options, problems=problems)

    def read_other(self, path: Path, problems: Problems) -> Corpus:
        """Read another corpus, in a recognised format; tables with the same columns.

        Raises:
            InputError: it cannot be read.
        """
        otherwise = "table" if self.columns else None
        format = find_format(
            CORPUS_FORMATS, path, otherwise=otherwise, describe=lambda _, head: describe_format(head)
        )
        columns = self.columns if "columns" in format.options else {}
        options = CorpusOptions(columns=columns, offsets=self.offsets)
        return read_corpus(path, format=format.name, options=options, problems=problems)


def annotated_corpus(command: Callable[..., None]) -> Callable[..., None]:
    """Add the argument CORPUS and its options, given to the command as ``corpus``."""
    return click.argument("corpus", type=click.Path(path_type=Path), metavar="CORPUS")(corpus_options(command))


def corpus_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options for reading a corpus, and make the command's ``corpus`` an :class:`AnnotatedCorpus`."""

    @wraps(command)
    def with_corpus(
        *,
        corpus: Path,
        input_format: str | None,
        types: tuple[str, ...],
        mapped_columns: tuple[str, ...],
        language: str | None,
        offsets: OffsetUnit,
        **others: Any,
    ) -> None:
        columns = mapping(mapped_columns)
        command(
            corpus=AnnotatedCorpus(corpus, input_format, columns, set(types) or None, language, offsets), **others
        )

    decorated: Callable[..., None] = with_corpus
    for decorate in (
        language_option,
        offsets_option,
        map_column_option("concept_id=mondo_id"),
        click.option(
            "--type", "types", multiple=True, help="Mentions of this type only, e.g. Disease. Repeatable."
        ),
        input_format_option("the corpus", CORPUS_FORMATS.names()),
    ):
        decorated = decorate(decorated)
    return decorated


def corpora_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options for reading the corpora of a repeatable ``--corpus``."""
    for decorate in (
        language_option,
        offsets_option,
        map_column_option("concept_id=mondo_id"),
        input_format_option("each --corpus", CORPUS_FORMATS.names()),
        click.option("--type", "types", multiple=True, help="Mentions of this type only. Repeatable."),
    ):
        command = decorate(command)
    return command
