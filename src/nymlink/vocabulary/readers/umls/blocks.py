"""Reading chosen columns of an RRF file, block by block: fast where a block is whole, line by line where not.

Arrow's reader stops at a broken row without saying where it stands, so a block it cannot take is gone through
line by line, broken rows are reported with their line numbers, and what is good is given to it again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from nymlink.files import open_bytes
from nymlink.problems import Problems
from nymlink.vocabulary.readers.umls.release import Release

_BLOCK_BYTES: Final = 32 << 20
_PARSE_BYTES: Final = 4 << 20
_BOM: Final = b"\xef\xbb\xbf"
_CODES: Final = pa.dictionary(pa.int32(), pa.string())
# Every row ends with a bar, which makes one more column. Of type null, it makes Arrow refuse what is not empty.
_END: Final = "end of row"


@dataclass(frozen=True, slots=True)
class _Block:
    """Whole lines of a file; ``line`` is the 1-based number of the first."""

    path: Path
    line: int
    data: bytes


def read_columns(
    release: Release,
    name: str,
    *,
    strings: Sequence[str],
    codes: Sequence[str] = (),
    required: Sequence[str],
    problems: Problems,
) -> Iterator[pa.Table]:
    """Yield the good rows of a file, some hundred thousand at a time.

    Args:
        release: the release it belongs to; a file that is not there yields nothing.
        name: file name without ending, for example ``MRSTY``.
        strings: columns wanted as strings.
        codes: columns wanted dictionary-encoded, because they hold few distinct values.
        required: columns that may not be blank.
        problems: told of each row that is rejected (wrong number of fields, a NUL, a required column blank) or
            repaired (not UTF-8, a carriage return within the row), with its line number.

    Raises:
        InputError: see :func:`nymlink.files.open_bytes`.
    """
    layout = release.columns[name]
    wanted = dict.fromkeys(strings, pa.string()) | dict.fromkeys(codes, _CODES) | {_END: pa.null()}
    for block in _blocks(release.parts.get(name, ())):
        table = _parse(block.data, layout, wanted) if _is_text(block.data) else None
        if table is None or any(_has_blank(table[column]) for column in required):
            mended = b"".join(_good_lines(block, layout, required, problems))
            table = _parse(mended, layout, wanted, parse_bytes=len(mended) + 1)
        if table is not None:
            yield table


def _blocks(parts: Sequence[Path]) -> Iterator[_Block]:
    """Cut a file at line ends; a line that goes on in the next part belongs to the part it starts in."""
    rest = b""
    path, line = Path(), 1
    for part in parts:
        with open_bytes(part) as file:
            while chunk := file.read(_BLOCK_BYTES):
                if path != part:
                    if part == parts[0]:
                        chunk = chunk.removeprefix(_BOM)
                    if rest:
                        head, end, chunk = chunk.partition(b"\n")
                        rest += head + end
                        if not end:
                            continue
                        yield _Block(path, line, rest)
                    path, line, rest = part, 2 if rest else 1, b""
                cut = chunk.rfind(b"\n") + 1
                if cut == 0:
                    rest += chunk
                    continue
                data = rest + chunk[:cut]
                yield _Block(path, line, data)
                line += data.count(b"\n")
                rest = chunk[cut:]
    if rest:
        yield _Block(path, line, rest)


def _is_text(data: bytes) -> bool:
    """Whether there is neither a NUL nor a byte that is not UTF-8."""
    if b"\0" in data:
        return False
    offsets = pa.array([0, len(data)], pa.int64()).buffers()[1]
    try:
        pa.Array.from_buffers(pa.large_string(), 1, [None, offsets, pa.py_buffer(data)]).validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _parse(
    data: bytes, layout: Sequence[str], wanted: dict[str, pa.DataType], *, parse_bytes: int = _PARSE_BYTES
) -> pa.Table | None:
    """The wanted columns, each in one chunk; ``None`` when there are no rows or not all are whole."""
    if not data:
        return None
    try:
        table = csv.read_csv(
            pa.BufferReader(data),
            read_options=csv.ReadOptions(column_names=[*layout, _END], block_size=parse_bytes),
            parse_options=csv.ParseOptions(delimiter="|", quote_char=False, escape_char=False),
            convert_options=csv.ConvertOptions(
                include_columns=list(wanted), column_types=wanted, null_values=[""], check_utf8=False
            ),
        )
    except pa.ArrowInvalid:
        return None
    return table.combine_chunks()


def _has_blank(column: pa.ChunkedArray) -> bool:
    values = column.combine_chunks()
    if pa.types.is_dictionary(values.type):
        values = values.dictionary
    return bool(pc.min(pc.binary_length(values)).as_py() == 0 or pc.any(pc.utf8_is_space(values)).as_py())


def _good_lines(
    block: _Block, layout: Sequence[str], required: Sequence[str], problems: Problems
) -> Iterator[bytes]:
    needed = [(column, layout.index(column)) for column in required]
    for number, raw in enumerate(block.data.split(b"\n"), start=block.line):
        row = raw.rstrip(b"\r")
        if not row:
            continue
        if b"\0" in row:
            problems.reject(block.path, number, "a NUL character in the row")
            continue
        fields = row.split(b"|")
        if len(fields) != len(layout) + 1:
            found = len(fields) - 1
            problems.reject(block.path, number, f"{found} fields ended by a bar instead of {len(layout)}")
            continue
        if fields[-1]:
            problems.reject(block.path, number, "text after the last bar")
            continue
        try:
            row.decode("utf-8")
        except UnicodeDecodeError:
            row = row.decode("cp1252", errors="replace").encode()
            fields = row.split(b"|")
            problems.repair(block.path, number, "not UTF-8; read as Windows-1252")
        blank = [column for column, index in needed if not fields[index].decode().strip()]
        if blank:
            problems.reject(block.path, number, f"{blank[0]} is blank")
            continue
        if b"\r" in row:
            row = row.replace(b"\r", b" ")
            problems.repair(block.path, number, "a carriage return within the row; read as a space")
        yield row + b"\n"
