"""Records of delimited text: fields quoted as spreadsheets quote them, and stray quotation marks borne."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from nymlink.files import MAX_LINE

DELIMITERS: Final = "\t,;|"

# A cell may be as long as a line; the default, an eighth of a megabyte, is less than clinical notes take.
csv.field_size_limit(max(csv.field_size_limit(), MAX_LINE))


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

    A quoted field may hold line breaks. Quotation marks that are not closed within
    :data:`~nymlink.files.MAX_LINE` characters, or not followed by a delimiter, or that would enclose rows of a
    tab-separated table, quote nothing: their line is split at the delimiters alone, and reading goes on with the
    next line.

    Args:
        lines: (line number, line without its end).
        delimiter: what stands between fields.
        keep_blank: whether records without any value (",,") are wanted.
    """
    source = iter(lines)
    waiting: deque[tuple[int, str]] = deque()
    taken: list[tuple[int, str]] = []

    def feed() -> Iterator[str]:
        size = 0
        while True:
            yield taken[-1][1] + "\n"
            size += len(taken[-1][1]) + 1
            # Those that wait were looked through for an earlier line: what is open at their end is never closed.
            line = None if waiting or size > MAX_LINE else next(source, None)
            if line is None:
                return
            taken.append(line)
            if delimiter == "\t" and "\t" in line[1].partition('"')[0]:
                return

    while (first := waiting.popleft() if waiting else next(source, None)) is not None:
        taken[:] = [first]
        try:
            # The reader asks for another line only when a quoted field is still open.
            fields = next(csv.reader(feed(), delimiter=delimiter, skipinitialspace=True, strict=True))
            quoted = True
        except csv.Error:
            waiting.extend(taken[1:])
            fields, quoted = first[1].split(delimiter), False
        if any(map(str.strip, fields)) or (keep_blank and len(fields) > 1):
            text = "\n".join(line for _, line in taken) if quoted else first[1]
            yield Record(first[0], fields, text, as_written=not quoted and delimiter != "\t")
