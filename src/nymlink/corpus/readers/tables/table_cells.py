"""Read the cells of a table that is no text: a workbook, or Parquet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nymlink.core.problems import Problems
from nymlink.corpus.readers.tables import parquet, xlsx


def table_cells(
    path: Path, problems: Problems, raw: bytes | None = None
) -> Iterator[tuple[int, list[Any]]] | None:
    """Yield the header and the rows of a table, each with its number; ``None`` for a file that is neither.

    Args:
        path: the file.
        problems: gets what is damaged.
        raw: its bytes, where they are not to be read from it.

    Raises:
        InputError: the file is damaged, as soon as it is read.
        MissingExtraError: openpyxl is not installed.
    """
    if xlsx.is_workbook(path, raw):
        return xlsx.table_rows(path, problems, raw)
    return parquet.table_rows(path, problems, raw) if parquet.is_parquet(path, raw) else None
