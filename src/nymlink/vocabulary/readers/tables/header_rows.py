"""Read the rows of a table by the headers of its columns, and tell names from markers of missing values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nymlink.core.language_codes import UNKNOWN_LANGUAGE
from nymlink.core.problems import Problems
from nymlink.tables.delimited import parse_records
from nymlink.vocabulary.tables import TableBuilder, Tables

_NULLS: Final = frozenset({"\\N", "NULL", "N/A", "n/a", "#N/A", "<NA>", "-"})
# These are also the names of a gene, of sodium and of sodium nitride.
_MAY_BE_NULLS: Final = frozenset({"nan", "NaN", "NAN", "NA", "null", "None"})


class NamesBuilder(TableBuilder):
    """A builder for tables of any origin, in which programs write markers for missing values.

    ``NULL``, ``N/A``, ``-`` and similar are never names. ``nan``, ``NA`` and similar are names unless several
    concepts have them: a real name of that form is the name of one concept.

    Args:
        path: the table, for the report.
        problems: receives one report, with the number of names left out.
    """

    def __init__(self, path: Path, problems: Problems) -> None:
        super().__init__()
        self._path = path
        self._problems = problems
        self._left_out: Counter[str] = Counter()
        self._doubtful: dict[str, set[tuple[str, str, str]]] = {}

    def name(self, concept_id: str, text: str, *, lang: str = UNKNOWN_LANGUAGE, kind: str = "exact") -> None:
        if text in _NULLS:
            self._left_out[text] += 1
            return
        if text in _MAY_BE_NULLS:
            self._doubtful.setdefault(text, set()).add((concept_id, text, lang))
        super().name(concept_id, text, lang=lang, kind=kind)

    def build(self) -> Tables:
        for text, names in self._doubtful.items():
            if len({concept_id for concept_id, _, _ in names}) > 1:
                self._left_out[text] += len(names)
                for name in names:
                    del self._names[name]
        if self._left_out:
            markers = ", ".join(sorted(self._left_out))
            message = f"{self._left_out.total():,} names are markers of missing values ({markers}): left out"
            self._problems.repair(self._path, None, message)
        return super().build()


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
