"""Write links as a workbook (XLSX), a row for each candidate."""

from __future__ import annotations

import re
import shutil
import tempfile
import warnings
import zipfile
from typing import IO, TYPE_CHECKING, Any, BinaryIO, Final

from nymlink.core.errors import MissingExtraError
from nymlink.linking.writers.flat_rows import RowWriter
from nymlink.linking.writers.writer import LinkFormat, LinksInfo

if TYPE_CHECKING:
    from openpyxl import Workbook

_MOST_ROWS: Final = 1_048_576
_LONGEST_CELL: Final = 32_767
_UNWRITABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff￾￿]")
"""Characters that XML cannot hold."""
_RUN: Final = re.compile(r"[=+\-@\t\r']")


class XlsxWriter(RowWriter):
    """Writes text cells, which are never formulas, and numbers; a full sheet is continued on the next.

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
        # First into a file: a pipe that is closed leaves no half-written sheet behind.
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

    def _begin_sheet(self) -> None:
        from openpyxl.worksheet._writer import WorksheetWriter

        number = len(self._workbook.sheetnames) + 1
        self._sheet = self._workbook.create_sheet("links" if number == 1 else f"links {number}")
        # The file that the library makes has a name, and stays where the process is killed.
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
        # As spreadsheets mark what was typed as text: it stays text when the cell is edited.
        cell.quotePrefix = _RUN.match(text) is not None
        return cell


def _save(workbook: Workbook, target: IO[bytes]) -> None:
    """Save a workbook whose sheets are in files without names."""
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


FORMAT = LinkFormat(
    name="xlsx",
    description="a workbook, a row for each candidate; the columns of your table come first",
    open=XlsxWriter,
    endings=(".xlsx",),
    keeps_table=True,
    target="binary",
    resumable=True,
)
