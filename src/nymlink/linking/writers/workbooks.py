"""Links as Parquet and as workbooks."""

from __future__ import annotations

import re
import shutil
import tempfile
import warnings
import zipfile
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any, BinaryIO, Final

import pyarrow as pa
import pyarrow.parquet as pq

from nymlink.core.errors import MissingExtraError
from nymlink.linking.writers.link_columns import RowWriter
from nymlink.linking.writers.writer import LinkFormat, LinksInfo

if TYPE_CHECKING:
    from openpyxl import Workbook


_ROWS: Final = 50_000
"""Number of rows that are held in memory and written together."""
ARROW_TYPES: Final = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
"""Python types of values → column types of Parquet."""


class ParquetWriter(RowWriter):
    """Writes typed columns, which `datasets` and data frame libraries read unchanged."""

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

    def abandon(self) -> None:
        # Otherwise it would write its end when it is collected, to a file that is closed by then.
        self._file.is_open = False

    def _flush(self) -> None:
        columns = zip(*self._waiting, strict=True) if self._waiting else ([] for _ in self._schema)
        arrays = [
            pa.array([_whole(value) for value in column], field.type)
            for column, field in zip(columns, self._schema, strict=True)
        ]
        self._file.write_table(pa.table(arrays, schema=self._schema))
        self._waiting.clear()


def _whole(value: Any) -> Any:
    """Replace invalid Unicode in a string: halves of surrogate pairs, and bytes that were not UTF-8."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


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
        super().__init__(info)
        self._workbook = Workbook(write_only=True)
        self._shortened = 0
        self._begin_sheet()

    def add(self, values: tuple[Any, ...]) -> None:
        if self._count == _MOST_ROWS:
            self._begin_sheet()
        self._append(values)

    def close(self) -> None:
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
        self._sheet._writer.write_top()
        self._count = 0
        self._append(self.rows.names)

    def _append(self, values: tuple[Any, ...]) -> None:
        self._sheet.append([self._cell(value) for value in values])
        self._count += 1

    def _cell(self, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        from openpyxl.cell import WriteOnlyCell

        text = _UNWRITABLE.sub("\ufffd", value)
        self._shortened += len(text) > _LONGEST_CELL
        cell = WriteOnlyCell(self._sheet, text[:_LONGEST_CELL])
        cell.data_type = "s"
        # The same mark as for text typed with an apostrophe: the cell stays text when it is edited.
        cell.quotePrefix = _RUN.match(text) is not None
        return cell


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
