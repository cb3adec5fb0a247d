"""Read the rows of a delimited table by the headers of its columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from nymlink.core.problems import Problems
from nymlink.tables.delimited import parse_records


@dataclass(frozen=True, slots=True)
class Row:
    """Row of a table.

    Attributes:
        line: number of its first line; ``None`` without lines.
        values: header → value, white space trimmed; blank values are left out.
    """

    line: int | None
    values: dict[str, str]

    def get(self, header: str) -> str:
        """Get the value under a header; empty if there is none."""
        return self.values.get(header, "")

    def split(self, header: str) -> list[str]:
        """Split a field of values joined by ``|``."""
        return [value for part in self.get(header).split("|") if (value := part.strip())]


def header_rows(
    lines: Iterable[tuple[int, str]],
    headers: Sequence[str],
    *,
    delimiter: str,
    required: Sequence[str],
    path: Path,
    problems: Problems,
    may_be_short: bool = False,
) -> Iterator[Row]:
    """Yield the rows with the correct number of cells and all required fields; report the others.

    Args:
        lines: the numbered lines after the header.
        headers: the headers.
        delimiter: character between fields.
        required: headers whose fields may not be blank.
        path: the file, for reports.
        problems: receives rows left out, and rows that lack cells.
        may_be_short: whether missing cells at the end of a row are read as empty. Editors leave out empty cells in
            tables that people edit.
    """
    for record in parse_records(lines, delimiter):
        width = len(record.fields)
        if width > len(headers) or (width < len(headers) and not may_be_short):
            problems.reject(path, record.line, f"{width} columns instead of {len(headers)}")
            continue
        fields = zip(headers, map(str.strip, record.fields), strict=False)
        row = Row(record.line, {header: value for header, value in fields if value})
        missing = next((header for header in required if header not in row.values), None)
        if missing is not None:
            problems.reject(path, record.line, f"{missing} is blank")
            continue
        if record.literal_quotes:
            problems.repair(path, record.line, "an unbalanced quotation mark: read as an ordinary character")
        elif width < len(headers):
            problems.repair(
                path, record.line, f"{width} columns instead of {len(headers)}: the others taken as empty"
            )
        yield row
