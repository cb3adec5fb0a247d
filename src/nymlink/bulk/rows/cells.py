"""Make rows of the cells of tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from nymlink.bulk.rows.row import Row, RowColumns
from nymlink.core.language_codes import normalise_language

_LONGEST: Final = 1 << 22
"""Characters of a text at most: what is longer is no text of one document."""


def row_of(number: int, values: Mapping[str, Any], columns: RowColumns) -> Row:
    """Make a row of the cells of a table; one without usable text says why.

    Args:
        number: of the row.
        values: column → cell.
        columns: those that are read.
    """
    id = None if columns.id is None else _text(values.get(columns.id))
    language = None if columns.language is None else _text(values.get(columns.language))
    text = _text(values.get(columns.text))
    if text is None:
        return Row(number, id, error=f"no text in {columns.text!r}")
    if len(text) > _LONGEST:
        return Row(number, id, error=f"{len(text):,} characters are too many for a text")
    if language and normalise_language(language) is None:
        return Row(number, id, error=f"{language!r} is no code of a language")
    return Row(number, id, text, language or None)


def _text(value: Any) -> str | None:
    """Write a cell as text that can be stored; ``None`` for one that is no text and no number."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    # No NUL characters, which mark binary data, and no halves of surrogate pairs, which no file can hold.
    return str(value).replace("\0", " ").encode("utf-8", "replace").decode()
