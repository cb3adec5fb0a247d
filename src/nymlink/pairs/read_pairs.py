"""Read files of pairs: Parquet, or text with one pair per line, ``concept||name1||name2``."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from nymlink.core.errors import InputError
from nymlink.core.files import open_bytes, read_batches
from nymlink.core.problems import Problems
from nymlink.pairs.pairs import PAIRS
from nymlink.pairs.write_pairs import SEPARATOR

_MAGIC: Final = b"PAR1"
_BATCH: Final = 1 << 16


def read_pairs(path: str | Path, *, problems: Problems | None = None) -> Iterator[pa.RecordBatch]:
    """Read a file of pairs in batches; the format is detected from the content.

    Names are not changed.

    Args:
        path: a Parquet file with the columns of :data:`~nymlink.pairs.pairs.PAIRS`, or a plain or gzip text file.
        problems: receives lines (in Parquet: rows) that are not pairs, and lines that are not UTF-8.

    Yields:
        Batches of pairs, in the columns of :data:`~nymlink.pairs.pairs.PAIRS`.

    Raises:
        InputError: the file cannot be read, lacks a column, or holds no pair.
    """
    path = Path(path)
    problems = problems if problems is not None else Problems()
    empty = True
    with open_bytes(path) as file:
        # Peek instead of opening twice: a pipe can be opened only once.
        is_parquet = cast(io.BufferedReader, file).peek(len(_MAGIC)).startswith(_MAGIC)
        for batch in _parquet(file, path, problems) if is_parquet else _lines(file, path, problems):
            if len(batch):
                empty = False
                yield batch
    if empty:
        raise InputError("the file holds no pair", path=path)


def _lines(file: IO[bytes], path: Path, problems: Problems) -> Iterator[pa.RecordBatch]:
    for lines in read_batches(file, path, problems):
        rows = []
        for number, line in lines:
            fields = line.split(SEPARATOR)
            if len(fields) == len(PAIRS) and all(map(str.strip, fields)):
                rows.append(fields)
            elif line.strip():
                problems.reject(path, number, f"not of the form {SEPARATOR.join(PAIRS.names)}")
        columns = {name: [row[at] for row in rows] for at, name in enumerate(PAIRS.names)}
        yield pa.RecordBatch.from_pydict(columns, PAIRS)


def _parquet(stream: IO[bytes], path: Path, problems: Problems) -> Iterator[pa.RecordBatch]:
    try:
        with pq.ParquetFile(stream) as file:
            columns_in_file = file.schema_arrow.names
            if missing := [name for name in PAIRS.names if name not in columns_in_file]:
                raise InputError(
                    f"no column {missing[0]!r}; the file has: {', '.join(columns_in_file)}", path=path
                )
            rows_read = 0
            for batch in file.iter_batches(_BATCH, columns=PAIRS.names):
                columns = [batch[name].cast(pa.string()) for name in PAIRS.names]
                kept = np.ones(len(batch), bool)
                for column in columns:
                    # Arrow does not check by itself that texts are UTF-8.
                    column.validate(full=True)
                    blank = pc.equal(pc.utf8_trim_whitespace(column), "").fill_null(True)
                    kept &= ~blank.to_numpy(zero_copy_only=False)
                for row in np.flatnonzero(~kept).tolist():
                    problems.reject(path, rows_read + row + 1, "a row without a concept or a name")
                rows_read += len(batch)
                yield pa.RecordBatch.from_arrays([column.filter(kept) for column in columns], schema=PAIRS)
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        raise InputError(
            f"the Parquet file cannot be read as pairs ({error}): write it again", path=path
        ) from error
