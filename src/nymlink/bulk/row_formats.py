"""Rows of jobs, made of the rows of tables and of documents of PubTator."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from nymlink.core.errors import InputError
from nymlink.corpus.documents import Document, Mention
from nymlink.corpus.readers import CORPUS_FORMATS
from nymlink.corpus.readers.common import CorpusOptions
from nymlink.tables import shards
from nymlink.tables.cells import NO_TEXT, cell_text, is_text, language_fault, language_of_cell
from nymlink.tables.shards import (
    Headers,
    Record,
    RowColumns,
    Shard,
    ShardFormat,
    Source,
    cutter,
    rejected_rows,
    shard_bytes,
    shard_problems,
)


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table, or a document of a corpus.

    Attributes:
        number: 1-based line of a text file that it begins in; 1-based row of Parquet.
        id: its identifier, where it has one.
        text: what is asked of: a mention, a name, a text.
        language: code of the language of a mention, where a column has it.
        mentions: those in the text; ``None`` if the row comes from a table.
        error: why it cannot be used; ``None`` if it can.
        problem: what of it cannot be used, where the rest can; ``None`` for nothing.
    """

    number: int
    id: str | None = None
    text: str = ""
    language: str | None = None
    mentions: tuple[Mention, ...] | None = None
    error: str | None = None
    problem: str | None = None


_LONGEST: Final = 1 << 22
"""Most characters of a text; a longer one is no single document."""


def row_of(number: int, values: Mapping[str, Any], columns: RowColumns) -> Row:
    """Make a row of the cells of a table; one whose text cannot be used says why. A missing text is empty.

    Args:
        number: of the row.
        values: column → cell.
        columns: the columns to read.
    """
    id = None if columns.id is None else _text(values.get(columns.id)) or None
    language = "" if columns.language is None else _text(values.get(columns.language))
    cell = values.get(columns.text)
    if not is_text(cell):
        return Row(number, id, error=NO_TEXT)
    # What is too long anyway is not copied: a small file can have a thousand such cells.
    text = cell if isinstance(cell, str) and len(cell) > _LONGEST else _text(cell)
    if len(text) > _LONGEST:
        return Row(number, id, error=f"{len(text):,} characters are too many for a text")
    if (fault := language_fault(language)) is not None:
        return Row(number, id, text, problem=fault)
    return Row(number, id, text, language_of_cell(language))


def _text(value: Any) -> str:
    # NUL characters mark binary data.
    return cell_text(value).replace("\0", " ")


_PUBTATOR: Final = "pubtator"
_TITLE: Final = re.compile(rb"\s*([^|\s][^|\t\n]*)\|t\|")


def _recognises_pubtator(path: Path, head: str) -> bool:
    return CORPUS_FORMATS.get(_PUBTATOR).recognises(path, head)


def _pubtator_records(_: Source, file: IO[bytes]) -> Iterator[Record]:
    first, lines = 1, list[bytes]()
    begun = False
    for number, line in enumerate(file, 1):
        if _TITLE.match(line):
            if begun:
                yield first, b"".join(lines)
                first, lines = number, []
            begun = True
        lines.append(line)
    if lines:
        yield first, b"".join(lines)


def _read_pubtator(shard: Shard) -> Iterator[tuple[int, Document | str]]:
    content = shard_bytes(shard)
    line_of = {
        match[1].decode("utf-8", "replace").strip(): shard.line + place
        for place, line in reversed(list(enumerate(content.split(b"\n"))))
        if (match := _TITLE.match(line))
    }
    problems = shard_problems(shard)
    with tempfile.TemporaryDirectory(prefix="nymlink-") as folder:
        # The reader needs a file.
        path = Path(folder) / "shard"
        path.write_bytes(b"\n" + content)
        try:
            for document in CORPUS_FORMATS.get(_PUBTATOR).read(path, options=CorpusOptions(), problems=problems):
                number = line_of.get(document.id, shard.line)
                yield number, document
        except InputError as error:
            # Every document of the shard is unusable: the problems name the reasons.
            if not problems.rejected:
                problems.reject(path, 1, error.message)
    yield from rejected_rows(shard, problems)


PUBTATOR: Final = ShardFormat(
    _PUBTATOR, _recognises_pubtator, lambda _: Headers(), cutter(_pubtator_records), _read_pubtator
)


ROW_FORMATS: Final[Mapping[str, ShardFormat]] = {
    each.name: each for each in (shards.PARQUET, shards.XLSX, PUBTATOR, shards.JSONL, shards.DELIMITED)
}
"""Formats of rows by their names, those with clear signs first."""


def read_rows(shard: Shard) -> Iterator[Row]:
    """Read the rows of a shard."""
    for number, content in ROW_FORMATS[shard.source.format].read(shard):
        if isinstance(content, str):
            yield Row(number, error=content)
        elif isinstance(content, Document):
            yield Row(number, content.id, content.text, mentions=content.mentions)
        else:
            assert shard.source.columns is not None, "a table has columns"
            yield row_of(number, content, shard.source.columns)
