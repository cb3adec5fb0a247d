"""Chosen columns of a large tab-separated file with a header: by Arrow where a block is whole, by line where not.

Nothing is quoted in these files (SNOMED RF2, OMOP). Arrow stops at a broken row without saying where it stands,
so a block it cannot take is gone through line by line: broken rows are reported, the good ones given to it again.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from nymlink.errors import InputError
from nymlink.files import open_bytes
from nymlink.problems import Problems

NUMBER: Final = pa.int64()
TEXT: Final = pa.string()
CODE: Final = pa.dictionary(pa.int32(), pa.string())
"""For columns of few distinct values."""

_BLOCK_BYTES: Final = 8 << 20
_PARSE_BYTES: Final = 4 << 20
_LONGEST_LINE: Final = 64 << 20
_BOM: Final = b"\xef\xbb\xbf"
_NUMBER: Final = re.compile(r"\d{1,18}")
_TOO_LARGE: Final = 10**18


@dataclass(frozen=True, slots=True)
class _Layout:
    path: Path
    headers: tuple[str, ...]
    wanted: Mapping[str, pa.DataType]
    required: Collection[str]


def read_tsv(
    path: Path, wanted: Mapping[str, pa.DataType], *, required: Collection[str] = (), problems: Problems
) -> Iterator[pa.Table]:
    """Yield the good rows, some hundred thousand at a time, each column in one chunk.

    Args:
        path: a plain or gzip file; its first line names its columns (in whatever case).
        wanted: columns wanted, lower case, and what they hold: :data:`NUMBER` (never blank), :data:`TEXT` or
            :data:`CODE`.
        required: columns of text that may not be blank.
        problems: told of each row that is rejected or repaired, with its line number.

    Raises:
        InputError: a column is not there, or the file cannot be read (:func:`nymlink.files.open_bytes`).
    """
    with open_bytes(path) as file:
        header = file.readline(_PARSE_BYTES).removeprefix(_BOM).decode("utf-8", errors="replace")
        headers = tuple(name.strip().lower() for name in header.split("\t"))
        for name in wanted:
            if name not in headers:
                raise InputError(f"no column {name!r}: the first line must name it", path=path, line=1)
        layout = _Layout(path, headers, wanted, required)
        for line, data in _blocks(file, path):
            table = _parse(data, layout)
            if table is None:
                mended = b"".join(_good_lines(line, data, layout, problems))
                table = _parse(mended, layout, parse_bytes=len(mended) + 1)
            if table is not None:
                yield table


def _blocks(file: IO[bytes], path: Path) -> Iterator[tuple[int, bytes]]:
    """Whole lines and the number of the first."""
    begun: list[bytes] = []
    line = 2
    while chunk := file.read(_BLOCK_BYTES):
        cut = chunk.rfind(b"\n") + 1
        begun.append(chunk[:cut] if cut else chunk)
        if cut:
            data = b"".join(begun)
            yield line, data
            line += data.count(b"\n")
            begun = [chunk[cut:]]
        elif sum(map(len, begun)) > _LONGEST_LINE:
            raise InputError(
                f"a line of more than {_LONGEST_LINE >> 20} MB: this is no table", path=path, line=line
            )
    if data := b"".join(begun):
        yield line, data


def _parse(data: bytes, layout: _Layout, *, parse_bytes: int = _PARSE_BYTES) -> pa.Table | None:
    """The wanted columns; ``None`` when there are no rows or not all of them are good."""
    if not data or data.isspace() or b"\0" in data:
        return None
    try:
        table = csv.read_csv(
            pa.BufferReader(data),
            read_options=csv.ReadOptions(column_names=layout.headers, block_size=parse_bytes),
            parse_options=csv.ParseOptions(delimiter="\t", quote_char=False, escape_char=False),
            convert_options=csv.ConvertOptions(
                include_columns=list(layout.wanted), column_types=dict(layout.wanted), null_values=[""]
            ),
        ).combine_chunks()
    except pa.ArrowInvalid:
        return None
    numbers = (table[name] for name, kind in layout.wanted.items() if kind == NUMBER)
    if not all(map(_is_natural, numbers)) or any(_has_blank(table[name]) for name in layout.required):
        return None
    return table


def _is_natural(column: pa.ChunkedArray) -> bool:
    """Whether all are numbers as :data:`_NUMBER` has them; Arrow also takes negative and longer ones."""
    least, most = pc.min_max(column).values()
    return bool(column.null_count == 0 and least.as_py() >= 0 and most.as_py() < _TOO_LARGE)


def _has_blank(column: pa.ChunkedArray) -> bool:
    values = column.combine_chunks()
    if pa.types.is_dictionary(values.type):
        values = values.dictionary
    return bool(pc.min(pc.binary_length(values)).as_py() == 0 or pc.any(pc.utf8_is_space(values)).as_py())


def _good_lines(line: int, data: bytes, layout: _Layout, problems: Problems) -> Iterator[bytes]:
    for number, raw in enumerate(data.split(b"\n"), start=line):
        raw = raw.rstrip(b"\r")
        if not raw.strip():
            continue
        try:
            row, repair = raw.decode("utf-8"), None
        except UnicodeDecodeError:
            row, repair = raw.decode("cp1252", errors="replace"), "not UTF-8; read as Windows-1252"
        fault = _fault(row, layout)
        if fault is not None:
            problems.reject(layout.path, number, fault)
            continue
        if repair is not None:
            problems.repair(layout.path, number, repair)
        if "\r" in row:
            row = row.replace("\r", " ")
            problems.repair(layout.path, number, "a carriage return within the row; read as a space")
        yield row.encode() + b"\n"


def _fault(row: str, layout: _Layout) -> str | None:
    if "\0" in row:
        return "a NUL character in the row"
    fields = row.split("\t")
    if len(fields) != len(layout.headers):
        return f"{len(fields)} columns instead of {len(layout.headers)}"
    for name, value in zip(layout.headers, fields, strict=True):
        if layout.wanted.get(name) == NUMBER and not (value.isascii() and _NUMBER.fullmatch(value.strip())):
            return f"{name} is {value[:40]!r}, not a number"
        if name in layout.required and not value.strip():
            return f"{name} is blank"
    return None
