"""Tables with ids of concepts: read with all their columns, and written with others added or replaced."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from nymlink.core.errors import OutputError
from nymlink.core.files import open_buffered
from nymlink.core.problems import Problems
from nymlink.core.store.atomic import atomic_file
from nymlink.tables.columns import column_place
from nymlink.tables.delimited import format_record, protect_cell
from nymlink.tables.sheet import read_sheet

_DELIMITERS = {".csv": ",", ".tsv": "\t", ".txt": "\t"}


@dataclass(frozen=True, slots=True)
class CodedTable:
    """A table in memory.

    Attributes:
        path: its file.
        header: names of its columns.
        rows: line or number of each row, and its cells, one for each column.
    """

    path: Path
    header: Sequence[str]
    rows: Sequence[tuple[int, list[str]]]

    @classmethod
    def read(cls, path: Path, problems: Problems) -> Self:
        """Read CSV, TSV, JSON lines, XLSX or Parquet.

        Raises:
            InputError: it is no table.
        """
        with open_buffered(path) as stream:
            sheet = read_sheet(stream.read(), path.name, problems)
        return cls(path, sheet.header, sheet.rows)

    def place(self, column: str, option: str) -> int:
        """Find a column by name or number, as :func:`~nymlink.tables.columns.column_place`."""
        return column_place(self.header, column, self.path, option)

    def with_columns(
        self, names: Sequence[str], added: Mapping[int, Sequence[str]]
    ) -> tuple[list[str], Iterator[list[str]]]:
        """Add columns at the end: the header, and the rows.

        Args:
            names: names of the columns; one that the table has already gets an underscore.
            added: row number → its cells of these columns; rows that are missing get empty cells.
        """
        new = [name if name not in self.header else f"{name}_" for name in names]
        empty = [""] * len(names)
        return [*self.header, *new], ([*cells, *added.get(number, empty)] for number, cells in self.rows)


def table_lines(header: Sequence[str], rows: Iterable[Sequence[str]], path: Path | None) -> Iterator[str]:
    """Write rows as lines: CSV for a file of that ending, else TSV. No cell is a formula of a spreadsheet.

    Raises:
        OutputError: the file has the ending of another format.
    """
    delimiter = "\t" if path is None else _DELIMITERS.get(path.suffix.lower())
    if delimiter is None:
        raise OutputError(f"tables are written as {', '.join(_DELIMITERS)}, not as {path.suffix!r}", path=path)  # type: ignore[union-attr]
    for cells in (header, *rows):
        yield format_record([protect_cell(cell) for cell in cells], delimiter)


def write_table(header: Sequence[str], rows: Iterable[Sequence[str]], path: Path) -> None:
    """Write a table to a file, which is replaced in one step; see :func:`table_lines`."""
    lines = table_lines(header, rows, path)
    first = next(lines)
    with atomic_file(path) as partial, partial.open("w", encoding="utf-8", newline="") as file:
        file.write(f"{first}\n")
        file.writelines(f"{line}\n" for line in lines)
