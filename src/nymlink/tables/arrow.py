"""Tables of Arrow, made of rows, and their cells as Python values."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from nymlink.core.errors import MissingExtraError
from nymlink.tables.cells import Cells, cell_text

if TYPE_CHECKING:
    from pandas import DataFrame


def arrow_table(rows: Sequence[Sequence[Any]], schema: pa.Schema) -> pa.Table:
    """Make a table of rows; halves of surrogate pairs, which no file can hold, become question marks."""
    columns = zip(*rows, strict=True) if rows else ([] for _ in schema)
    arrays = [
        pa.array(map(_whole, values) if pa.types.is_string(field.type) else values, field.type)
        for values, field in zip(columns, schema, strict=True)
    ]
    return pa.table(arrays, schema=schema)


def _whole(value: Any) -> Any:
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def pandas_table(table: pa.Table) -> DataFrame:
    """Make a pandas table with nullable types.

    Raises:
        MissingExtraError: pandas is not installed.
    """
    try:
        import pandas
    except ImportError as error:
        raise MissingExtraError("frame", purpose="A pandas table") from error
    types = {
        pa.string(): pandas.StringDtype(),
        pa.int64(): pandas.Int64Dtype(),
        pa.float64(): pandas.Float64Dtype(),
        pa.bool_(): pandas.BooleanDtype(),
    }
    return table.to_pandas(types_mapper=types.get)


def python_values(column: pa.Array | pa.ChunkedArray) -> list[Any]:
    """Return the cells of a column as Python values; equal texts that are stored once are one object."""
    if isinstance(column, pa.ChunkedArray):
        return [value for chunk in column.chunks for value in python_values(chunk)]
    if not isinstance(column, pa.DictionaryArray):
        try:
            values: list[Any] = column.to_pylist()
        except (OverflowError, ValueError):
            # Dates, times and durations that Python has no objects for.
            values = [_python_value(cell) for cell in column]
        return values
    used = column.indices.unique().drop_null()
    texts = dict(zip(used.to_pylist(), column.dictionary.take(used).to_pylist(), strict=True))
    return [texts.get(place) for place in column.indices.to_pylist()]


def _python_value(cell: pa.Scalar) -> Any:
    try:
        return cell.as_py()
    except (OverflowError, ValueError):
        return None


def taken_rows(rows: Sequence[Cells], schema: pa.Schema) -> pa.Table:
    """Make a table of rows of Parquet, with the columns as they were.

    Args:
        rows: rows with their batches; may be repeated.
        schema: columns of the file they are from.
    """
    pieces = []
    for _, same in groupby(rows, lambda row: id(row.batch)):
        found = list(same)
        assert found[0].batch is not None, "rows of Parquet have a batch"
        batch = found[0].batch.take(pa.array([row.place for row in found], pa.int64()))
        columns = [column.cast(field.type) for column, field in zip(batch.columns, schema, strict=True)]
        pieces.append(pa.Table.from_arrays(columns, schema=schema))
    return pa.concat_tables(pieces) if pieces else schema.empty_table()


_TYPES: Final = {
    (bool,): pa.bool_(),
    (int,): pa.int64(),
    (float,): pa.float64(),
    (float, int): pa.float64(),
    (date,): pa.date32(),
    (datetime,): pa.timestamp("us"),
    (date, datetime): pa.timestamp("us"),
    (time,): pa.time64("us"),
    (timedelta,): pa.duration("us"),
}
"""Types of cells, in the order of their names → type of a column."""


def table_of_cells(rows: Sequence[Sequence[Any]], names: Sequence[str]) -> pa.Table:
    """Make a table of cells, each column with the type of all its cells; text if there is none."""
    columns = zip(*rows, strict=True) if rows else ([] for _ in names)
    return pa.table(list(map(_column, columns)), names=list(names))


def _column(cells: Sequence[Any]) -> pa.Array:
    given = [cell for cell in cells if cell is not None]
    kinds = tuple(sorted({type(cell) for cell in given}, key=lambda kind: kind.__name__))
    if not kinds:
        return pa.nulls(len(cells))
    if kinds == (date, datetime):
        midnight = time()
        cells = [datetime.combine(cell, midnight) if type(cell) is date else cell for cell in cells]
    if (type_ := _TYPES.get(kinds)) is not None or kinds in ((list,), (dict,)):
        try:
            return pa.array(cells, type_)
        except (pa.ArrowException, OverflowError):
            # Numbers that are too large, times with zones beside others, lists of unlike items.
            pass
    return pa.array([None if cell is None else cell_text(cell) for cell in cells], pa.string())


def with_common_types(tables: Sequence[pa.Table]) -> list[pa.Table]:
    """Give the columns of tables with the same names the same types: those of all, else text."""
    fields = []
    for place, name in enumerate(tables[0].schema.names):
        types = {table.schema.field(place).type for table in tables} - {pa.null()}
        # A column without a value is text: no other library can join a column of nulls to another.
        if types == {pa.int64(), pa.float64()}:
            fields.append((name, pa.float64()))
        else:
            fields.append((name, types.pop() if len(types) == 1 else pa.string()))
    schema = pa.schema(fields)
    return [pa.table(list(map(_as, table.columns, schema.types)), schema=schema) for table in tables]


def _as(column: pa.ChunkedArray, type_: pa.DataType) -> pa.ChunkedArray | pa.Array:
    if column.type == type_ or pa.types.is_null(column.type) or not pa.types.is_string(type_):
        return column.cast(type_)
    return pa.array([None if cell is None else cell_text(cell) for cell in python_values(column)], type_)
