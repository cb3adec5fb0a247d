"""The source of mentions of `nymlink link`, and its rare settings, from its arguments."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final, Literal

import click

from nymlink.cli.common import read_settings, require_share
from nymlink.core.encodings import UTF_8, encoding_of
from nymlink.core.files import open_bytes, split_part
from nymlink.core.toml_settings import make_settings
from nymlink.corpus.documents import Document, Mention
from nymlink.corpus.offsets import OffsetUnit, find_mention
from nymlink.corpus.readers.common import source_name
from nymlink.linking.judge import JudgeSettings
from nymlink.tables.parquet import is_parquet
from nymlink.tables.workbooks import is_workbook

STANDARD_STREAM: Final = Path("-")

_LOOKED_AT: Final = 1 << 20
"""Bytes read to detect the encoding."""

_FURTHER_COLUMNS: Final = {"language", "code", "frequency"}
"""Keys of --map-column for a table with its mentions in --column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkSource:
    """The source of mentions: the first given one of ``document``, ``corpus``, ``file`` and ``mentions``.

    Attributes:
        mentions: mentions given as arguments.
        file: file of lines, or with a column a table.
        column: name or number of the column of mentions.
        corpus: annotated documents.
        input_format: format of the corpus; ``None`` to recognise it by its content.
        mapped_columns: headers of further columns of the table, or of a corpus in a table.
        document: one mention in its context.
        offsets: unit of offsets in the corpus.
    """

    mentions: tuple[str, ...]
    file: Path | None
    column: str | None
    corpus: Path | None
    input_format: str | None
    mapped_columns: Mapping[str, str]
    document: Document | None
    offsets: OffsetUnit

    @property
    def title(self) -> str:
        """A short name of the file, for the output; empty if there is none."""
        path = self.corpus if self.corpus is not None else self.file
        return "" if path is None or path == STANDARD_STREAM else source_name(path)

    @property
    def has_documents(self) -> bool:
        """Whether mentions stand in texts."""
        return self.corpus is not None or self.document is not None

    @property
    def encoding(self) -> str:
        """Encoding of a table of text, as its beginning tells it; UTF-8 for any other source."""
        if self.column is None or self.file is None or not self.file.is_file():
            return UTF_8
        if is_workbook(self.file) or is_parquet(self.file):
            return UTF_8
        with open_bytes(self.file) as file:
            return encoding_of(file.read(_LOOKED_AT))

    @contextmanager
    def opened(self) -> Iterator[tuple[IO[bytes], Path]]:
        """Open the file, and name it for messages."""
        assert self.file is not None, "there is no file to open"
        if self.file == STANDARD_STREAM:
            yield sys.stdin.buffer, Path("standard input")
        else:
            with open_bytes(self.file) as stream:
                yield stream, self.file


def link_source(
    inputs: tuple[str, ...],
    *,
    file: Path | None,
    columns: tuple[str, ...],
    corpus: Path | None,
    input_format: str | None,
    mapped_columns: Mapping[str, str],
    context: str | None,
    offsets: OffsetUnit,
) -> LinkSource:
    """Check that the arguments and options of ``nymlink link`` name one thing to link.

    Raises:
        click.UsageError: they name nothing, several things, or things that exclude each other.
    """
    if bool(inputs) + (file is not None) + (corpus is not None) > 1:
        what = "the table as INPUT or with --file" if columns else "mentions, --file or --corpus"
        raise click.UsageError(f"give {what}, only one of them")
    if corpus is None and input_format is not None:
        raise click.UsageError("--input-format is the format of a --corpus: give one")
    if context is not None and (len(inputs) != 1 or columns):
        raise click.UsageError("--context is the text around one mention: give one MENTION")
    _check_columns(columns, mapped_columns, has_corpus=corpus is not None)
    column = columns[0] if columns else None
    mentions = inputs if column is None else ()
    if column is not None and inputs:
        file = _table_of(inputs)
    if not mentions and file is None and corpus is None:
        if sys.stdin is None or sys.stdin.isatty():
            raise click.UsageError("nothing to link: give mentions, --file, --corpus, or lines on standard input")
        file = STANDARD_STREAM
    if len(mentions) == 1 and context is None:
        _warn_of_file(mentions[0])
    return LinkSource(
        mentions=mentions,
        file=file,
        column=column,
        corpus=corpus,
        input_format=input_format,
        mapped_columns=mapped_columns,
        document=None if context is None else _document(mentions[0], context),
        offsets=offsets,
    )


def _check_columns(columns: tuple[str, ...], mapped_columns: Mapping[str, str], *, has_corpus: bool) -> None:
    if len(columns) > 1:
        raise click.UsageError("--column names the one column to link: run link once for each")
    if columns and has_corpus:
        raise click.UsageError(
            "--column goes with a table as input; of a --corpus that is a table say --map-column mention=NAME"
        )
    if mapped_columns and not columns and not has_corpus:
        raise click.UsageError("--map-column names columns of a table: give one, with --column, or a --corpus")
    if columns and (others := sorted(mapped_columns.keys() - _FURTHER_COLUMNS)):
        raise click.UsageError(
            "of a table --column names the mentions, and --map-column only their language, code and frequency, "
            f"not {others[0]!r}"
        )


def _table_of(inputs: tuple[str, ...]) -> Path:
    if len(inputs) > 1:
        raise click.UsageError("--column goes with one table: run link once for each")
    path = Path(inputs[0])
    if path != STANDARD_STREAM and not split_part(path)[0].exists():
        raise click.UsageError(f"with --column INPUT is a table, and there is no file {inputs[0]!r}")
    return path


def _warn_of_file(mention: str) -> None:
    """Warn if the only mention is the name of a file."""
    with suppress(OSError, ValueError):
        if Path(mention).is_file():
            warnings.warn(
                f"{mention} is linked as a mention, and there is a file of that name: to link its lines, give "
                f"--file {mention}; to link a column of a table, add --column NAME",
                stacklevel=1,
            )


def _document(mention: str, text: str) -> Document:
    """Make a document of a text with one mention, as spelt there; with a blank text, of the mention alone."""
    if not text.strip():
        return Document("", mentions=(Mention(mention),))
    place = find_mention(mention, text) or find_mention(mention, text, any_case=True)
    if place is None:
        raise click.UsageError(f"the mention {mention!r} does not occur in the --context")
    return Document("", text, (Mention(text[slice(*place)], *place),))


@dataclass(frozen=True, slots=True)
class LinkSettings:
    """What ``--settings`` takes; the help of the command explains it."""

    composites: Literal["given", "always"] = "given"
    target_precision: float | None = None
    rerank: str | None = None
    judge: Any = None
    offsets: OffsetUnit = "characters"
    processes: int = 1

    def __post_init__(self) -> None:
        require_share(self.target_precision)
        if self.processes < 1:
            raise ValueError(f"processes must be 1 or more, not {self.processes}")


def link_settings(given: tuple[str, ...]) -> tuple[LinkSettings, Path | None, JudgeSettings | None]:
    """Read settings, with the folder of a re-ranker and the settings of a judge."""
    values, path = read_settings(given)
    settings = make_settings(LinkSettings, values, path=path)
    judge = settings.judge
    if judge is not None:
        judge = JudgeSettings.of(str(path) if isinstance(judge, Mapping) else str(judge))
    return settings, None if settings.rerank is None else Path(settings.rerank), judge
