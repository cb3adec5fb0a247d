"""The shared table: tab-separated, one name a line, with fixed columns.

The columns are ``concept_id name lang kind semantic_type xrefs``. Nothing is quoted or escaped; xrefs are joined
by ``|``. A file without fault is read column by column with Arrow. A file with a fault is read line by line, which
allows reporting each fault with its line number.

The licence is in ``SOURCES.tsv`` one folder up, if there is one, with columns ``file`` and ``licence``.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from nymlink.core.errors import InputError
from nymlink.core.files import open_bytes, read_lines
from nymlink.core.language_codes import normalise_language
from nymlink.core.problems import Problems
from nymlink.core.registry import Format
from nymlink.vocabulary.concepts import KINDS, ReadOptions
from nymlink.vocabulary.readers import VocabularyFormat
from nymlink.vocabulary.readers.column_files import ROWS, copy_to_arrow, tables_from_rows
from nymlink.vocabulary.readers.language_filter import LanguageFilter
from nymlink.vocabulary.tables import Tables

_DEFAULT_KIND: Final = "exact"
_UNCLEAR_KIND: Final = "related"
_WIDTH_WITH_KIND: Final = 4
"""Columns up to the kind; editors leave out the later ones if they are empty."""
_SOURCES: Final = "SOURCES.tsv"
_PIECE_BYTES: Final = 1 << 20


def _recognises(path: Path, head: str) -> bool:  # noqa: ARG001
    return head.lstrip().partition("\n")[0].rstrip("\r") == "\t".join(ROWS.names)


def _read(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
    languages = LanguageFilter(options)
    rows = _read_columns(path, languages)
    if rows is None:
        rows = _read_rows(path, languages, problems)
    if not len(rows):
        raise InputError("no row that could be used", path=path)
    return replace(tables_from_rows(rows, languages), licence=_licence(path.resolve()))


def _read_columns(path: Path, languages: LanguageFilter) -> pa.Table | None:
    """Read all rows with Arrow; ``None`` if the file has any fault."""
    with open_bytes(path) as file:
        try:
            rows = csv.read_csv(
                copy_to_arrow(iter(partial(file.read, _PIECE_BYTES), b"")),
                parse_options=csv.ParseOptions(delimiter="\t", quote_char=False),
                convert_options=csv.ConvertOptions(column_types=ROWS, strings_can_be_null=False),
            )
        except pa.ArrowInvalid:
            return None
    if rows.schema != ROWS:
        return None
    blank = (pc.equal(pc.utf8_trim_whitespace(rows[column]), "") for column in ("concept_id", "name"))
    if any(pc.any(column).as_py() for column in blank):
        return None
    langs = {lang: _language(lang, languages) for lang in pc.unique(rows["lang"]).to_pylist()}
    kinds = {kind: _kind(kind) for kind in pc.unique(rows["kind"]).to_pylist()}
    if None in langs.values() or None in kinds.values():
        return None
    return (
        rows.set_column(0, "concept_id", pc.utf8_trim_whitespace(rows["concept_id"]))
        .set_column(2, "lang", _translated(rows["lang"], langs))
        .set_column(3, "kind", _translated(rows["kind"], kinds))
    )


def _read_rows(path: Path, languages: LanguageFilter, problems: Problems) -> pa.Table:
    """Read the good rows line by line; report the others."""
    columns: list[list[str]] = [[] for _ in ROWS]
    lines = ((number, line) for number, line in read_lines(path, problems) if line.strip())
    header = next(lines, (0, ""))
    if header[1].split("\t") != ROWS.names:
        expected = ", ".join(ROWS.names)
        raise InputError(f"not a shared table: its first line must name the columns {expected}", path=path)
    for number, line in lines:
        fields = line.split("\t")
        width = len(fields)
        if not _WIDTH_WITH_KIND <= width <= len(ROWS):
            problems.reject(path, number, f"{width} columns instead of {len(ROWS)}")
            continue
        id_, name, lang, kind, semantic_type, xrefs = fields + [""] * (len(ROWS) - width)
        if not id_.strip() or not name.strip():
            problems.reject(path, number, f"no {'name' if id_.strip() else 'concept_id'}")
            continue
        if width < len(ROWS):
            problems.repair(path, number, f"{width} columns instead of {len(ROWS)}: the others taken as empty")
        row_lang, row_kind = languages.normalise(lang, path, number, problems), _kind(kind)
        if row_kind is None:
            row_kind = _UNCLEAR_KIND
            problems.repair(
                path, number, f"unknown kind {kind[:40]!r} (known: {', '.join(KINDS)}): taken as {row_kind!r}"
            )
        for column, value in zip(
            columns, (id_.strip(), name, row_lang, row_kind, semantic_type, xrefs), strict=True
        ):
            column.append(value)
    return pa.table(columns, schema=ROWS)


def _licence(path: Path) -> str | None:
    """Look up the licence in the list of sources; ``None`` if there is no list, or the file is not in it."""
    sources = path.parent.parent / _SOURCES
    if not sources.is_file():
        return None
    # Another file may have this name; the vocabulary can be read without a licence.
    with contextlib.suppress(InputError):
        rows = (line.split("\t") for _, line in read_lines(sources, Problems()))
        headers = next(rows, [])
        for fields in rows:
            row = dict(zip(headers, fields, strict=False))
            if row.get("file") in (path.name, f"{path.parent.name}/{path.name}"):
                return row.get("licence", "").strip() or None
    return None


def _language(code: str, languages: LanguageFilter) -> str | None:
    return normalise_language(code) if code.strip() else languages.default


def _kind(kind: str) -> str | None:
    kind = kind.strip() or _DEFAULT_KIND
    return kind if kind in KINDS else None


def _translated(column: pa.ChunkedArray, values: dict[str, str | None]) -> pa.ChunkedArray:
    codes = pc.index_in(column, pa.array(list(values), pa.string()))
    return pc.take(pa.array(list(values.values()), pa.string()), codes)


FORMAT: Final[VocabularyFormat] = Format(
    name="shared-table",
    description="tab-separated, one name a line: concept_id name lang kind semantic_type xrefs",
    recognises=_recognises,
    read=_read,
)
