"""Records of delimited text: fields quoted as spreadsheets quote them, and stray quotation marks borne."""

from __future__ import annotations

import csv
import io
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nymlink.core.errors import InputError
from nymlink.core.files import MAX_LINE

DELIMITERS: Final = "\t,;|"

_LISTED: Final = 40
"""Headers that a message lists, and characters of each."""

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
    :data:`~nymlink.core.files.MAX_LINE` characters, or not followed by a delimiter, or that would enclose rows of
    a tab-separated table, quote nothing: their line is split at the delimiters alone, and reading goes on with
    the next line.

    Args:
        lines: (line number, line without its end).
        delimiter: what stands between fields.
        keep_blank: whether empty lines and records without any value (",,") are wanted.
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
        if keep_blank or any(map(str.strip, fields)):
            text = "\n".join(line for _, line in taken) if quoted else first[1]
            # Of an empty line the reader says that it has no field.
            yield Record(first[0], fields or [""], text, as_written=not quoted and delimiter != "\t")


def written(fields: Sequence[str], delimiter: str) -> str:
    """A record as spreadsheets write it, without a line's end: quoted where it must be."""
    line = io.StringIO()
    csv.writer(line, delimiter=delimiter, lineterminator="").writerow(fields)
    return line.getvalue()


def listed(headers: Sequence[str]) -> str:
    """The first headers of a table, for a message."""
    shown = ", ".join(header[:_LISTED] for header in headers[:_LISTED])
    return shown + (", …" if len(headers) > _LISTED else "")


def refuse_repeated(headers: Sequence[str], wanted: Collection[str], path: Path, line: int) -> None:
    """See that no header of those that are wanted is that of two columns.

    Raises:
        InputError: one is.
    """
    counts = Counter(headers)
    for header in wanted:
        if counts[header] > 1:
            places = [str(place) for place, other in enumerate(headers, start=1) if other == header]
            raise InputError(
                f"columns {' and '.join(places)} have the same name, {header!r}: rename those that are not meant",
                path=path,
                line=line,
            )
