"""Rows of workbooks (XLSX).

Of a formula the value is read that the program which saved the file computed. A merged cell has its value in each
row and column that it covers.

Without a name, the sheet that looks most like a table is read: the one with the most rows and columns. Sheets with
the same header continue it. Other sheets, and hidden ones, are not read. Titles above the header are left out.

``visits.xlsx#Sheet2`` is one sheet of a workbook, ``visits.xlsx#Sheet2!4`` the table on it whose header is in row
4, and ``visits.xlsx#!4`` the table with a header in row 4 on the sheet that is found.
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
from itertools import chain, islice
from pathlib import Path
from statistics import median_high
from typing import IO, TYPE_CHECKING, Any, Final

from nymlink.core.errors import InputError, MissingExtraError
from nymlink.core.files import open_buffered, split_part
from nymlink.core.problems import Problems
from nymlink.tables.cells import Cells
from nymlink.tables.columns import is_mention
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
_SCORED: Final = 1000
"""Rows of each sheet by which the sheet with the table is found."""
_HEAD: Final = 50
"""Rows by which the header is told from titles above it."""
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
    wanted, row = ("", None) if match is None else match.groups()
    top = int(row) if row else None
    sheets = {pair[0].title: pair for pair in zip(values.worksheets, formulas.worksheets, strict=True)}
    if wanted and wanted not in sheets:
        raise InputError(f"no sheet {wanted[:40]!r}; the workbook has: {list_headers(list(sheets))}", path=path)

    def table(title: str, found: Problems) -> _Table:
        return _Table(_cells(*sheets[title], path, found, raw), top)

    visible = [title for title, (sheet, _) in sheets.items() if sheet.sheet_state == "visible"] or list(sheets)
    chosen = wanted or (
        visible[0] if len(visible) == 1 else max(visible, key=lambda it: table(it, Problems()).size)
    )
    first = table(chosen, Problems())
    if not first.header:
        hidden = [title for title in sheets if title not in visible]
        to_do = f"; name a hidden one: {list_headers(hidden)}" if hidden and not wanted else ""
        raise InputError(f"there are no cells in sheet {chosen[:40]!r}{to_do}", path=path)
    yield first.number, Cells(first.header, sheet=chosen)
    skipped = [title for title in sheets if title not in visible]
    for title in [wanted] if wanted else visible:
        read = table(title, problems)
        if read.header != first.header:
            skipped += [title] if read.header else []
            continue
        width = len(first.header)
        for number, cells in read.rows:
            if any(value not in ("", None) for value in cells):
                # A merged cell may reach over the header.
                if any(value not in (None, cells[width - 1]) for value in cells[width:]):
                    where = f"{split_part(path)[0].name}#{title}!{number}"
                    what = (
                        f"the cells right of the header are left out; if this row is the header, name it: {where}"
                    )
                    problems.repair(path, number, what)
                lacking = [None] * (width - len(cells))
                yield number, Cells([*cells[:width], *lacking], [*cells.formats[:width], *lacking])
    if skipped and not wanted:
        what = f"sheet {chosen!r} is read; sheets that are hidden or have another header are not read"
        warnings.warn(f"{path}: {what}: {', '.join(skipped)}", stacklevel=2)


class _Table:
    """The table on a sheet.

    Args:
        cells: the rows of the sheet, by number.
        top: number of the row of the header; ``None`` to find it.
    """

    def __init__(self, cells: Iterator[tuple[int, Cells]], top: int | None) -> None:
        filled = ((number, row) for number, row in cells if number >= (top or 1) and any(row))
        head = list(islice(filled, _HEAD))
        place = _header_place(head) if top is None else 0
        self.number, found = head[place] if head else (1, Cells(()))
        self.header = ["" if name is None else str(name).strip() for name in found]
        self.rows = chain(head[place + 1 :], cells)

    @property
    def size(self) -> int:
        """Size of the beginning of the table: a row counts by the square of its number of cells.

        So a table of findings has more than a list of codes with their meanings, or than lines of an explanation.
        """
        width = len(self.header)
        return sum(_count(row[:width]) ** 2 for _, row in islice(self.rows, _SCORED))


def _count(row: list[Any]) -> int:
    return sum(value not in ("", None) for value in row)


def _header_place(numbered: list[tuple[int, Cells]]) -> int:
    """Return the place of the header among the first rows.

    Titles above it fill at most half of the cells. Names of groups of columns are fewer than the names of columns,
    which stand above values that are no text. In a single column, an empty row follows a title.
    """
    head = [row for _, row in numbered]
    usual = median_high(map(_count, head)) if head else 0
    if usual == 1 and len(head) > 2 and numbered[1][0] > numbered[0][0] + 1:
        return 1
    for place, row in enumerate(head):
        names = {value for value in row if value not in ("", None)}
        if 2 * len(names) <= usual and not any(isinstance(name, str) and is_mention(name) for name in names):
            continue
        # Numbers are values: then the first row was the header, of few names.
        if not all(isinstance(name, str) for name in names):
            return 0
        below = head[place + 1 :]
        return (
            place + 1 if below and _count(below[0]) > len(names) and _names_columns(below[0], below[1:]) else place
        )
    return 0


def _names_columns(row: Cells, below: list[Cells]) -> bool:
    """Whether a row has only texts, one of them above values that are no text."""
    if not all(isinstance(cell, str | None) for cell in row):
        return False
    columns = ([each[place] for each in below if _count(each[place : place + 1])] for place in range(len(row)))
    return any(values and not any(isinstance(value, str) for value in values) for values in columns)


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
