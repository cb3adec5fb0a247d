"""Mentions from lines and from tables, in batches of what there is to read just now."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, Final

from nymlink.delimited import Record, delimiter_of, records
from nymlink.errors import InputError
from nymlink.files import read_batches
from nymlink.problems import Problems

_LONGEST: Final = 100_000
"""Characters in one mention; a longer line is not a mention but a mistake."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Some mentions to link.

    Attributes:
        mentions: their texts.
        rows: the table rows they stand in, where they come from a table.
    """

    mentions: list[str]
    rows: list[Record] | None = None

    def portions(self, size: int) -> Iterator[Batch]:
        """The batch in batches of at most ``size`` mentions."""
        for start in range(0, len(self.mentions), size):
            part = slice(start, start + size)
            yield Batch(self.mentions[part], None if self.rows is None else self.rows[part])


def line_batches(stream: IO[bytes], path: Path, problems: Problems) -> Iterator[Batch]:
    """One mention a line. Blank lines are mentions too, so that output lines up with input."""
    for lines in read_batches(stream, path, problems):
        kept = [line for number, line in lines if _usable(line, path, number, problems)]
        if kept:
            yield Batch(kept)


def table_batches(
    stream: IO[bytes], path: Path, column: str, problems: Problems
) -> tuple[Record, str, Iterator[Batch]]:
    """The header and delimiter of a table, and its rows in batches.

    Args:
        stream: the table.
        path: where it comes from, for messages.
        column: name or 1-based number of the column that holds the mentions.
        problems: gets rows with another number of fields than the header.

    Raises:
        InputError: the table is empty or has no such column.
    """
    lines = _Lines(read_batches(stream, path, problems))
    first = next((line for line in lines if line[1].strip()), (1, ""))
    delimiter = delimiter_of(first[1])
    rows = records(chain([first], lines), delimiter, keep_blank=True)
    header = next(rows, None)
    if header is None:
        raise InputError("the table is empty", path=path)
    return (
        header,
        delimiter,
        _rows(rows, lines, len(header.fields), _place(header.fields, column, path), path, problems),
    )


def _place(header: list[str], column: str, path: Path) -> int:
    if column in header:
        return header.index(column)
    if column.isdecimal() and 1 <= int(column) <= len(header):
        return int(column) - 1
    raise InputError(f"no column {column!r}; the table has: {', '.join(header)}", path=path)


class _Lines:
    """Numbered lines one by one, remembering whether the batch they came in is used up."""

    def __init__(self, batches: Iterator[list[tuple[int, str]]]) -> None:
        self._batches = batches
        self._batch: list[tuple[int, str]] = []
        self._next = 0

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return self

    def __next__(self) -> tuple[int, str]:
        if self.used_up:
            self._batch, self._next = next(self._batches), 0
        self._next += 1
        return self._batch[self._next - 1]

    @property
    def used_up(self) -> bool:
        return self._next == len(self._batch)


def _rows(
    found: Iterator[Record], lines: _Lines, width: int, place: int, path: Path, problems: Problems
) -> Iterator[Batch]:
    rows: list[Record] = []
    for record in found:
        if len(record.fields) != width:
            problems.reject(path, record.line, f"{len(record.fields)} fields instead of {width}")
        elif _usable(record.fields[place], path, record.line, problems):
            if record.as_written:
                problems.repair(path, record.line, "a stray quotation mark: left as it stands")
            rows.append(record)
        if lines.used_up and rows:
            yield _batch(rows, place)
            rows = []
    if rows:
        yield _batch(rows, place)


def _batch(rows: list[Record], place: int) -> Batch:
    return Batch([row.fields[place] for row in rows], rows)


def _usable(mention: str, path: Path, number: int, problems: Problems) -> bool:
    if len(mention) > _LONGEST:
        problems.reject(path, number, f"{len(mention):,} characters are no mention")
        return False
    if "\0" in mention:
        problems.reject(path, number, "binary data: the line holds a NUL character")
        return False
    return True
