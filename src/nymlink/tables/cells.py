"""Cells of tables: their text, and checks of mentions and languages in them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from nymlink.core.language_codes import UNKNOWN_LANGUAGE, normalise_language
from nymlink.core.problems import Problems

LONGEST_MENTION: Final = 100_000
"""Most characters of a mention; anything longer is a text or a mistake."""


NO_TEXT: Final = "a list or an object, no text"
"""Why a cell is no mention."""


class Cells(list[Any]):
    """The cells of a row as Python values, with what a workbook or Parquet says of them.

    Args:
        values: the cells.
        formats: number formats of the cells of a workbook; ``None`` for an empty cell.
        batch: rows of Parquet.
        place: index of the row in them.
        sheet: title of the sheet of a header.
    """

    def __init__(
        self,
        values: Iterable[Any],
        formats: Sequence[str | None] = (),
        batch: pa.RecordBatch | None = None,
        place: int = 0,
        sheet: str = "",
    ) -> None:
        super().__init__(values)
        self.formats = formats
        self.batch = batch
        self.place = place
        self.sheet = sheet


def cell_text(value: Any) -> str:
    """Convert a cell to text.

    No value is an empty text. Booleans are ``true`` and ``false``. Whole numbers have no decimals. Dates and times
    are in ISO 8601. Lists and objects are JSON. Halves of surrogate pairs become question marks: no file can hold
    them.
    """
    if value is None:
        return ""
    if type(value).__module__ == "numpy" and not getattr(value, "ndim", 1):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    elif isinstance(value, bool | dict | list):
        value = json.dumps(value, ensure_ascii=False, default=str)
    elif hasattr(value, "isoformat"):
        value = value.isoformat()
    text = str(value)
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


_READ: Final[Mapping[str, Callable[[str], Any]]] = {
    "bool": lambda text: text == "true",
    "int": int,
    "float": float,
    "Decimal": Decimal,
    "date": date.fromisoformat,
    "datetime": datetime.fromisoformat,
    "time": time.fromisoformat,
}
"""Name of a type → its values from the texts of :func:`cell_text`."""


def cell_type(value: Any, format: str | None) -> tuple[str, str | None] | None:
    """Name the type of a cell, with its number format, for :func:`typed_cell`; ``None`` for plain text."""
    if type(value).__module__ == "numpy" and not getattr(value, "ndim", 1):
        value = value.item()
    kind = type(value).__name__
    if kind not in _READ or (isinstance(value, float) and not math.isfinite(value)):
        kind = "str"
    return None if kind == "str" and format is None else (kind, format)


def typed_cell(text: str, kind: str) -> Any:
    """Read the text of a cell as a value of its type; the text itself if it is none."""
    try:
        return _READ[kind](text) if kind in _READ else text
    except (ValueError, ArithmeticError):
        return text


def is_text(value: Any) -> bool:
    """Whether a cell is empty or a simple value (text, boolean, number …), not a list or an object."""
    return not isinstance(value, list | dict)


def mention_fault(text: str) -> str | None:
    """Return the reason why a text cannot be a mention; ``None`` if it can."""
    if len(text) > LONGEST_MENTION:
        return f"{len(text):,} characters are too long for a mention"
    return "binary data: a NUL character" if "\0" in text else None


def language_fault(code: str) -> str | None:
    """Return the reason why a cell is no language code; ``None`` if it is one, or blank."""
    if not code.strip() or normalise_language(code) is not None:
        return None
    return f"{code[:40]!r} is no language code, as 'de' and 'pt-BR' are: taken as unknown"


def cell_language(code: str, path: Path, line: int, problems: Problems) -> str | None:
    """Read the language of a mention from a cell.

    Args:
        code: the cell.
        path: the file, for reports.
        line: the line, for reports.
        problems: receives a report if this is no language code; the row is kept.

    Returns:
        Its code, normalised; ``None`` if it is unknown.
    """
    if (fault := language_fault(code)) is not None:
        problems.repair(path, line, fault)
    return language_of_cell(code)


def language_of_cell(code: str) -> str | None:
    """Normalise the language code of a cell; ``None`` if the cell is blank, or the language unknown."""
    language = normalise_language(code) if code.strip() else None
    return None if language == UNKNOWN_LANGUAGE else language
