"""Readers of mention tables in Parquet and in workbooks, and of BigBIO's documents in Parquet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from nymlink.core.problems import Problems
from nymlink.core.registry import Format
from nymlink.corpus.documents import Document
from nymlink.corpus.readers import CorpusFormat
from nymlink.corpus.readers.bigbio import bigbio_documents
from nymlink.corpus.readers.common import CorpusOptions, require_documents
from nymlink.corpus.readers.tables.mention_rows import MentionRows, row_documents
from nymlink.tables.columns import header_columns
from nymlink.tables.parquet import is_parquet, named_rows, opened_parquet
from nymlink.tables.workbooks import is_workbook, xlsx_rows


def _read_parquet(path: Path, *, options: CorpusOptions, problems: Problems) -> Iterator[Document]:
    file = opened_parquet(path)
    names = file.schema_arrow.names
    if {"passages", "entities"} <= set(names):
        yield from bigbio_documents(named_rows(file, path, problems), path, options, problems)
    else:
        columns = header_columns(names, options.columns, path, 1)
        rows: MentionRows = ((number, columns, row) for number, row in named_rows(file, path, problems))
        yield from require_documents(row_documents(rows, path, options, problems), path=path, problems=problems)


PARQUET: Final[CorpusFormat] = Format(
    name="parquet",
    description="Parquet: a table with a mention a row, or BigBIO's documents",
    recognises=lambda path, _: is_parquet(path),
    read=_read_parquet,
    options=frozenset({"columns"}),
    is_binary=True,
)


def _read_xlsx(path: Path, *, options: CorpusOptions, problems: Problems) -> Iterator[Document]:
    rows = _xlsx_rows(path, options, problems)
    return require_documents(row_documents(rows, path, options, problems), path=path, problems=problems)


def _xlsx_rows(path: Path, options: CorpusOptions, problems: Problems) -> MentionRows:
    rows = xlsx_rows(path, problems)
    first, header = next(rows)
    columns = header_columns(header, options.columns, path, first)
    for number, row in rows:
        yield number, columns, dict(zip(header, row, strict=True))


XLSX: Final[CorpusFormat] = Format(
    name="xlsx",
    description="an XLSX workbook, a mention a row",
    recognises=lambda path, _: is_workbook(path),
    read=_read_xlsx,
    options=frozenset({"columns"}),
    is_binary=True,
)
