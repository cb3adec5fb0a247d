"""Read mentions from lines and tables in batches, as they arrive."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import IO, Final

import pyarrow as pa

from nymlink.core.errors import InputError
from nymlink.core.files import has_bom, read_batches
from nymlink.core.problems import Problems
from nymlink.corpus.documents import Mention
from nymlink.tables.cells import NO_TEXT, Cells, cell_language, cell_text, is_text, mention_fault
from nymlink.tables.columns import column_place, likely_mention
from nymlink.tables.delimited import (
    Record,
    format_record,
    guess_delimiter,
    list_headers,
    open_table_lines,
    parse_records,
    restore_cell,
    say_delimiter,
)
from nymlink.tables.foreign_formats import describe_format
from nymlink.tables.objects import json_object, numbered_objects, object_keys

_CELLS: Final = 1000
"""Most rows of a batch."""

_LOOKED_AT: Final = 20
"""Lines checked to recognise a table."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Some mentions to link.

    Attributes:
        mentions: the mentions.
        rows: their rows, if they come from a table.
    """

    mentions: list[Mention]
    rows: list[Record] | None = None

    def add(self, mention: Mention, row: Record) -> None:
        """Add a row of a table."""
        self.mentions.append(mention)
        if self.rows is not None:
            self.rows.append(row)

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
        schema: its columns in Parquet; ``None`` for another table.
        batches: its rows. All have as many fields as the header; their texts are as they were written, or
            as they must be so that fields can be added.
    """

    header: Record
    delimiter: str
    code: int | None
    frequency: int | None
    batches: Iterator[Batch]
    schema: pa.Schema | None = None


def line_batches(stream: IO[bytes], path: Path, problems: Problems) -> Iterator[Batch]:
    """Read a mention from each line, blank ones included: output lines up with input."""
    is_first = True
    for lines in read_batches(stream, path, problems):
        if is_first:
            _warn_of_header([line for _, line in lines], path)
            is_first = False
        yield Batch([Mention(_linkable(line, path, number, problems)) for number, line in lines])


def open_table(
    stream: IO[bytes], path: Path, column: str, problems: Problems, *, further: Mapping[str, str]
) -> InputTable:
    """Read the header of a table and, in batches, its rows.

    A row that cannot be linked has an empty mention: a row with another number of fields than the header, or with
    a mention that is too long or binary.

    Args:
        stream: the table.
        path: its source, for messages.
        column: name or 1-based number of the column of mentions.
        problems: receives rows that cannot be linked, and invalid language codes.
        further: names or 1-based numbers of columns with their ``language``, ``code`` and ``frequency``.

    Raises:
        InputError: the table is empty or has no such column, or several.
    """
    mark = "\ufeff" if has_bom(stream) else ""
    lines = _Lines(read_batches(stream, path, problems))
    first = next((line for line in lines if line[1].strip()), (1, ""))
    if json_object(first[1]) is not None:
        objects = _object_rows(chain([first], lines), lines, path, problems)
        return open_cells(objects, path, column, problems, further=further, is_due=lambda: lines.used_up)
    table = open_table_lines(chain([first], lines), keep_blank=True)
    header = table.header
    if header is None or not any(map(str.strip, header.fields)):
        raise InputError("the table is empty", path=path)
    if not table.stated:
        say_delimiter(path, table.delimiter, header.fields)
    places = _places(header.fields, column, further, path)
    shape = _Shape.of(header.fields, places, table.delimiter, _out_delimiter(header, table.delimiter, path))
    before = "".join(f"{line}\n" for line in table.preamble) if shape.delimiter == shape.out_delimiter else ""
    header = replace(header, text=mark + before + shape.text(header))
    # Of a table with one column an empty line is a row.
    rows = (
        _row(record, shape, path, problems) if shape.width == 1 or record.text.strip() else None
        for record in table.records
    )
    batches = _batches(rows, lambda: lines.used_up)
    return InputTable(header, shape.out_delimiter, places.get("code"), places.get("frequency"), batches)


def open_cells(
    rows: Iterator[tuple[int, Cells]],
    path: Path,
    column: str,
    problems: Problems,
    *,
    further: Mapping[str, str],
    is_due: Callable[[], bool] = lambda: False,
    schema: pa.Schema | None = None,
) -> InputTable:
    """Make a table from the cells of a workbook, of Parquet or of JSON lines, like :func:`open_table` from text.

    Args:
        rows: the header and the rows, each with its number.
        path: their source, for messages.
        column: name or 1-based number of the column of mentions.
        problems: receives rows that cannot be linked, and invalid language codes.
        further: names or 1-based numbers of columns with their ``language``, ``code`` and ``frequency``.
        is_due: whether rows that were read are to be linked before others are waited for.
        schema: columns of Parquet.

    Raises:
        InputError: the table has no such column, or several, or it holds lists or objects.
    """

    def record(number: int, row: Cells) -> Record:
        fields = list(map(cell_text, row))
        return Record(number, fields, format_record(fields, ","), cells=row)

    header = record(*next(rows))
    places = _places(header.fields, column, further, path)
    shape = _Shape.of(header.fields, places, ",", ",")

    def read() -> Iterator[tuple[Mention, Record]]:
        for number, row in rows:
            if is_text(row[shape.place]):
                yield _row(record(number, row), shape, path, problems)
            else:
                problems.reject(path, number, NO_TEXT, outcome="not linked")
                yield Mention(""), record(number, row)

    if schema is not None and pa.types.is_nested(schema.field(shape.place).type):
        name, type_ = header.fields[shape.place], schema.field(shape.place).type
        raise InputError(f"column {name!r} holds no text ({str(type_)[:60]}): name a column of text", path=path)
    batches = _batches(read(), is_due)
    return InputTable(header, ",", places.get("code"), places.get("frequency"), batches, schema)


def _object_rows(
    numbered: Iterable[tuple[int, str]], lines: _Lines, path: Path, problems: Problems
) -> Iterator[tuple[int, Cells]]:
    """Yield the keys of the first objects, then the values that each object has for them."""
    objects = numbered_objects(numbered, path, problems)
    first = []
    for each in objects:
        first.append(each)
        # No waiting for more than a pipe has now.
        if lines.used_up or len(first) == _LOOKED_AT:
            break
    keys = object_keys(values for _, values in first)
    yield 0, Cells(keys)
    for number, values in chain(first, objects):
        if others := [key for key in values if key not in keys]:
            problems.repair(path, number, f"without {list_headers(others)}: the first objects have no such keys")
        yield number, Cells(values.get(key) for key in keys)


@dataclass(frozen=True, slots=True)
class _Shape:
    """The layout of a table.

    Attributes:
        width: its number of columns.
        place: index of the column of mentions.
        language_place: index of the column of their languages; ``None`` if there is none.
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
        """Return a row as written, or quoted if added columns would be swallowed or misread."""
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


def _out_delimiter(header: Record, delimiter: str, path: Path) -> str:
    """Return the delimiter for added columns; for a table of one column the ending of its name decides."""
    if len(header.fields) > 1:
        return delimiter
    return "\t" if _ending(path) == ".tsv" else ","


def _places(header: list[str], column: str, further: Mapping[str, str], path: Path) -> dict[str, int]:
    """Find the named columns; the column of mentions is called ``mention``."""
    others = {name: column_place(header, given, path, f"--map-column {name}=") for name, given in further.items()}
    return {"mention": column_place(header, column, path, "--column "), **others}


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


def _batches(rows: Iterable[tuple[Mention, Record] | None], is_due: Callable[[], bool]) -> Iterator[Batch]:
    """Group rows without waiting for rows that a pipe does not have yet; ``None`` is a line without a row."""
    waiting = Batch([], [])
    for row in rows:
        if row is not None:
            waiting.add(*row)
        if waiting.mentions and (is_due() or len(waiting.mentions) == _CELLS):
            yield waiting
            waiting = Batch([], [])
    if waiting.mentions:
        yield waiting


def _row(record: Record, shape: _Shape, path: Path, problems: Problems) -> tuple[Mention, Record]:
    """Return the mention of a row, empty if it cannot be linked, and the row for the output."""
    if len(record.fields) != shape.width:
        message = f"{len(record.fields)} fields instead of {shape.width}"
        problems.reject(path, record.line, message, outcome="not linked")
        return Mention(""), shape.fitted(record)
    text = restore_cell(record.fields[shape.place])
    text = _linkable(text, path, record.line, problems)
    if text and record.literal_quotes:
        problems.repair(path, record.line, "an unbalanced quotation mark: read as an ordinary character")
    language = None
    if shape.language_place is not None:
        language = cell_language(record.fields[shape.language_place], path, record.line, problems)
    return Mention(text, language=language), replace(record, text=shape.text(record))


def _linkable(text: str, path: Path, number: int, problems: Problems) -> str:
    """Return the text of a mention; an empty one, with a report, if it cannot be linked."""
    if (fault := mention_fault(text)) is None:
        return text
    problems.reject(path, number, fault, outcome="not linked")
    return ""


def _warn_of_header(lines: list[str], path: Path) -> None:
    """Warn if lines look like a table or another format: each line is linked as a mention, even a header."""
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
    """Return the ending of a table's file name; an empty string for other files."""
    ending = Path(path.name.lower().removesuffix(".gz")).suffix
    return ending if ending in (".csv", ".tsv") else ""
