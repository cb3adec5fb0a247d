"""Files that are small and become large, or that say what is not so, through all readers of files."""

from __future__ import annotations

import gzip
import io
import struct
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.campaigns.hostile import Row
from benchmarks.campaigns.hostile.attempts import Attempt, rows_of
from nymlink.bulk.row_formats import ROW_FORMATS, read_rows
from nymlink.bulk.sources import cut_sources, open_sources
from nymlink.core.errors import InputError, NymlinkError
from nymlink.core.problems import Problems
from nymlink.corpus.read import read_documents
from nymlink.tables.sheet import read_sheet
from nymlink.vocabulary.mappings import read_mappings
from nymlink.vocabulary.read import read_vocabulary

_LARGE: Final = 1 << 30
"""Bytes of what is unpacked."""
_PIECE: Final = 1 << 20
_GIVEN: Final = 1 << 29
"""Bytes of memory for a table."""
_SHARDS: Final = 100
"""Shards of rows that are read of a file."""
_DEEP: Final = 100_000
_DIGITS: Final = "1" * 100_000

Write = Callable[[Path], object]
"""Writes a file."""


class _Budget:
    """Memory that a server gives to a table."""

    def __init__(self) -> None:
        self._left = _GIVEN

    def claim(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise InputError("a table that takes too much memory")


def _sheet(path: Path) -> None:
    read_sheet(path.read_bytes(), path.name, Problems(), claim=_Budget().claim)


def _corpus(path: Path) -> None:
    for _ in read_documents(path):
        pass


def _rows(path: Path) -> None:
    format = path.name.removesuffix(".gz").rpartition(".")[2]
    if format in ROW_FORMATS:
        sources = open_sources([path], column="term", given=False, further={}, format=format)
        for shard in islice(cut_sources(sources, 1000), _SHARDS):
            for _ in read_rows(shard):
                pass


READERS: Final[dict[str, Callable[[Path], object]]] = {
    "corpus": _corpus,
    "vocabulary": read_vocabulary,
    "table": _sheet,
    "rows": _rows,
    "mappings": read_mappings,
}


def _read(write: Write, name: str, read: Callable[[Path], object], folder: Path) -> None:
    write(folder / name)
    read(folder / name)


def _gzipped(path: Path, *, first: bytes = b"", piece: bytes = b"", times: int = 1, cut: int = 0) -> None:
    """Write compressed text without having it in memory."""
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(first)
        for _ in range(times):
            file.write(piece)
    if cut:
        path.write_bytes(path.read_bytes()[:-cut])


def _twice(path: Path) -> None:
    _gzipped(path, piece=bytes(_PIECE), times=256)
    path.write_bytes(gzip.compress(path.read_bytes()))


def _members(path: Path) -> None:
    """Write a million streams one after the other, each of nothing."""
    path.write_bytes(gzip.compress(b"term\n") + gzip.compress(b"") * 500_000 + gzip.compress(b"a\n"))


_GZIP: Final[dict[str, tuple[str, Write]]] = {
    "zeros": ("a.csv.gz", partial(_gzipped, piece=bytes(_PIECE), times=_LARGE // _PIECE)),
    "one line": ("a.csv.gz", partial(_gzipped, first=b"term\n", piece=b"a" * _PIECE, times=_LARGE // _PIECE)),
    "quotation mark that stays open": (
        "a.csv.gz",
        partial(_gzipped, first=b'term\n"', piece=b"a\n" * (_PIECE // 2), times=2),
    ),
    "blank lines": ("a.csv.gz", partial(_gzipped, first=b"term\na\n", piece=b"\n" * _PIECE, times=4)),
    "delimiters": ("a.csv.gz", partial(_gzipped, first=b"term\n", piece=b"," * _PIECE, times=_LARGE // _PIECE)),
    "object of one line": (
        "a.jsonl.gz",
        partial(_gzipped, first=b'{"term": "', piece=b"a" * _PIECE, times=_LARGE // _PIECE),
    ),
    "array without end": ("a.json.gz", partial(_gzipped, first=b"[", piece=b"[]," * (_PIECE // 3), times=512)),
    "ontology of one line": (
        "a.obo.gz",
        partial(_gzipped, first=b"format-version: 1.2\n[Term]\nid: A:1\nname: ", piece=b"a" * _PIECE, times=1024),
    ),
    "XML of one text": (
        "a.xml.gz",
        partial(
            _gzipped, first=b"<collection><document><id>1</id><passage><text>", piece=b"a" * _PIECE, times=1024
        ),
    ),
    "XML of elements": (
        "a.xml.gz",
        # 64 MB: a parser reads some 10 MB of such elements a second.
        partial(_gzipped, first=b"<collection><document>", piece=b"<a/>" * (_PIECE // 4), times=64),
    ),
    "gzip in gzip": ("a.csv.gz", _twice),
    "500,000 streams": ("a.csv.gz", _members),
    "cut": ("a.csv.gz", partial(_gzipped, first=b"term\n", piece=b"a\n" * 1000, times=1000, cut=9)),
}


def _book(path: Path, **parts: bytes | tuple[bytes, bytes, int]) -> None:
    """Write a workbook with parts of its own: bytes, or a beginning and what is repeated, and how often."""
    import openpyxl

    book = openpyxl.Workbook()
    book.active.append(["term"])
    book.active.append(["a"])
    book.save(usual := io.BytesIO())
    other = {name.replace("__", "/") + ".xml": part for name, part in parts.items()}
    with zipfile.ZipFile(usual) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new:
        for name in dict.fromkeys([*old.namelist(), *other]):
            with new.open(name, "w", force_zip64=True) as part:
                _write(part, other[name] if name in other else old.read(name))


def _write(file: IO[bytes], part: bytes | tuple[bytes, bytes, int]) -> None:
    first, piece, times = part if isinstance(part, tuple) else (part, b"", 0)
    file.write(first)
    for _ in range(times):
        file.write(piece)


_MAIN: Final = b'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_HEAD: Final = b"<worksheet " + _MAIN + b'><sheetData><row r="1"><c t="str" r="A1"><v>term</v></c></row>'
_LAUGHS: Final = (
    b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY a0 "ha">'
    + b"".join(b'<!ENTITY a%d "%b">' % (number, b"&a%d;" % (number - 1) * 10) for number in range(1, 12))
    + b"]>"
)
_OUTSIDE: Final = b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>'


def _overlapping(path: Path) -> None:
    """Write an archive with a thousand names for the same stretch of bytes, as in a bomb of Fifield."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", bytes(1 << 22))
    raw = path.read_bytes()
    end = raw.rindex(b"PK\x05\x06")
    start = raw.rindex(b"PK\x01\x02", 0, end)
    entries = b"".join(
        raw[start:end].replace(b"xl/workbook.xml", b"xl/workbook.%03d" % (number % 1000)) for number in range(1000)
    )
    entries = raw[start:end] + entries
    count = struct.pack("<HH", 1001, 1001)
    sizes = struct.pack("<LL", len(entries), start)
    path.write_bytes(raw[:start] + entries + raw[end : end + 8] + count + sizes + b"\0\0")


def _nested(path: Path) -> None:
    """Write an archive in an archive in an archive of zeros."""
    content = bytes(1 << 24)
    for _ in range(4):
        with zipfile.ZipFile(inner := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as archive:
            for number in range(10):
                archive.writestr(f"xl/{number}.xml", content)
            archive.writestr("xl/workbook.xml", content)
        content = inner.getvalue()
    path.write_bytes(content)


_ROW: Final = b'<row r="%d"><c t="str" r="A%d"><v>a</v></c></row>'
_XLSX: Final[dict[str, Write]] = {
    "sheet of zeros": partial(_book, xl__worksheets__sheet1=(b"", bytes(_PIECE), 1024)),
    "rows without end": partial(_book, xl__worksheets__sheet1=(_HEAD, b"<row><c/></row>" * 4096, 16)),
    "one row of cells": partial(
        _book, xl__worksheets__sheet1=(_HEAD + b"<row>", b'<c t="str"><v>a</v></c>' * 4096, 32)
    ),
    "shared texts": partial(_book, xl__sharedStrings=(b"<sst " + _MAIN + b">", b"<si><t>a</t></si>" * 4096, 4096)),
    "one shared text": partial(_book, xl__sharedStrings=(b"<sst " + _MAIN + b"><si><t>", b"a" * _PIECE, 1024)),
    "row number": partial(
        _book, xl__worksheets__sheet1=_HEAD + _ROW % (10**9, 10**9) + b"</sheetData></worksheet>"
    ),
    "row number of 100 digits": partial(
        _book, xl__worksheets__sheet1=_HEAD + _ROW % (10**100, 10**100) + b"</sheetData></worksheet>"
    ),
    "column": partial(
        _book,
        xl__worksheets__sheet1=_HEAD
        + b'<row r="2"><c t="str" r="XFD2"><v>a</v></c></row></sheetData></worksheet>',
    ),
    "column of 100 letters": partial(
        _book,
        xl__worksheets__sheet1=_HEAD
        + b'<row r="2"><c t="str" r="'
        + b"Z" * 100
        + b'2"><v>a</v></c></row></sheetData></worksheet>',
    ),
    "merged cells": partial(
        _book,
        xl__worksheets__sheet1=(
            _HEAD + b"".join(_ROW % (number, number) for number in range(2, 20_000)) + b"</sheetData><mergeCells>",
            b'<mergeCell ref="A1:XFD1048576"/>' * 100,
            1000,
        ),
    ),
    "number of 100,000 digits": partial(
        _book,
        xl__worksheets__sheet1=_HEAD
        + b'<row r="2"><c r="A2"><v>'
        + _DIGITS.encode()
        + b"</v></c></row></sheetData></worksheet>",
    ),
    "1e400000": partial(
        _book,
        xl__worksheets__sheet1=_HEAD + b'<row r="2"><c r="A2"><v>1e400000</v></c></row></sheetData></worksheet>',
    ),
    "entities that grow": partial(
        _book, xl__worksheets__sheet1=_LAUGHS + _HEAD.replace(b"term", b"&a11;") + b"</sheetData></worksheet>"
    ),
    "entity of a file": partial(
        _book, xl__worksheets__sheet1=_OUTSIDE + _HEAD.replace(b"term", b"&x;") + b"</sheetData></worksheet>"
    ),
    "elements that nest": partial(_book, xl__worksheets__sheet1=(_HEAD, b"<row>" * 4096, 256)),
    "archive in archive": _nested,
    "entries that overlap": _overlapping,
}


def _parquet(path: Path, table: pa.Table, **options: Any) -> None:
    pq.write_table(table, path, **options)


def _terms(*terms: Any, type: pa.DataType | None = None) -> pa.Table:
    return pa.table({"term": pa.array(terms, type)})


def _long_values(path: Path) -> None:
    """Write a text of 16 MB two hundred times, of which the file has one."""
    values = pa.DictionaryArray.from_arrays(pa.array([0] * 200, pa.int32()), pa.array(["a" * (1 << 24)]))
    pq.write_table(pa.table({"term": values}), path, store_schema=False)


def _compressed(path: Path) -> None:
    """Write texts of 4 MB, a thousand of which take as much compressed as a text of 4 kB."""
    with pq.ParquetWriter(
        path, pa.schema([("term", pa.string())]), compression="zstd", use_dictionary=False, write_statistics=False
    ) as writer:
        for _ in range(20):
            writer.write_table(_terms(*["a" * (1 << 22)] * 5))


def _same_values(path: Path) -> None:
    with pq.ParquetWriter(path, pa.schema([("term", pa.string())]), compression="zstd") as writer:
        writer.write_table(_terms(*["a"] * 200_000))


def _many_columns(path: Path) -> None:
    _parquet(path, pa.table({f"c{number}": [1] for number in range(10_000)}))


def _levels(path: Path, depth: int) -> None:
    kind: pa.DataType = pa.string()
    value: Any = "a"
    for _ in range(depth):
        kind, value = pa.list_(kind), [value]
    _parquet(path, pa.table({"term": pa.array([value], kind)}))


class _Pickled(pa.ExtensionType):  # type: ignore[misc]  # pyarrow has no types
    """A type as Arrow wrote those of Python: its metadata is a pickle."""

    def __init__(self) -> None:
        super().__init__(pa.string(), "arrow.py_extension_type")

    def __arrow_ext_serialize__(self) -> bytes:
        return _PICKLE

    @classmethod
    def __arrow_ext_deserialize__(cls, storage: pa.DataType, serialized: bytes) -> _Pickled:
        return cls()


def _with_metadata(path: Path, key: bytes, value: bytes) -> None:
    _parquet(path, _terms("a").replace_schema_metadata({key: value}))


def _extension(path: Path) -> None:
    _parquet(path, pa.table({"term": pa.ExtensionArray.from_storage(_Pickled(), pa.array(["a"]))}))


def _footer(path: Path, change: Callable[[bytes], bytes]) -> None:
    """Write a file whose description of itself is changed."""
    _parquet(path, _terms("a", "b"))
    raw = path.read_bytes()
    size = int.from_bytes(raw[-8:-4], "little")
    footer = change(raw[-8 - size : -8])
    path.write_bytes(raw[: -8 - size] + footer + len(footer).to_bytes(4, "little") + b"PAR1")


def _varint(number: int) -> bytes:
    """Write a number as Thrift does."""
    number <<= 1
    written = b""
    while number > 127:
        written += bytes([number & 127 | 128])
        number >>= 7
    return written + bytes([number])


def _with_rows(footer: bytes) -> bytes:
    return footer.replace(b"\x16" + _varint(2), b"\x16" + _varint(1 << 40))


def _with_sizes(footer: bytes) -> bytes:
    """Change all numbers of 64 bits from 8 on."""
    for number in range(8, 200):
        footer = footer.replace(b"\x16" + _varint(number), b"\x16" + _varint(1 << 50))
    return footer


def _zeros(footer: bytes) -> bytes:
    return bytes(len(footer))


def _damaged(footer: bytes) -> bytes:
    return footer[:20] + b"\xff" * 20 + footer[40:]


_STRUCTURE: Final = pa.map_(pa.string(), pa.struct([("b", pa.list_(pa.int64()))]))
_DATES: Final = pa.schema([("term", pa.date32())])
_PICKLE: Final = b"cos\nsystem\n(S'touch fallen'\ntR."
_PARQUET: Final[dict[str, Write]] = {
    "one long text, many times": _long_values,
    "200,000 equal texts": _same_values,
    "long texts, compressed": _compressed,
    "10,000 columns": _many_columns,
    "lists that nest": partial(_levels, depth=60),
    "pickled metadata of pandas": partial(_with_metadata, key=b"pandas", value=_PICKLE),
    "deep metadata of pandas": partial(_with_metadata, key=b"pandas", value=b"[" * _DEEP),
    "metadata of Arrow": partial(_with_metadata, key=b"ARROW:schema", value=b"AAAA" * _PIECE),
    "16 MB of metadata": partial(_with_metadata, key=b"a", value=b"a" * (1 << 24)),
    "extension type with a pickle": _extension,
    "more rows than there are": partial(_footer, change=_with_rows),
    "sizes of pages": partial(_footer, change=_with_sizes),
    "footer of zeros": partial(_footer, change=_zeros),
    "numbers in the footer": partial(_footer, change=_damaged),
    "no characters": partial(_parquet, table=_terms(b"\xff\xfe", type=pa.binary())),
    "times": partial(_parquet, table=_terms(2**62, type=pa.timestamp("ns"))),
    "lengths of time": partial(_parquet, table=_terms(2**62, type=pa.duration("s"))),
    "times out of range": partial(_parquet, table=_terms(2**40, type=pa.timestamp("s"))),
    "dates out of range": partial(_parquet, table=_terms(2**31 - 1, type=pa.int32()).cast(_DATES)),
    "maps and structures": partial(_parquet, table=_terms([("a", {"b": [1]})], type=_STRUCTURE)),
}

_VALUES: Final = {
    "1e400000": "1e400000",
    "-1e400000": "-1e400000",
    "NaN": "NaN",
    "100,000 digits": _DIGITS,
    "a fraction of 100,000 digits": f"0.{_DIGITS}",
    "100,000 levels": "[" * _DEEP + "]" * _DEEP,
    "100,000 levels of objects": '{"a":' * _DEEP + "1" + "}" * _DEEP,
    "levels that stay open": "[" * _DEEP,
    "half of a character": '"\\ud800"',
    "NUL": '"\\u0000"',
}
_TEMPLATES: Final = {
    "a.jsonl": '{"term": %s, "id": %s, "start": %s, "end": %s}\n{"term": "a", "id": "A:1"}\n',
    "a.json": '[{"term": %s, "id": %s}, {"term": "a"}]',
    "bioc.json": (
        '{"documents": [{"id": %s, "passages": [{"offset": %s, "text": %s, "annotations": [{"id": %s, "text": %s, '
        '"infons": {"identifier": %s}, "locations": [{"offset": %s, "length": %s}]}]}]}]}'
    ),
    "bigbio.jsonl": (
        '{"id": "1", "document_id": %s, "passages": [{"id": "1", "type": "t", "text": ["abc"], "offsets": [[0, '
        '%s]]}], "entities": [{"id": "2", "type": "D", "text": [%s], "offsets": [[%s, 1]], "normalized": %s}]}\n'
    ),
    "graphs.json": (
        '{"graphs": [{"id": "a", "nodes": [{"id": "http://a/A_1", "lbl": %s, "type": "CLASS", "meta": {'
        '"deprecated": %s, "synonyms": [{"pred": "hasExactSynonym", "val": %s}]}}, '
        '{"id": %s, "lbl": "a", "type": "CLASS"}], '
        '"edges": [{"sub": %s, "pred": "is_a", "obj": %s}]}]}'
    ),
}


def _json(template: str, value: str) -> Iterator[str]:
    """Put a value at each place of a template in turn."""
    parts = template.split("%s")
    for place in range(1, len(parts)):
        yield "1".join(parts[:place]) + value + "1".join(parts[place:])


def _read_each(template: str, value: str, name: str, read: Callable[[Path], object], folder: Path) -> None:
    refused = None
    for text in _json(template, value):
        (folder / name).write_text(text, encoding="utf-8")
        try:
            read(folder / name)
        except NymlinkError as error:
            refused = error
    if refused is not None:
        raise refused


def attempts() -> Iterator[Attempt]:
    """List what is tried, by kind."""
    kinds: dict[str, list[tuple[str, str, Write]]] = {
        "compressed text that grows": [(name, file, write) for name, (file, write) in _GZIP.items()],
        "workbooks and archives that grow, lie or nest": [
            (name, "a.xlsx", write) for name, write in _XLSX.items()
        ],
        "Parquet with hostile metadata, types and sizes": [
            (name, "a.parquet", write) for name, write in _PARQUET.items()
        ],
    }
    for kind, files in kinds.items():
        for name, file, write in files:
            for reader, read in READERS.items():
                yield Attempt(kind, f"{name} as {reader}", partial(_read, write, file, read))
    for file, template in _TEMPLATES.items():
        for name, value in _VALUES.items():
            for reader, read in READERS.items():
                act = partial(_read_each, template, value, file, read)
                yield Attempt("JSON: depth and numbers", f"{name} in {file} as {reader}", act)


def run(folder: Path, *, long: bool) -> list[Row]:  # noqa: ARG001 - all is tried at once
    """Read each bomb with each reader, in a process of its own.

    Args:
        folder: an empty folder.
        long: makes no difference.
    """
    return rows_of(attempts(), folder)
