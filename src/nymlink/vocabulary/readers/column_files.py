"""Whole columns of unquoted tables with millions of rows (UMLS RRF, SNOMED RF2, OMOP).

Arrow rejects a broken row without its line number. Therefore the lines of a rejected block are checked one by one:
broken rows are reported, the others parsed again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from nymlink.core.encodings import as_utf8
from nymlink.core.errors import InputError
from nymlink.core.files import LINE_TOO_LONG, MAX_LINE, decode_bytes, open_bytes, whole_lines
from nymlink.core.problems import Problems
from nymlink.core.store.arrays import Array, Ints
from nymlink.tables.delimited import parse_records
from nymlink.vocabulary.concepts import KINDS
from nymlink.vocabulary.readers.language_filter import LanguageFilter
from nymlink.vocabulary.tables import CONCEPT_SCHEMA, NAME_SCHEMA, REDIRECT_SCHEMA, Tables


def copy_to_arrow(pieces: Iterable[bytes]) -> pa.BufferReader:
    """Copy pieces of a file into a buffer of Arrow, and open it for reading.

    Arrow's threads may release their input after the call has returned. To release Python memory they need the
    interpreter, and abort the process if it has ended (https://github.com/apache/arrow/issues/49942).
    """
    sink = pa.BufferOutputStream()
    for piece in pieces:
        sink.write(piece)
    return pa.BufferReader(sink.getvalue())


class Numbering(dict[str, int]):
    """Numbers of strings, from 0 in order of first look-up."""

    def __missing__(self, value: str) -> int:
        self[value] = code = len(self)
        return code


def map_distinct(column: pa.ChunkedArray, function: Callable[[str], Any], dtype: npt.DTypeLike) -> Array:
    """Apply a function to each distinct value of a dictionary-encoded column."""
    encoded = column.combine_chunks()
    distinct = encoded.dictionary.to_pylist()
    results: Array = np.array([function(value) for value in distinct], dtype)[encoded.indices.to_numpy()]
    return results


def distinct_pairs(owners: Array, values: Array) -> tuple[Ints, Ints]:
    """Deduplicate (owner, value) pairs; order them by owner, then first occurrence."""
    key = owners.astype(np.int64) << 32 | values.astype(np.int64)
    first = np.sort(np.unique(key, return_index=True)[1])
    first = first[np.argsort(owners[first], kind="stable")]
    return owners[first].astype(np.int64), values[first].astype(np.int64)


def group_lists(owners: Array, values: pa.Array, count: int) -> pa.ListArray:
    """Group values, ordered by owner, into ``count`` lists."""
    offsets = np.zeros(count + 1, np.int32)
    np.cumsum(np.bincount(owners, minlength=count), out=offsets[1:])
    return pa.ListArray.from_arrays(pa.array(offsets), values)


NUMBER: Final = pa.int64()
TEXT: Final = pa.string()
CODE: Final = pa.dictionary(pa.int32(), pa.string())
"""Type of columns with few distinct values."""

_BLOCK_BYTES: Final = 32 << 20
# Arrow rejects rows longer than two of its blocks: this size limits the length of a line.
_PARSE_BYTES: Final = MAX_LINE // 2
_NUMBER: Final = re.compile(r"\d{1,18}")
_TOO_LARGE: Final = 10**18
# A bar at the end of rows adds a column of type null, in which Arrow rejects text.
_LAST_COLUMN: Final = "|"


@dataclass(frozen=True, slots=True)
class RowFormat:
    """Columns and delimiter of a file.

    Attributes:
        columns: names of the columns, in order.
        wanted: columns to read, with their types: :data:`NUMBER` (never blank), :data:`TEXT` or :data:`CODE`.
        required: text columns that must not be blank.
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
    """Cut an open file into blocks of whole lines; UTF-16 is decoded and reported."""
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
        problems: receives each rejected row (wrong number of fields, NUL, blank required column) and each repaired
            row (not UTF-8, carriage return inside), with its line number.
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
    """Parse the wanted columns; ``None`` without rows or with a broken one."""
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
    """Whether all values match :data:`_NUMBER`; Arrow also accepts negative and longer numbers."""
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
        row, repair = decode_bytes(raw)
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


def read_tsv(
    path: Path, wanted: Mapping[str, pa.DataType], *, required: Collection[str] = (), problems: Problems
) -> Iterator[pa.Table]:
    """Yield the good rows, some hundred thousand at a time, each column in one chunk.

    Args:
        path: a plain or gzip file; its first line names the columns, in any case. Columns are separated by tabs,
            or by commas if the first line has no tab; quotation marks quote only with commas.
        wanted: columns to read, lower case, with their types (see :class:`RowFormat`).
        required: text columns that must not be blank.
        problems: receives each rejected or repaired row, with its line number.

    Raises:
        InputError: a column is missing, or the file cannot be read (:func:`nymlink.core.files.open_bytes`).
    """
    with open_bytes(path) as file:
        blocks = read_blocks(file, path, problems)
        first = next(filter(None, map(_without_blank_lines, blocks)), Block(path, 1, b""))
        header, _, rest = first.data.partition(b"\n")
        if len(header) > MAX_LINE:
            raise InputError(LINE_TOO_LONG, path=path, line=first.line)
        has_commas = b"\t" not in header
        header = _with_tabs(header) if has_commas else header
        names = header.decode("utf-8", errors="replace").split("\t")
        layout = RowFormat(tuple(name.strip().lower() for name in names), wanted, required, delimiter="\t")
        for name in wanted:
            if name not in layout.columns:
                raise InputError(f"no column {name!r}: the first line must name it", path=path, line=first.line)
        rows: Iterator[Block] = chain([Block(path, first.line + 1, rest)], blocks)
        if has_commas:
            rows = (Block(path, block.line, _with_tabs(block.data)) for block in rows)
        yield from read_columns(rows, layout, problems)


def _with_tabs(data: bytes) -> bytes:
    """Separate the fields of lines by tabs instead of commas; a tab in a field becomes a blank."""
    data = data.replace(b"\t", b" ")
    if b'"' not in data:
        return data.replace(b",", b"\t")
    # Bytes that are not UTF-8 are decoded, and reported, later.
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    tabs = ("\t".join(_fields(line)) if '"' in line else line.replace(",", "\t") for line in lines)
    return "\n".join(tabs).encode("utf-8", "surrogateescape")


def _fields(line: str) -> list[str]:
    return next(iter(parse_records([(1, line)], ",", keep_blank=True))).fields


def _without_blank_lines(block: Block) -> Block | None:
    """Strip leading blank lines from a block; ``None`` if nothing is left."""
    data = block.data.lstrip(b"\r\n")
    blank = block.data.count(b"\n") - data.count(b"\n")
    return Block(block.path, block.line + blank, data) if data else None


ROWS: Final = pa.schema(
    [(column, pa.string()) for column in ("concept_id", "name", "lang", "kind", "semantic_type", "xrefs")]
)
# White space of Python, except single blanks between words.
_TO_FOLD: Final = r"^ | $|  |[^ \PZ]|[\x09-\x0d\x1c-\x1f\x{85}]"


def tables_from_rows(rows: pa.Table, languages: LanguageFilter) -> Tables:
    """Build tables like :class:`~nymlink.vocabulary.tables.TableBuilder`, by columns.

    Args:
        rows: :data:`ROWS`, one name per row; ids and names not blank, languages and kinds valid. ``semantic_type``
            is one string, ``xrefs`` are joined by ``|``; both may be empty.
        languages: languages to keep.
    """
    rows = rows.combine_chunks()
    ids = rows["concept_id"].combine_chunks().dictionary_encode()
    concepts = len(ids.dictionary)
    empty = pa.ListArray.from_arrays(pa.array(np.zeros(concepts + 1, np.int32)), pa.array([], pa.string()))
    return Tables(
        concepts=pa.table(
            {
                "id": ids.dictionary,
                "definition": pa.nulls(concepts, pa.string()),
                "semantic_types": _lists(ids.indices, rows["semantic_type"], concepts),
                "xrefs": _split_lists(ids.indices, rows["xrefs"], concepts),
                "parents": empty,
                "obsolete": pa.repeat(False, concepts),
                "replaced_by": empty,
            },
            schema=CONCEPT_SCHEMA,
        ),
        names=name_table(rows, languages),
        redirects=REDIRECT_SCHEMA.empty_table(),
    )


def name_table(rows: pa.Table, languages: LanguageFilter) -> pa.Table:
    """Deduplicate names (``concept_id name lang kind`` of :data:`ROWS`); keep the most reliable kind."""
    wanted = [lang for lang in pc.unique(rows["lang"]).to_pylist() if languages.wants(lang)]
    rows = rows.filter(pc.is_in(rows["lang"], pa.array(wanted, pa.string())))
    table = pa.table(
        {
            "concept_id": rows["concept_id"],
            "text": _folded(rows["name"]),
            "lang": rows["lang"],
            "rank": pc.index_in(rows["kind"], pa.array(KINDS)),
            "row": np.arange(len(rows)),
        }
    )
    names = table.group_by(["concept_id", "text", "lang"]).aggregate([("rank", "min"), ("row", "min")])
    names = names.sort_by("row_min")
    kinds = pa.array(KINDS).take(names["rank_min"].combine_chunks())
    return names.append_column("kind", kinds).select(NAME_SCHEMA.names).cast(NAME_SCHEMA)


def _folded(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    odd = pc.match_substring_regex(texts, _TO_FOLD)
    if not pc.any(odd).as_py():
        return texts
    folded = [" ".join(text.split()) for text in texts.filter(odd).to_pylist()]
    return pc.replace_with_mask(texts.combine_chunks(), odd.combine_chunks(), pa.array(folded, pa.string()))


def _split_lists(codes: pa.Array, joined: pa.ChunkedArray, count: int) -> pa.ListArray:
    given = pc.not_equal(joined, "")
    parts = pc.split_pattern(joined.filter(given).combine_chunks(), "|")
    owners = codes.filter(given.combine_chunks()).take(pc.list_parent_indices(parts))
    return _lists(owners, pc.list_flatten(parts), count)


def _lists(codes: pa.Array, values: pa.Array | pa.ChunkedArray, count: int) -> pa.ListArray:
    """List the distinct non-blank values of each code, 0 to ``count - 1``, in their order."""
    pairs = pa.table({"code": codes, "value": pc.utf8_trim_whitespace(values), "row": np.arange(len(codes))})
    pairs = pairs.filter(pc.not_equal(pairs["value"], ""))
    pairs = pairs.group_by(["code", "value"]).aggregate([("row", "min")])
    pairs = pairs.sort_by([("code", "ascending"), ("row_min", "ascending")])
    lengths = np.bincount(pairs["code"].to_numpy(), minlength=count)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pairs["value"].combine_chunks())
