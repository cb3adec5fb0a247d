"""Read chosen columns of large files of rows: with Arrow where a block has no fault, line by line where it has.

Nothing is quoted in these files (UMLS RRF, SNOMED RF2, OMOP). Arrow stops at a broken row without its line number,
so the lines of a block that Arrow rejects are checked one by one: broken rows are reported, the others parsed
again.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from nymlink.core.encodings import as_utf8
from nymlink.core.files import LINE_TOO_LONG, MAX_LINE, whole_lines
from nymlink.core.problems import Problems
from nymlink.vocabulary.readers.columns.arrow_memory import copy_to_arrow

NUMBER: Final = pa.int64()
TEXT: Final = pa.string()
CODE: Final = pa.dictionary(pa.int32(), pa.string())
"""Type of columns that hold few distinct values."""

_BLOCK_BYTES: Final = 32 << 20
# Arrow rejects rows longer than two of its own blocks, so this size also limits the length of a line.
_PARSE_BYTES: Final = MAX_LINE // 2
_NUMBER: Final = re.compile(r"\d{1,18}")
_TOO_LARGE: Final = 10**18
# A bar at the end of rows makes one more column; no other can have this name, since bars separate names. Its type
# is null, so that Arrow rejects rows with text in it.
_LAST_COLUMN: Final = "|"


@dataclass(frozen=True, slots=True)
class RowFormat:
    """Columns and delimiter of a file.

    Attributes:
        columns: names of the columns, in order.
        wanted: columns to read, with their types: :data:`NUMBER` (never blank), :data:`TEXT` or :data:`CODE`.
        required: columns of text that may not be blank.
        delimiter: character between fields.
        is_closed: whether the delimiter also ends each row.
    """

    columns: tuple[str, ...]
    wanted: Mapping[str, pa.DataType]
    required: Collection[str]
    delimiter: str
    is_closed: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines of a file; ``line`` is the number of the first."""

    path: Path
    line: int
    data: bytes


def read_blocks(file: IO[bytes], path: Path, problems: Problems) -> Iterator[Block]:
    """Cut an open file into blocks of whole lines; UTF-16 is read as such, and reported."""
    line = 1
    text = as_utf8(file, path, problems)
    for data in whole_lines(iter(partial(text.read, _BLOCK_BYTES), b"")):
        yield Block(path, line, data)
        line += data.count(b"\n")


def read_columns(blocks: Iterable[Block], layout: RowFormat, problems: Problems) -> Iterator[pa.Table]:
    """Yield the good rows, some hundred thousand at a time, each column in one chunk.

    Args:
        blocks: the rows.
        layout: their columns and delimiter.
        problems: receives each row that is rejected (wrong number of fields, a NUL, a required column blank) or
            repaired (not UTF-8, a carriage return within the row), with its line number.
    """
    for block in blocks:
        table = _parse(block.data, layout) if _is_text(block.data) else None
        if table is None:
            repaired = b"".join(_good_rows(block, layout, problems))
            table = _parse(repaired, layout, parse_bytes=len(repaired) + 1)
        if table is not None:
            yield table


def _is_text(data: bytes) -> bool:
    """Whether data are valid UTF-8 without a NUL."""
    if b"\0" in data:
        return False
    offsets = pa.array([0, len(data)], pa.int64()).buffers()[1]
    try:
        pa.Array.from_buffers(pa.large_string(), 1, [None, offsets, pa.py_buffer(data)]).validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _parse(data: bytes, layout: RowFormat, *, parse_bytes: int = _PARSE_BYTES) -> pa.Table | None:
    """Parse the wanted columns; ``None`` when there are no rows or any is broken."""
    if not data or data.isspace():
        return None
    end = {_LAST_COLUMN: pa.null()} if layout.is_closed else {}
    types = {**layout.wanted, **end}
    try:
        table = csv.read_csv(
            copy_to_arrow([data]),
            read_options=csv.ReadOptions(column_names=[*layout.columns, *end], block_size=parse_bytes),
            parse_options=csv.ParseOptions(delimiter=layout.delimiter, quote_char=False, escape_char=False),
            convert_options=csv.ConvertOptions(
                include_columns=list(types), column_types=types, null_values=[""], check_utf8=False
            ),
        ).combine_chunks()
    except pa.ArrowInvalid:
        return None
    numbers = (table[name] for name, kind in layout.wanted.items() if kind == NUMBER)
    if not all(map(_is_natural, numbers)) or any(_has_blank(table[name]) for name in layout.required):
        return None
    return table


def _is_natural(column: pa.ChunkedArray) -> bool:
    """Whether all match :data:`_NUMBER`; Arrow also accepts negative and longer numbers."""
    least, most = pc.min_max(column).values()
    return bool(column.null_count == 0 and least.as_py() >= 0 and most.as_py() < _TOO_LARGE)


def _has_blank(column: pa.ChunkedArray) -> bool:
    values = column.combine_chunks()
    if pa.types.is_dictionary(values.type):
        values = values.dictionary
    return bool(pc.min(pc.binary_length(values)).as_py() == 0 or pc.any(pc.utf8_is_space(values)).as_py())


def _good_rows(block: Block, layout: RowFormat, problems: Problems) -> Iterator[bytes]:
    for number, raw in enumerate(block.data.split(b"\n"), start=block.line):
        raw = raw.rstrip(b"\r")
        if not raw.strip():
            continue
        if len(raw) > MAX_LINE:
            problems.reject(block.path, number, LINE_TOO_LONG)
            continue
        try:
            row, repair = raw.decode("utf-8"), None
        except UnicodeDecodeError:
            row, repair = raw.decode("cp1252", errors="replace"), "not UTF-8; read as Windows-1252"
        fault = _fault(row, layout)
        if fault is not None:
            problems.reject(block.path, number, fault)
            continue
        if repair is not None:
            problems.repair(block.path, number, repair)
        if "\r" in row:
            row = row.replace("\r", " ")
            problems.repair(block.path, number, "a carriage return within the row; read as a space")
        yield row.encode() + b"\n"


def _fault(row: str, layout: RowFormat) -> str | None:
    if "\0" in row:
        return "a NUL character in the row"
    fields = row.split(layout.delimiter)
    after = fields.pop() if layout.is_closed else ""
    if len(fields) != len(layout.columns):
        ending = f" ended by {layout.delimiter}" if layout.is_closed else ""
        return f"{len(fields)} columns{ending} instead of {len(layout.columns)}"
    if after:
        return f"text after the last {layout.delimiter}"
    for name, value in zip(layout.columns, fields, strict=True):
        if layout.wanted.get(name) == NUMBER and not (value.isascii() and _NUMBER.fullmatch(value.strip())):
            return f"{name} is {value[:40]!r}, not a number"
        if name in layout.required and not value.strip():
            return f"{name} is blank"
    return None
