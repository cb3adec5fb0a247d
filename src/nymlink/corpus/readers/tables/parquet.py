"""Reader of Parquet: a mention a row, or a document of BigBIO a row."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from nymlink.core.errors import InputError
from nymlink.core.files import open_buffered
from nymlink.core.formats import Format
from nymlink.core.problems import Problems
from nymlink.corpus.model import Document
from nymlink.corpus.options import CorpusOptions
from nymlink.corpus.readers import CorpusFormat
from nymlink.corpus.readers.bigbio import bigbio_documents
from nymlink.corpus.readers.common import require_documents
from nymlink.corpus.readers.tables.mention_rows import MentionRows, header_columns, row_documents

_MAGIC: Final = b"PAR1"
_ROWS: Final = 1000
"""Rows that are in memory as Python values at a time."""


def _recognises(path: Path, _: str) -> bool:
    return is_parquet(path)


def is_parquet(path: Path, raw: bytes | None = None) -> bool:
    """Whether a file begins as Parquet does.

    Args:
        path: the file.
        raw: its bytes, where they are not to be read from it.
    """
    if raw is not None:
        return raw.startswith(_MAGIC)
    # A pipe can be read only once.
    if not path.is_file():
        return False
    with open_buffered(path) as file:
        return file.read(len(_MAGIC)) == _MAGIC


def _read(path: Path, *, options: CorpusOptions, problems: Problems) -> Iterator[Document]:
    file = _open(path)
    names = file.schema_arrow.names
    if {"passages", "entities"} <= set(names):
        yield from bigbio_documents(_rows(file, path, problems), path, options, problems)
    else:
        columns = header_columns(names, options.columns, path, 1)
        rows: MentionRows = (
            (number, columns, {name: _value(value) for name, value in row.items()})
            for number, row in _rows(file, path, problems)
        )
        yield from require_documents(row_documents(rows, path, options, problems), path=path, problems=problems)


def table_rows(path: Path, problems: Problems, raw: bytes | None = None) -> Iterator[tuple[int, list[Any]]]:
    """Yield the names of the columns, then the rows, each with its number.

    Args:
        path: the file.
        problems: gets what is damaged.
        raw: its bytes, where they are not to be read from it.

    Raises:
        InputError: this is no Parquet file, or a damaged one.
    """
    file = _open(path, raw)
    yield 0, list(file.schema_arrow.names)
    for number, row in _rows(file, path, problems):
        yield number, list(row.values())


def _open(path: Path, raw: bytes | None = None) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path if raw is None else pa.BufferReader(raw))
    except FileNotFoundError as error:
        raise InputError("no such file", path=path) from error
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(f"the Parquet file is damaged or none ({_first_line(error)})", path=path) from error


def _rows(file: pq.ParquetFile, path: Path, problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the rows with their numbers, up to a place where the file is damaged."""
    number = 0
    try:
        for batch in file.iter_batches(batch_size=_ROWS):
            for row in batch.to_pylist():
                number += 1
                yield number, row
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        problems.reject(path, number + 1, f"damaged ({_first_line(error)}): nothing after this can be read")


def _value(value: Any) -> Any:
    """Return a list of ids as it is, whole numbers as such, anything else as text."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if value is None or isinstance(value, list) else str(value)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:200]


FORMAT: Final[CorpusFormat] = Format(
    name="parquet",
    description="Parquet: a table with a mention a row, or BigBIO's documents",
    recognises=_recognises,
    read=_read,
    options=frozenset({"columns"}),
    is_binary=True,
)
