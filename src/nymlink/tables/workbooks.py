"""Rows of workbooks (XLSX).

Of a formula the value is read that the program which saved the file computed. A merged cell has its value in each
row and column that it covers. Sheets with the header of the first one continue it; others are not read.

``visits.xlsx#Sheet2`` is one sheet of a workbook, ``visits.xlsx#Sheet2!4`` the table on it whose header is in row
4, and ``visits.xlsx#!4`` that of the first sheet.
"""

from __future__ import annotations

import io
import re
import threading
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import redirect_stdout
from datetime import datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from nymlink.core.errors import InputError, MissingExtraError
from nymlink.core.files import open_buffered, split_part
from nymlink.core.problems import Problems
from nymlink.tables.cells import Cells
from nymlink.tables.delimited import list_headers
from nymlink.tables.parquet import is_parquet, parquet_rows

if TYPE_CHECKING:
    from openpyxl.workbook.workbook import Workbook

_WORKBOOK: Final = "xl/workbook.xml"
_ENDING: Final = ".xlsx"
_MAX_BYTES: Final = 512 << 20
"""The most bytes of an uncompressed workbook: zip can shrink a file to a thousandth."""
_PIECE_BYTES: Final = 1 << 20
_LONGEST_TAG: Final = 200
_MOST_COLUMNS: Final = 1000
"""The most columns of a row widened by merged cells."""
_MOST_ROWS: Final = 1 << 20
"""The most rows of a sheet in spreadsheet programs; the library would fill the gap before a larger number."""
_LOADING: Final = threading.Lock()
"""Held while a workbook is opened: warnings and standard output are those of the process, not of a thread."""
_SHEET: Final = re.compile(r"(.*?)(?:!\$?[A-Za-z]{0,3}\$?([0-9]{1,7}))?", re.DOTALL)
"""A part of a workbook: its sheet, and the row of the header."""
_MERGED: Final = re.compile(rb'<mergeCell\s[^<>]*?ref="([A-Z]{1,3})([0-9]{1,7}):([A-Z]{1,3})([0-9]{1,7})"')


def is_workbook(path: Path, raw: bytes | None = None) -> bool:
    """Whether a file is a workbook, or a damaged one.

    Args:
        path: the file.
        raw: its bytes, if they are already read.
    """
    # A pipe can be read only once.
    if raw is None and not split_part(path)[0].is_file():
        return False
    with _file(path, raw) as file:
        if not zipfile.is_zipfile(file):
            return False
    try:
        with _file(path, raw) as file, zipfile.ZipFile(file) as archive:
            return _WORKBOOK in archive.namelist()
    # A damaged list of files can raise any error in the library.
    except Exception:
        return split_part(path)[0].name.lower().endswith(_ENDING)


def _file(path: Path, raw: bytes | None) -> IO[bytes]:
    return open_buffered(path) if raw is None else io.BytesIO(raw)


def xlsx_rows(path: Path, problems: Problems, raw: bytes | None = None) -> Iterator[tuple[int, Cells]]:
    """Yield the header of a workbook, then the rows that have a value, each with its number and as wide as that.

    Args:
        path: the workbook, or a part of it.
        problems: gets what is damaged.
        raw: its bytes, where they are not to be read from it.

    Raises:
        InputError: this is no workbook, or one without cells or without this sheet.
        MissingExtraError: openpyxl is not installed.
    """
    with _file(path, raw) as file, _file(path, raw) as same:
        values, formulas = _open_xlsx(file, path, computed=True), _open_xlsx(same, path, computed=False)
        yield from _sheet_rows(values, formulas, path, problems, raw)


def sheet_titles(raw: bytes) -> tuple[str, ...]:
    """List the titles of the sheets of a workbook.

    Raises:
        InputError: it is damaged.
    """
    return tuple(sheet.title for sheet in _open_xlsx(io.BytesIO(raw), Path("workbook"), computed=True).worksheets)


def _sheet_rows(
    values: Workbook, formulas: Workbook, path: Path, problems: Problems, raw: bytes | None
) -> Iterator[tuple[int, Cells]]:
    match = _SHEET.fullmatch(split_part(path)[1])
    wanted, header_row = ("", None) if match is None else match.groups()
    titles = [sheet.title for sheet in values.worksheets]
    if wanted and wanted not in titles:
        raise InputError(f"no sheet {wanted[:40]!r}; the workbook has: {list_headers(titles)}", path=path)
    if header_row and not wanted:
        wanted = titles[0]
    header: list[str] = []
    skipped = []
    for sheet, written in zip(values.worksheets, formulas.worksheets, strict=True):
        if wanted and sheet.title != wanted:
            continue
        cells = _cells(sheet, written, path, problems, raw)
        top = int(header_row or 1)
        first, found = next(((number, row) for number, row in cells if number >= top and any(row)), (1, []))
        names = ["" if name is None else str(name).strip() for name in found]
        if not header and names:
            header = names
            yield first, Cells(header)
        if not names or names != header:
            skipped += [sheet.title] if names else []
            continue
        width = len(header)
        for number, row in cells:
            if any(value not in ("", None) for value in row):
                # A merged cell may reach over the header.
                if any(value not in (None, row[width - 1]) for value in row[width:]):
                    where = f"{split_part(path)[0].name}#{sheet.title}!{number}"
                    what = (
                        f"the cells right of the header are left out; if this row is the header, name it: {where}"
                    )
                    problems.repair(path, number, what)
                lacking = [None] * (width - len(row))
                yield number, Cells([*row[:width], *lacking], [*row.formats[:width], *lacking])
    if not header:
        raise InputError("there are no cells in it", path=path)
    if skipped:
        warnings.warn(f"{path}: sheets with another header are not read: {', '.join(skipped)}", stacklevel=2)


def _open_xlsx(file: IO[bytes], path: Path, *, computed: bool) -> Workbook:
    try:
        import openpyxl
    except ImportError as error:
        raise MissingExtraError("xlsx", purpose="Reading a workbook") from error
    try:
        with zipfile.ZipFile(file) as archive:
            if sum(part.file_size for part in archive.infolist()) > _MAX_BYTES:
                raise InputError(
                    f"more than {_MAX_BYTES >> 20} MB, unpacked: save the sheet as CSV UTF-8", path=path
                )
        # The library prints complaints about damaged styles to standard output, among the results.
        with _LOADING, warnings.catch_warnings(action="ignore"), redirect_stdout(io.StringIO()):
            return openpyxl.load_workbook(file, read_only=True, data_only=computed)
    except InputError:
        raise
    # A damaged part can raise any error in the library, which checks little.
    except Exception as error:
        raise InputError(f"the workbook is damaged or none ({type(error).__name__})", path=path) from error


def _cells(
    sheet: Any, written: Any, path: Path, problems: Problems, raw: bytes | None
) -> Iterator[tuple[int, Cells]]:
    """Yield the rows of a sheet by number, with the values of formulas and of merged cells."""
    # The size that a sheet states may be wrong, or meant to fill the memory.
    sheet.reset_dimensions()
    written.reset_dimensions()
    try:
        merged = _Merged(_merged_areas(path, raw, sheet))
        pairs = zip(sheet.iter_rows(), written.iter_rows(values_only=True), strict=False)
        for number, (row, source) in enumerate(pairs, start=1):
            if number > _MOST_ROWS:
                what = f"sheet {sheet.title!r} is damaged (a row has a number above {_MOST_ROWS:,})"
                problems.reject(path, None, f"{what}: nothing after this can be read")
                return
            formats = [None if cell.value is None else str(cell.number_format) for cell in row]
            cells = Cells(map(_value, row, formats), formats)
            for value, formula in zip(cells, source, strict=False):
                if value is None and isinstance(formula, str) and formula.startswith("="):
                    what = f"the formula {formula[:40]!r} in sheet {sheet.title!r} was never computed"
                    problems.repair(path, number, f"{what}: its cell was read as empty")
            merged.fill(number, cells)
            yield number, cells
    # Whatever a damaged part makes of the library: it checks little itself.
    except Exception as error:
        what = f"sheet {sheet.title!r} is damaged ({type(error).__name__})"
        problems.reject(path, None, f"{what}: nothing after this can be read")


def _value(cell: Any, number_format: str | None) -> Any:
    """Return the value of a cell; a day without a time of day is stored as midnight, and shown as a date."""
    value = cell.value
    if isinstance(value, datetime) and number_format is not None:
        from openpyxl.styles.numbers import is_datetime

        return value.date() if is_datetime(number_format) == "date" else value
    return value


def _merged_areas(path: Path, raw: bytes | None, sheet: Any) -> Iterator[tuple[int, int, int, int]]:
    """Yield the first row and column and the last row and column of each merged cell; the library skips them."""
    with (
        _file(path, raw) as file,
        zipfile.ZipFile(file) as archive,
        archive.open(sheet._worksheet_path) as part,
    ):
        kept = b""
        while piece := part.read(_PIECE_BYTES):
            kept += piece
            end = 0
            for match in _MERGED.finditer(kept):
                end = match.end()
                yield int(match[2]), _column(match[1]), int(match[4]), _column(match[3])
            kept = kept[max(end, len(kept) - _LONGEST_TAG) :]


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + letter - ord("A") + 1
    return number


class _Merged:
    """Merged cells of one sheet, read row by row."""

    def __init__(self, areas: Iterator[tuple[int, int, int, int]]) -> None:
        self._waiting = sorted(areas, reverse=True)
        self._open: list[tuple[int, int, int, tuple[Any, str | None]]] = []

    def fill(self, number: int, cells: Cells) -> None:
        """Put the values of the merged cells that cover a row into it."""
        formats = list(cells.formats)
        self._open = [area for area in self._open if area[1] >= number]
        while self._waiting and self._waiting[-1][0] <= number:
            _, left, bottom, right = self._waiting.pop()
            value = cells[left - 1] if left <= len(cells) else None
            # Merged cells overlap only in files made to take long.
            if value is not None and not any(area[0] <= right and left <= area[2] for area in self._open):
                self._open.append((left, bottom, right, (value, formats[left - 1])))
        for left, _, right, merged in self._open:
            for row, content in zip((cells, formats), merged, strict=True):
                row += [None] * (min(right, _MOST_COLUMNS) - len(row))
                row[left - 1 : right] = [content] * (min(right, len(row)) - left + 1)
        cells.formats = formats


def table_cells(path: Path, problems: Problems, raw: bytes | None = None) -> Iterator[tuple[int, Cells]] | None:
    """Yield the header and the rows of a table, each with its number; ``None`` for a file that is neither.

    Args:
        path: the file.
        problems: receives reports of damage.
        raw: its bytes, if they are already read.

    Raises:
        InputError: the file is damaged, as soon as it is read.
        MissingExtraError: openpyxl is not installed.
    """
    if is_workbook(path, raw):
        return xlsx_rows(path, problems, raw)
    return parquet_rows(path, problems, raw) if is_parquet(path, raw) else None
