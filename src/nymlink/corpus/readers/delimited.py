"""Rows of CSV and TSV files, with true line numbers, that one stray quotation mark cannot spoil."""

from __future__ import annotations

import csv
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from nymlink.problems import Problems

_LONGEST_ROW: Final = 100
"""Lines that one row may run over; a quotation mark not closed by then was never meant to open a field."""

_QUOTED: Final = re.compile(r'"(?:[^"]|"")*"')


def delimiter_of(line: str) -> str:
    """The delimiter of a table, told by its first line; a tab where there is but one column."""
    if "\t" in line or not re.search("[,;]", line):
        return "\t"
    return max(",;", key=line.count)


def split_rows(
    lines: Iterable[tuple[int, str]], *, delimiter: str, path: Path, problems: Problems
) -> Iterator[tuple[int, list[str]]]:
    """Yield ``(number of the first line, cells)`` of each row; blank lines are passed over.

    In CSV a quoted field may run over several lines. In TSV a row is a line, and quotation marks count only when
    they enclose a whole cell, because most TSV files use none.
    """
    if delimiter == "\t":
        for number, line in lines:
            if line.strip():
                yield number, [_unquoted(cell) for cell in line.split("\t")]
        return
    source = iter(lines)
    ahead: deque[tuple[int, str]] = deque()

    def following() -> tuple[int, str] | None:
        return ahead.popleft() if ahead else next(source, None)

    while (first := following()) is not None:
        if not first[1].strip():
            continue
        taken = [first]
        cells, is_open = _parse(taken, delimiter)
        while is_open and len(taken) < _LONGEST_ROW and (another := following()) is not None:
            taken.append(another)
            cells, is_open = _parse(taken, delimiter)
        if cells is None:
            problems.reject(path, first[0], "its quotation marks are not closed as CSV wants it")
            ahead.extendleft(reversed(taken[1:]))
        else:
            yield first[0], cells


def _parse(lines: Sequence[tuple[int, str]], delimiter: str) -> tuple[list[str] | None, bool]:
    """The cells of one row, or ``None`` and whether a quoted field is still open at its end."""
    try:
        # Strict, because only then is a field that is still open an error.
        return next(csv.reader([line + "\n" for _, line in lines], delimiter=delimiter, strict=True)), False
    except csv.Error as error:
        return None, "unexpected end" in str(error)


def _unquoted(cell: str) -> str:
    return cell[1:-1].replace('""', '"') if _QUOTED.fullmatch(cell) else cell
