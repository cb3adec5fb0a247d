"""Tell what a file to annotate is: a text, lines of texts, a table of mentions, or a corpus."""

from __future__ import annotations

import json
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from nymlink.core.delimited import guess_delimiter
from nymlink.core.errors import InputError, UnknownFormatError
from nymlink.core.files import read_head
from nymlink.core.formats import find_format
from nymlink.corpus.readers import CORPUS_FORMATS
from nymlink.corpus.readers.columns import are_mentions
from nymlink.corpus.readers.common import first_lines

PLAIN: Final = "text"
JSON_LINES: Final = "jsonl"
"""Formats of texts without mentions: a file that is a document; a JSON object with ``id`` and ``text`` a line."""

_JSON_ENDINGS: Final = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
_TABLE: Final = "table"
_TABLE_ENDINGS: Final = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
_MENTION_FORMATS: Final = frozenset({"lines", _TABLE})
"""Formats of mentions that would take any text for theirs."""


def format_of_texts(path: Path) -> str:
    """Tell the format of a file or folder by its content."""
    if path.is_file() and (found := _rows_format(path)) is not None:
        return found
    if not path.is_dir() and not path.is_file():
        # A pipe can be read only once.
        return PLAIN
    # What is no text, as a workbook, is read by its reader.
    with suppress(InputError):
        if not path.is_dir() and not read_head(path).strip():
            return PLAIN
    with suppress(UnknownFormatError):
        name = find_format(CORPUS_FORMATS, path).name
        if name not in _MENTION_FORMATS:
            return name
        if name == _TABLE and path.name.lower().endswith(_TABLE_ENDINGS):
            warnings.warn(
                f"{path}: this looks like a table, and is annotated as one text. Where its rows are mentions, "
                "give --input-format table; where they are texts, make them JSON lines with id and text; to link "
                "a column, `nymlink link --column`",
                stacklevel=2,
            )
    return PLAIN


def _rows_format(path: Path) -> str | None:
    """Tell a file of texts or of mentions, each in a line, by its first line; ``None`` for any other."""
    with suppress(InputError):
        line = next(iter(first_lines(read_head(path))), "")
        if line.lstrip().startswith("{"):
            values = json_value(line)
            if isinstance(values, dict) and are_mentions(list(values)):
                return _TABLE
            # An object may be longer than the beginning of the file.
            return JSON_LINES if path.name.lower().endswith(_JSON_ENDINGS) and '"text"' in line else None
        if are_mentions([cell.strip().strip('"') for cell in line.split(guess_delimiter(line))]):
            return _TABLE
    return None


def json_value(line: str) -> Any:
    """Parse a line of JSON; ``None`` where it is none."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
