"""Records of delimited text: fields quoted as spreadsheets quote them, and stray quotation marks borne."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

_LONGEST: Final = 100
DELIMITERS: Final = "\t,;|"


@dataclass(frozen=True, slots=True)
class Record:
    """One record.

    Attributes:
        line: number of the line it begins on.
        fields: its values.
        text: the lines it was written on, as they are, without the last line's end.
        as_written: whether its quotation marks made no sense and were left as they stand. (Not said of
            tab-separated text, where most writers quote nothing.)
    """

    line: int
    fields: list[str]
    text: str = ""
    as_written: bool = False


def delimiter_of(line: str) -> str:
    """The delimiter of a table, told by its first line: that which occurs most, a tab before any other."""
    return "\t" if "\t" in line else max(DELIMITERS, key=line.count)


def records(lines: Iterable[tuple[int, str]], delimiter: str, *, keep_blank: bool = False) -> Iterator[Record]:
    """Parse numbered lines into records; empty lines are passed over, and so are records without any value.

    A quoted field may hold line breaks. Quotation marks that are not closed within 100 lines, or not followed by
    a delimiter, or that would enclose rows of a tab-separated table, quote nothing: their line is split at the
    delimiters alone, and reading goes on with the next line.

    Args:
        lines: (line number, line without its end).
        delimiter: what stands between fields.
        keep_blank: whether records without any value (",,") are wanted.
    """
    source = iter(lines)
    waiting: deque[tuple[int, str]] = deque()
    taken: list[tuple[int, str]] = []

    def feed() -> Iterator[str]:
        while len(taken) < _LONGEST:
            line = waiting.popleft() if waiting else next(source, None)
            if line is None:
                return
            taken.append(line)
            yield line[1] + "\n"

    while True:
        taken.clear()
        try:
            # The reader asks for another line only when a quoted field is still open.
            fields = next(csv.reader(feed(), delimiter=delimiter, skipinitialspace=True, strict=True), None)
            quoted = delimiter != "\t" or not any("\t" in field and "\n" in field for field in fields or ())
        except csv.Error:
            quoted = False
        if not taken:
            return
        if not quoted:
            waiting.extendleft(reversed(taken[1:]))
            fields = taken[0][1].split(delimiter)
        if fields and (any(map(str.strip, fields)) or (keep_blank and len(fields) > 1)):
            text = "\n".join(line for _, line in taken) if quoted else taken[0][1]
            yield Record(taken[0][0], fields, text, as_written=not quoted and delimiter != "\t")
