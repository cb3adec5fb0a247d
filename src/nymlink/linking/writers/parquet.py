"""Write links as Parquet, a row for each candidate: the columns have the same types in every file."""

from __future__ import annotations

from typing import Any, BinaryIO, Final

import pyarrow as pa
import pyarrow.parquet as pq

from nymlink.linking.writers.flat_rows import RowWriter
from nymlink.linking.writers.writer import LinkFormat, LinksInfo

_ROWS: Final = 50_000
"""Rows of a group, which are in memory at a time."""
ARROW_TYPES: Final = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
"""Types of columns, by those of their values in Python."""


class ParquetWriter(RowWriter):
    """Writes typed columns, which `datasets` and data frames read as they are."""

    def __init__(self, out: BinaryIO, info: LinksInfo) -> None:
        super().__init__(info)
        types = map(ARROW_TYPES.__getitem__, self.rows.types)
        self._schema = pa.schema(list(zip(self.rows.names, types, strict=True)))
        self._file = pq.ParquetWriter(out, self._schema, compression="zstd")
        self._waiting: list[tuple[Any, ...]] = []

    def add(self, values: tuple[Any, ...]) -> None:
        self._waiting.append(values)
        if len(self._waiting) >= _ROWS:
            self._flush()

    def close(self) -> None:
        self._flush()
        self._file.close()

    def _flush(self) -> None:
        columns = zip(*self._waiting, strict=True) if self._waiting else ([] for _ in self._schema)
        arrays = [
            pa.array([_whole(value) for value in column], field.type)
            for column, field in zip(columns, self._schema, strict=True)
        ]
        self._file.write_table(pa.table(arrays, schema=self._schema))
        self._waiting.clear()


def _whole(value: Any) -> Any:
    """Replace what is no Unicode text in a string: halves of surrogate pairs, bytes that were not UTF-8."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


FORMAT = LinkFormat(
    name="parquet",
    description="Parquet, a row for each candidate; the columns of your table come first",
    open=ParquetWriter,
    endings=(".parquet",),
    keeps_table=True,
    target="binary",
    resumable=True,
)
