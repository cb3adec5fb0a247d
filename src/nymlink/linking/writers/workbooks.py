"""Links as Parquet and as workbooks."""

from __future__ import annotations

import math
import re
import shutil
import tempfile
import warnings
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import IO, TYPE_CHECKING, Any, BinaryIO, Final

import pyarrow as pa
import pyarrow.parquet as pq

from nymlink.core.errors import MissingExtraError
from nymlink.linking.link import FLAGS
from nymlink.linking.links import CANDIDATE, CONFIDENCE, LINK_SCHEMA, NOTE, PLACE
from nymlink.linking.writers.link_columns import RowWriter
from nymlink.linking.writers.writer import LinkFormat, LinksInfo
from nymlink.tables.arrow import arrow_table, table_of_cells, taken_rows, with_common_types
from nymlink.tables.cells import Cells, cell_text

if TYPE_CHECKING:
    from openpyxl import Workbook


_ROWS: Final = 50_000
"""Number of rows that are held in memory and written together."""


class ParquetWriter(RowWriter):
    """Writes typed columns, which `datasets` and data frame libraries read unchanged.

    Columns of Parquet stay as they are. Of a workbook and of JSON lines, which have types for cells but not for
    columns, a column has the type of all its cells, else it is text; such a table is in memory until the end.
    """

    def __init__(self, out: BinaryIO, info: LinksInfo) -> None:
        super().__init__(info, LINK_SCHEMA.names)
        self._out = out
        self._waiting: list[tuple[Cells, Sequence[Any]]] = []
        self._tables: list[pa.Table] = []
        self._file: pq.ParquetWriter | None = None
        self._is_parquet = info.table is not None and info.table.schema is not None
        self._schema: pa.Schema | None = pa.schema([(name, pa.string()) for name in self.own])
        if info.table is not None and info.table.schema is not None:
            given = info.table.schema
            fields = [field.with_name(name) for field, name in zip(given, self.own, strict=True)]
            self._schema = pa.schema(fields, given.metadata)
        elif info.table is not None and info.table.has_types:
            self._schema = None

    def add(self, own: Cells, values: Sequence[Any]) -> None:
        self._waiting.append((own, values))
        if len(self._waiting) >= _ROWS:
            self._flush()

    def close(self) -> None:
        self._flush()
        if self._schema is None:
            for table in with_common_types(self._tables):
                self._write(table)
        if self._file is not None:
            self._file.close()

    def abandon(self) -> None:
        # Otherwise it would write its end when it is collected, to a file that is closed by then.
        if self._file is not None:
            self._file.is_open = False

    def _flush(self) -> None:
        rows = [own for own, _ in self._waiting]
        if self._schema is None:
            own = table_of_cells(rows, self.own)
        else:
            own = (taken_rows if self._is_parquet else arrow_table)(rows, self._schema)
        table = arrow_table([values for _, values in self._waiting], self.added)
        for name, column in zip(reversed(own.schema.names), reversed(own.columns), strict=True):
            table = table.add_column(0, own.schema.field(name), column)
        table = table.replace_schema_metadata(own.schema.metadata)
        self._waiting.clear()
        if self._schema is None:
            self._tables.append(table)
        else:
            self._write(table)

    def _write(self, table: pa.Table) -> None:
        if self._file is None:
            self._file = pq.ParquetWriter(self._out, table.schema, compression="zstd")
        self._file.write_table(table)


PARQUET = LinkFormat(
    name="parquet",
    description="Parquet, a row for each candidate; the columns of your table come first",
    open=ParquetWriter,
    endings=(".parquet",),
    keeps_table=True,
    target="binary",
)


_MOST_ROWS: Final = 1_048_576
_LONGEST_CELL: Final = 32_767
_UNWRITABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff￾￿]")
"""Characters that XML cannot hold."""
_RUN: Final = re.compile(r"[=+\-@\t\r']")
_GENERAL: Final = "General"
"""The number format of cells that have none."""
_LARGEST: Final = 10**15
_FIRST_YEAR: Final = 1901
"""The first year whose days all programs count alike."""


class XlsxWriter(RowWriter):
    """Writes numbers, and text cells that are never run as formulas; a full sheet is continued on the next.

    Raises:
        MissingExtraError: openpyxl is not installed.
    """

    def __init__(self, out: BinaryIO, info: LinksInfo) -> None:
        try:
            from openpyxl import Workbook
        except ImportError as error:
            raise MissingExtraError("xlsx", purpose="Writing a workbook") from error
        self._out = out
        places = PLACE if info.located or info.annotated else ()
        flags = FLAGS if info.annotated else ()
        super().__init__(info, (*places, "mention", *CANDIDATE, CONFIDENCE, *flags, NOTE))
        self._workbook = Workbook(write_only=True)
        self._shortened = 0
        self._begin_sheet()

    def add(self, own: Cells, values: Sequence[Any]) -> None:
        if self._count == _MOST_ROWS:
            self._end_sheet()
            self._begin_sheet()
        formats = own.formats or [None] * len(own)
        cells = [self._cell(value, format) for value, format in zip(own, formats, strict=True)]
        self._append([*cells, *map(self._cell, values)])

    def close(self) -> None:
        self._end_sheet()
        # Write to a temporary file first: a broken pipe then leaves no half-written sheet behind.
        with tempfile.TemporaryFile() as whole:
            _save(self._workbook, whole)
            whole.seek(0)
            shutil.copyfileobj(whole, self._out)
        if self._shortened:
            warnings.warn(
                f"{self._shortened:,} cells of more than {_LONGEST_CELL:,} characters were shortened: a workbook "
                "holds no more in a cell",
                stacklevel=2,
            )

    def abandon(self) -> None:
        # Otherwise it would report open elements when it is collected.
        with suppress(Exception):
            self._sheet.close()

    def _begin_sheet(self) -> None:
        from openpyxl.worksheet._writer import WorksheetWriter

        number = len(self._workbook.sheetnames) + 1
        self._sheet = self._workbook.create_sheet("links" if number == 1 else f"links {number}")
        # The library would use a named temporary file, which stays behind if the process is killed.
        self._sheet._writer = WorksheetWriter(self._sheet, out=tempfile.TemporaryFile())  # noqa: SIM115 — until it is saved
        self._sheet.freeze_panes = "A2"
        self._sheet._writer.write_top()
        self._count = 0
        self._append([self._cell(name, bold=True) for name in (*self.own, *self.added.names)])

    def _end_sheet(self) -> None:
        from openpyxl.utils import get_column_letter

        self._sheet.auto_filter.ref = f"A1:{get_column_letter(len(self.own) + len(self.added))}{self._count}"

    def _append(self, cells: Sequence[Any]) -> None:
        self._sheet.append(cells)
        self._count += 1

    def _cell(self, value: Any, format: str | None = None, *, bold: bool = False) -> Any:
        from openpyxl.cell import WriteOnlyCell
        from openpyxl.styles import Font

        value = _writable(value)
        if not isinstance(value, str):
            if format is None or format == _GENERAL:
                return value
            cell = WriteOnlyCell(self._sheet, value)
            cell.number_format = format
            return cell
        text = _UNWRITABLE.sub("\ufffd", value)
        self._shortened += len(text) > _LONGEST_CELL
        cell = WriteOnlyCell(self._sheet, text[:_LONGEST_CELL])
        cell.data_type = "s"
        # The same mark as for text typed with an apostrophe: the cell stays text when it is edited.
        cell.quotePrefix = _RUN.match(text) is not None
        if format is not None and format != _GENERAL:
            cell.number_format = format
        if bold:
            cell.font = Font(bold=True)
        return cell


def _writable(value: Any) -> Any:
    """Return a value that a cell can hold; others as text."""
    if value is None or isinstance(value, str | bool | time | timedelta):
        return value
    if isinstance(value, int | float | Decimal):
        # A program that shows workbooks keeps 15 digits.
        is_exact = isinstance(value, float) or -_LARGEST < value < _LARGEST
        return value if is_exact and math.isfinite(value) else cell_text(value)
    if isinstance(value, datetime) and value.tzinfo is not None:
        return cell_text(value)
    return value if isinstance(value, date) and value.year >= _FIRST_YEAR else cell_text(value)


def _save(workbook: Workbook, target: IO[bytes]) -> None:
    """Save a workbook whose sheets are in unnamed temporary files."""
    from openpyxl.writer.excel import ExcelWriter

    class Writer(ExcelWriter):  # type: ignore[misc]
        def write_worksheet(self, ws: Any) -> None:
            ws.close()
            ws._rels = ws._writer._rels
            with ws._writer.out as sheet, self._archive.open(ws.path[1:], "w", force_zip64=True) as part:
                sheet.seek(0)
                shutil.copyfileobj(sheet, part)
            self.manifest.append(ws)

    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        Writer(workbook, archive).write_data()


XLSX = LinkFormat(
    name="xlsx",
    description="a workbook, a row for each candidate; the columns of your table come first",
    open=XlsxWriter,
    endings=(".xlsx",),
    keeps_table=True,
    target="binary",
)
