"""Read the rows of the tables of a project as those of one table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from nymlink.core.delimited import Record, format_record
from nymlink.corpus.model import Mention
from nymlink.linking.model import Link
from nymlink.linking.writers.writer import UserTable
from nymlink.project.export.reviewed_links import ReviewedTerm
from nymlink.project.project import Project
from nymlink.project.stored_json import stored

_FILE: Final = "file"
"""The column that says which file a row is of, where there are several."""


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table.

    Attributes:
        file: number of its file.
        number: its own, in the file.
        term: number of its term; ``None`` where it has none.
        code: of the term.
        frequency: how often the term occurs by this row.
        cells: as its file has them.
        record: its cells, as many as the table has columns.
    """

    file: int
    number: int
    term: int | None
    code: str
    frequency: int
    cells: list[str]
    record: Record


class ProjectTable:
    """All rows of a project, under the columns of all its files; of several files each row says which it is of.

    Attributes:
        layout: its header.
    """

    def __init__(self, project: Project) -> None:
        self._project = project
        with project.reading() as connection:
            files = connection.execute("SELECT id, name, header, reading FROM file ORDER BY id").fetchall()
        self._names = {row["id"]: row["name"] for row in files}
        self._headers = {row["id"]: stored(row["header"]) for row in files}
        readings: dict[int, dict[str, Any]] = {row["id"]: stored(row["reading"]) for row in files}
        headers = list(self._headers.values())
        self._is_uniform = all(header == headers[0] for header in headers)
        self._has_files = len(files) > 1
        header = headers[0] if headers and self._is_uniform else _union(headers)
        self._places = {file: _places(own, header) for file, own in self._headers.items()}
        roles = [reading["columns"] for reading in readings.values()]
        same = self._is_uniform and all(each == roles[0] for each in roles)
        columns = roles[0] if same and roles else {}
        delimiters = {reading["delimiter"] for reading in readings.values()} - {""}
        self.delimiter = delimiters.pop() if len(delimiters) == 1 else ","
        fields = [*header, *([_FILE] if self._has_files else [])]
        self._width = len(header)
        self.layout = UserTable(
            Record(1, fields, format_record(fields, self.delimiter)),
            self.delimiter,
            columns.get("code"),
            columns.get("frequency"),
        )

    def rows(self) -> Iterator[TableRow]:
        """Yield the rows, file by file."""
        for file in self._names:
            with self._project.reading() as connection:
                rows = connection.execute(
                    "SELECT number, term, code, frequency, cells FROM row WHERE file = ? ORDER BY id", (file,)
                ).fetchall()
            for row in rows:
                cells = stored(row["cells"])
                record = self._record(file, row["number"], cells)
                yield TableRow(file, row["number"], row["term"], row["code"], row["frequency"], cells, record)

    def _record(self, file: int, number: int, own: Sequence[str]) -> Record:
        cells = [""] * self._width
        for place, cell in zip(self._places[file], own, strict=True):
            cells[place] = cell
        if self._has_files:
            cells.append(self._names[file])
        return Record(number, cells, format_record(cells, self.delimiter))


def link_of_row(row: TableRow, terms: Mapping[int, ReviewedTerm]) -> Link:
    """Return the link of the term of a row, with its code and frequency; an empty one for a row without a term."""
    if row.term is None:
        return Link(Mention(""), "", nil=True)
    link = terms[row.term].link
    return replace(link, mention=replace(link.mention, id=row.code or None, frequency=row.frequency))


def _union(headers: list[list[str]]) -> list[str]:
    """Join headers: a name that a header has twice is there twice."""
    joined: list[str] = []
    for header in headers:
        for name in dict.fromkeys(header):
            joined += [name] * (header.count(name) - joined.count(name))
    return joined


def _places(header: list[str], joined: list[str]) -> list[int]:
    """Say where each column of a header is in the joined one."""
    places: list[int] = []
    for name in header:
        places.append(next(at for at, other in enumerate(joined) if other == name and at not in places))
    return places
