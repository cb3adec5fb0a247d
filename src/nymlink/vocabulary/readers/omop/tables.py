"""Find the tables of an Athena export and read their columns block by block."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from nymlink.core.problems import Problems
from nymlink.vocabulary.readers.columns.delimited import TEXT
from nymlink.vocabulary.readers.columns.tsv import read_tsv

INVALID: Final = frozenset({"U", "D"})
"""Values of invalid_reason for invalid rows: updated, deleted."""


def find_table(folder: Path, name: str) -> Path | None:
    """Find the file of a table (``CONCEPT``), plain or gzip."""
    endings = ("csv", "csv.gz")
    return next((path for ending in endings if (path := folder / f"{name}.{ending}").is_file()), None)


def read_table(
    folder: Path, name: str, columns: Mapping[str, pa.DataType], required: tuple[str, ...], problems: Problems
) -> Iterator[pa.Table]:
    """Read a table by :func:`~nymlink.vocabulary.readers.columns.tsv.read_tsv`; a missing one yields nothing."""
    file = find_table(folder, name)
    return iter(()) if file is None else read_tsv(file, columns, required=required, problems=problems)


def code_column(table: pa.Table, column: str) -> pa.ChunkedArray:
    """Encode a column of codes, its blanks (read as null) as empty strings."""
    return pc.fill_null(table[column].cast(TEXT), "").dictionary_encode()
