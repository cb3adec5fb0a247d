"""The layout of a table of text: encoding, delimiter and columns."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from nymlink.core.encodings import WINDOWS_1252, describe_utf16, detect_utf16, encoding_of
from nymlink.core.files import open_bytes, read_head
from nymlink.tables.delimited import delimiter_guess, open_table_lines, restore_cell

_LOOKED_AT: Final = 1 << 20
"""Bytes read to detect the encoding."""


@dataclass(frozen=True, slots=True)
class TableLayout:
    """The layout of a table of text.

    Attributes:
        encoding: detected in its beginning: ``"UTF-8"``, ``"UTF-16"`` or ``"Windows-1252"``.
        delimiter: the character between fields.
        columns: the fields of its first line, usually its header.
        guesses: what is guessed, a sentence each.
    """

    encoding: str
    delimiter: str
    columns: tuple[str, ...]
    guesses: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def table_layout(path: Path) -> TableLayout:
    """Describe a CSV or TSV file, plain or gzip, by its beginning.

    Raises:
        InputError: the file is missing, a directory, or compressed in another way.
    """
    with open_bytes(path) as file:
        head = file.read(_LOOKED_AT)
    guesses = []
    encoding = encoding_of(head)
    if encoding == WINDOWS_1252:
        guesses.append("its beginning is not UTF-8: such lines are read as Windows-1252")
    elif (codec := detect_utf16(head)) is not None and codec != "utf-16":
        guesses.append(describe_utf16(head))
    table = open_table_lines(enumerate(read_head(path).split("\n"), 1))
    delimiter = table.delimiter
    columns = () if table.header is None else tuple(restore_cell(field).strip() for field in table.header.fields)
    if not table.stated and (guess := delimiter_guess(path, delimiter, columns)) is not None:
        guesses.append(guess)
    return TableLayout(encoding, delimiter, columns, tuple(guesses))
