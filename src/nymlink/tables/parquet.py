"""Rows of Parquet files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from nymlink.core.errors import InputError
from nymlink.core.files import open_buffered
from nymlink.core.problems import Problems
from nymlink.tables.arrow import python_values
from nymlink.tables.cells import Cells

MAGIC: Final = b"PAR1"
_ROWS: Final = 1000
"""Rows held as Python values at a time."""
_BATCH_BYTES: Final = 1 << 26
"""Most bytes of these rows, if the file records their size."""


def is_parquet(path: Path, raw: bytes | None = None) -> bool:
    """Whether a file begins like Parquet.

    Args:
        path: the file.
        raw: its bytes, if they are already read.
    """
    if raw is not None:
        return raw.startswith(MAGIC)
    # A pipe can be read only once.
    if not path.is_file():
        return False
    with open_buffered(path) as file:
        return file.read(len(MAGIC)) == MAGIC


def parquet_rows(path: Path, problems: Problems, raw: bytes | None = None) -> Iterator[tuple[int, Cells]]:
    """Yield the names of the columns, then the rows, each with its number.

    Args:
        path: the file.
        problems: receives reports of damage.
        raw: its bytes, if they are already read.

    Raises:
        InputError: this is no Parquet file, or a damaged one.
    """
    file = opened_parquet(path, raw)
    yield 0, Cells(file.schema_arrow.names)
    yield from _rows(file, path, problems)


def parquet_schema(path: Path) -> pa.Schema:
    """Read the columns of a Parquet file as they were written, with what the file says of them.

    Raises:
        InputError: this is no Parquet file, or a damaged one.
    """
    try:
        with open_buffered(path) as file:
            return pq.read_schema(file)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(f"the Parquet file is damaged or none ({_reason(error)})", path=path) from error


def opened_parquet(path: Path, raw: bytes | None = None) -> pq.ParquetFile:
    """Open a Parquet file, as :func:`open_parquet` does.

    Raises:
        InputError: this is no Parquet file, or a damaged one.
    """
    try:
        return open_parquet(path if raw is None else pa.BufferReader(raw))
    except FileNotFoundError as error:
        raise InputError("no such file", path=path) from error
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(f"the Parquet file is damaged or none ({_reason(error)})", path=path) from error


def named_rows(file: pq.ParquetFile, path: Path, problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the rows with their numbers, column → cell, up to a place where the file is damaged."""
    names = file.schema_arrow.names
    for number, cells in _rows(file, path, problems):
        yield number, dict(zip(names, cells, strict=True))


def _rows(file: pq.ParquetFile, path: Path, problems: Problems) -> Iterator[tuple[int, Cells]]:
    number = 0
    try:
        for batch in file.iter_batches(batch_size=_batch_rows(file.metadata)):
            for place, values in enumerate(zip(*map(python_values, batch.columns), strict=True)):
                number += 1
                yield number, Cells(values, batch=batch, place=place)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        problems.reject(path, number + 1, f"damaged ({_reason(error)}): nothing after this can be read")


def open_parquet(source: Path | pa.NativeFile) -> pq.ParquetFile:
    """Open a Parquet file; repeated texts are stored once, as in the file.

    Raises:
        pyarrow.ArrowException, OSError, UnicodeDecodeError: this is no Parquet file, or a damaged one.
    """
    with pq.ParquetFile(source) as file:
        texts = [field.name for field in file.schema_arrow if pa.types.is_string(field.type)]
    return pq.ParquetFile(source, read_dictionary=texts)


def python_rows(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    """Return the rows of a batch; equal texts of a column are one object."""
    columns = map(python_values, batch.columns)
    return [dict(zip(batch.schema.names, row, strict=True)) for row in zip(*columns, strict=True)]


def _batch_rows(metadata: pq.FileMetaData) -> int:
    """Choose the number of rows to read at a time from the recorded size of the largest."""
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    largest = max((group.total_byte_size // max(group.num_rows, 1) for group in groups), default=0)
    return min(max(_BATCH_BYTES // max(largest, 1), 1), _ROWS)


def _reason(error: Exception) -> str:
    return str(error).partition("\n")[0][:200]
