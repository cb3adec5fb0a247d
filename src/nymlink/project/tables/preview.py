"""Show how a table would be read, before it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from nymlink.core.problems import Problems
from nymlink.project.tables.columns import find_roles
from nymlink.project.tables.decoding import ClaimMemory, nothing_to_claim
from nymlink.project.tables.sheet import Sheet, read_sheet

_SAMPLES: Final = 3
_ROWS: Final = 5
_LONGEST: Final = 200
"""Characters of a cell that are shown."""


def preview_table(
    raw: bytes,
    name: str,
    *,
    encoding: str | None = None,
    delimiter: str | None = None,
    columns: Mapping[str, str] | None = None,
    claim: ClaimMemory = nothing_to_claim,
) -> dict[str, Any]:
    """Read a table, and describe it as JSON values.

    Args:
        raw: the bytes of the file.
        name: its name.
        encoding: of a text; ``None`` to find it.
        delimiter: as of :func:`~nymlink.project.tables.sheet.read_sheet`.
        columns: which column holds what, where it is not to be guessed.
        claim: as of :func:`~nymlink.project.tables.sheet.read_sheet`.

    Raises:
        InputError: it is no table, or has no such column.
    """
    problems = Problems()
    sheet = read_sheet(raw, name, problems, encoding=encoding, delimiter=delimiter, claim=claim)
    roles, guessed = find_roles(sheet, columns or {})
    header = sheet.header
    return {
        "format": sheet.format,
        "encoding": sheet.encoding,
        "delimiter": sheet.delimiter,
        "guessed": [*sheet.guessed, *guessed],
        "columns": [{"name": column, **_describe(sheet, place)} for place, column in enumerate(header)],
        "column": header[roles.mention],
        **{
            role: None if place is None else header[place]
            for role, place in roles.to_dict().items()
            if role != "mention"
        },
        "rows": [[cell[:_LONGEST] for cell in row] for _, row in sheet.rows[:_ROWS]],
        "total_rows": len(sheet.rows),
        "problems": problems.to_dict(),
    }


def _describe(sheet: Sheet, place: int) -> dict[str, Any]:
    distinct = dict.fromkeys(row[place].strip() for _, row in sheet.rows)
    distinct.pop("", None)
    return {"samples": [cell[:_LONGEST] for cell in list(distinct)[:_SAMPLES]], "distinct": len(distinct)}
