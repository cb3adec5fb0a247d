"""Read mentions from lines and tables as they come, in batches."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, Final

from nymlink.core.delimited import (
    Record,
    format_record,
    guess_delimiter,
    list_headers,
    parse_records,
    restore_cell,
)
from nymlink.core.errors import InputError
from nymlink.core.files import has_bom, read_batches
from nymlink.core.problems import Problems
from nymlink.corpus.documents import Mention
from nymlink.corpus.foreign_formats import describe_format
from nymlink.corpus.readers.common import mention_language
from nymlink.corpus.readers.tables.mention_rows import likely_mention, say_delimiter

_LONGEST: Final = 100_000
"""Characters of a mention at most; a longer line is a mistake."""

_CELLS: Final = 1000
"""Rows of a workbook or of Parquet in a batch."""

_LOOKED_AT: Final = 20
"""Lines by which a table is recognised."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Some mentions to link.

    Attributes:
        mentions: the mentions.
        rows: the table rows they stand in, where they come from a table.
    """

    mentions: list[Mention]
    rows: list[Record] | None = None

    def portions(self, size: int) -> Iterator[Batch]:
        """Split the batch into batches of at most ``size`` mentions."""
        for start in range(0, len(self.mentions), size):
            part = slice(start, start + size)
            yield Batch(self.mentions[part], None if self.rows is None else self.rows[part])


@dataclass(frozen=True, slots=True)
class InputTable:
    """A table to add columns to.

    Attributes:
        header: its header.
        delimiter: the character between fields.
        code: index of the column of codes; ``None`` where none is named.
        frequency: index of the column of frequencies; ``None`` where none is named.
        batches: its rows. All have as many fields as the header; their texts are as they were written, or
            as they must be so that fields can be added.
    """

    header: Record
    delimiter: str
    code: int | None
    frequency: int | None
    batches: Iterator[Batch]


def line_batches(stream: IO[bytes], path: Path, problems: Problems) -> Iterator[Batch]:
    """Read a mention from each line; blank lines are mentions too, so that output lines up with input."""
    is_first = True
    for lines in read_batches(stream, path, problems):
        if is_first:
            _warn_of_header([line for _, line in lines], path)
            is_first = False
        kept = [Mention(line) for number, line in lines if _usable(line, path, number, problems)]
        if kept:
            yield Batch(kept)


def open_table(
    stream: IO[bytes], path: Path, column: str, problems: Problems, *, further: Mapping[str, str]
) -> InputTable:
    """Read the header of a table and, in batches, its rows.

    A row that cannot be linked has an empty mention: a row with another number of fields than the header, or whose
    mention is too long or binary.

    Args:
        stream: the table.
        path: where it comes from, for messages.
        column: name or 1-based number of the column that holds the mentions.
        problems: gets rows that cannot be linked, and cells of the language column that are no language code.
        further: names or 1-based numbers of columns with their ``language``, ``code`` and ``frequency``.

    Raises:
        InputError: the table is empty or has no such column, or several.
    """
    mark = "\ufeff" if has_bom(stream) else ""
    lines = _Lines(read_batches(stream, path, problems))
    first = next((line for line in lines if line[1].strip()), (1, ""))
    delimiter = guess_delimiter(first[1])
    table_rows = parse_records(chain([first], lines), delimiter, keep_blank=True)
    header = next(table_rows)
    say_delimiter(path, delimiter, header.fields)
    if not any(map(str.strip, header.fields)):
        raise InputError("the table is empty", path=path)
    places = _places(header.fields, column, further, path)
    shape = _Shape.of(header.fields, places, delimiter, _out_delimiter(header, path))
    header = replace(header, text=mark + shape.text(header))
    batches = _batches(table_rows, lines, shape, path, problems)
    return InputTable(header, shape.out_delimiter, places.get("code"), places.get("frequency"), batches)


def open_cells(
    rows: Iterator[tuple[int, list[Any]]],
    path: Path,
    column: str,
    problems: Problems,
    *,
    further: Mapping[str, str],
) -> InputTable:
    """Make a table of the cells of a workbook or of Parquet, as :func:`open_table` does of text.

    Args:
        rows: the header and the rows, each with its number.
        path: where they come from, for messages.
        column: name or 1-based number of the column that holds the mentions.
        problems: gets rows that cannot be linked, and cells of the language column that are no language code.
        further: names or 1-based numbers of columns with their ``language``, ``code`` and ``frequency``.

    Raises:
        InputError: the table has no such column, or several.
    """
    records = (Record(number, fields := list(map(_text, row)), format_record(fields, ",")) for number, row in rows)
    header = next(records)
    places = _places(header.fields, column, further, path)
    shape = _Shape.of(header.fields, places, ",", ",")

    def batches() -> Iterator[Batch]:
        while portion := list(islice(records, _CELLS)):
            mentions, rows = zip(*(_row(record, shape, path, problems) for record in portion), strict=True)
            yield Batch(list(mentions), list(rows))

    return InputTable(header, ",", places.get("code"), places.get("frequency"), batches())


def _text(value: Any) -> str:
    """Write a cell as text: nothing for none, a whole number without decimals."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value)


@dataclass(frozen=True, slots=True)
class _Shape:
    """The layout of a table.

    Attributes:
        width: its number of columns.
        place: index of the column of mentions.
        language_place: index of the column of their languages; ``None`` where there is none.
        delimiter: the character between fields.
        out_delimiter: the character between fields when columns are added.
    """

    width: int
    place: int
    language_place: int | None
    delimiter: str
    out_delimiter: str

    @classmethod
    def of(cls, header: list[str], places: Mapping[str, int], delimiter: str, out_delimiter: str) -> _Shape:
        """Describe a table by its header and the places of its columns."""
        return cls(len(header), places["mention"], places.get("language"), delimiter, out_delimiter)

    def text(self, row: Record) -> str:
        """Return a row as it was written, or quoted where added columns would be swallowed or misread."""
        other = self.delimiter != self.out_delimiter and any(
            mark in row.text for mark in ('"', self.out_delimiter)
        )
        return format_record(row.fields, self.out_delimiter) if row.literal_quotes or other else row.text

    def fitted(self, row: Record) -> Record:
        """Give a row as many fields as the header: missing ones are empty, the last one takes all beyond it."""
        lacking = self.width - len(row.fields)
        if lacking >= 0:
            return replace(
                row, fields=row.fields + [""] * lacking, text=self.text(row) + self.out_delimiter * lacking
            )
        last = self.width - 1
        beyond = row.fields[last:]
        joined = self.delimiter.join(beyond) if row.literal_quotes else format_record(beyond, self.delimiter)
        fields = [*row.fields[:last], joined]
        return replace(row, fields=fields, text=format_record(fields, self.out_delimiter))


def _out_delimiter(header: Record, path: Path) -> str:
    """Return the delimiter for added columns; for a table of one column the ending of its name decides."""
    if len(header.fields) > 1:
        return guess_delimiter(header.text)
    return "\t" if _ending(path) == ".tsv" else ","


def _places(header: list[str], column: str, further: Mapping[str, str], path: Path) -> dict[str, int]:
    """Find the columns that are named, that of the mentions as ``mention``."""
    others = {name: _place(header, given, path, f"--map-column {name}=") for name, given in further.items()}
    return {"mention": _place(header, column, path, "--column "), **others}


def _place(header: list[str], column: str, path: Path, option: str) -> int:
    """Return the index of a column; ``option`` is what it is asked for with, for messages."""
    places = [place for place, name in enumerate(header) if column in (name, name.strip())]
    if len(places) > 1:
        numbers = [str(place + 1) for place in places]
        raise InputError(
            f"columns {' and '.join(numbers)} have the same name, {column!r}: give the number of the one that is "
            f"meant, for example {option}{numbers[0]}",
            path=path,
        )
    if places:
        return places[0]
    if column.isdecimal() and 1 <= int(column) <= len(header):
        return int(column) - 1
    example = shlex.quote(likely_mention(header).strip())
    raise InputError(
        f"no column {column!r}; the table has: {list_headers(header)} (for example {option}{example})", path=path
    )


class _Lines:
    """Numbered lines one by one, with a note of whether the batch they came in is used up."""

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


def _batches(
    table_rows: Iterator[Record], lines: _Lines, shape: _Shape, path: Path, problems: Problems
) -> Iterator[Batch]:
    mentions: list[Mention] = []
    rows: list[Record] = []
    for record in table_rows:
        # Of a table with one column an empty line is a row.
        if shape.width == 1 or record.text.strip():
            mention, row = _row(record, shape, path, problems)
            mentions.append(mention)
            rows.append(row)
        if lines.used_up and rows:
            yield Batch(mentions, rows)
            mentions, rows = [], []
    if rows:
        yield Batch(mentions, rows)


def _row(record: Record, shape: _Shape, path: Path, problems: Problems) -> tuple[Mention, Record]:
    """Return the mention of a row, empty where it cannot be linked, and the row as it is to be written."""
    if len(record.fields) != shape.width:
        message = f"{len(record.fields)} fields instead of {shape.width}"
        problems.reject(path, record.line, message, outcome="not linked")
        return Mention(""), shape.fitted(record)
    text = restore_cell(record.fields[shape.place])
    if not _usable(text, path, record.line, problems, outcome="not linked"):
        text = ""
    elif record.literal_quotes:
        problems.repair(path, record.line, "an unbalanced quotation mark: read as an ordinary character")
    language = None
    if shape.language_place is not None:
        language = mention_language(record.fields[shape.language_place], path, record.line, problems)
    return Mention(text, language=language), replace(record, text=shape.text(record))


def _usable(mention: str, path: Path, number: int, problems: Problems, *, outcome: str = "left out") -> bool:
    if len(mention) > _LONGEST:
        problems.reject(path, number, f"{len(mention):,} characters are too long for a mention", outcome=outcome)
        return False
    if "\0" in mention:
        problems.reject(path, number, "binary data: the line holds a NUL character", outcome=outcome)
        return False
    return True


def _warn_of_header(lines: list[str], path: Path) -> None:
    """Warn where lines look like a table or another format: each is linked as a mention, the header too."""
    if description := describe_format("\n".join(lines[:_LOOKED_AT])):
        warnings.warn(f"{path}: {description}; here each line is linked as a mention", stacklevel=1)
        return
    lines = [line for line in lines if line.strip()][:_LOOKED_AT]
    if not lines or not (_ending(path) or _look_like_rows(lines)):
        return
    header = lines[0].split(guess_delimiter(lines[0]))
    header = [name.strip().strip('"') for name in header]
    example = shlex.quote(likely_mention(header))
    warnings.warn(
        f"{path}: this looks like a table: each line is linked as a mention, the header ({list_headers(header)}) "
        f"too; to link a column, add --column and its name, for example --column {example}",
        stacklevel=1,
    )


def _look_like_rows(lines: list[str]) -> bool:
    """Whether lines have the same number of fields, as a table has; "Cancer, Lung" is no row of one."""
    delimiter = guess_delimiter(lines[0])
    widths = {len(record.fields) for record in parse_records(enumerate(lines), delimiter)}
    return len(lines) > 1 and len(widths) == 1 and widths != {1} and f"{delimiter} " not in lines[0]


def _ending(path: Path) -> str:
    """Return the ending of a file name where it is that of a table, else an empty string."""
    ending = Path(path.name.lower().removesuffix(".gz")).suffix
    return ending if ending in (".csv", ".tsv") else ""
