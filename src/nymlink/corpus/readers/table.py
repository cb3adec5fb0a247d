"""Reader of mention tables: CSV, TSV or JSON lines, one mention per row.

Columns are recognised by common headers, or named by the caller. Several gold ids in a cell are joined by ``|`` or
``;``. The rows of a document are grouped, wherever they are; a row without a document becomes a document of its
own, ``<file>:<line>``. MedMentions' ``pmid<TAB>mention<TAB>CUI`` is recognised without a header. JSON objects may
have different keys; the first objects decide which keys are read.
"""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from types import NoneType
from typing import Any, Final, NamedTuple

from nymlink.core.delimited import guess_delimiter, list_headers, parse_records, require_distinct
from nymlink.core.errors import InputError
from nymlink.core.files import read_head, read_lines
from nymlink.core.formats import Format
from nymlink.core.problems import Problems
from nymlink.corpus.find_mention import find_mention
from nymlink.corpus.foreign_formats import describe_format
from nymlink.corpus.model import Document, Mention
from nymlink.corpus.options import CorpusOptions
from nymlink.corpus.readers import CorpusFormat
from nymlink.corpus.readers.columns import SPELLINGS, find_columns, is_mention, likely_mention
from nymlink.corpus.readers.common import (
    check_offsets,
    clean_ids,
    first_lines,
    mention_language,
    most_match,
    require_documents,
    source_name,
    split_ids,
)

_JSON: Final = re.compile(r'\s*\{\s*"')
_MEDMENTIONS: Final = re.compile(r"[0-9]{1,9}\t[^\t]+\tC[0-9]{7}\s*$")
_MEDMENTIONS_COLUMNS: Final = {"document": "1", "mention": "2", "concept_id": "3"}
_OFFSET: Final = re.compile("[0-9]{1,9}")
_FIRST_ROWS: Final = 20
"""JSON objects that decide which keys are read."""
_MAY_BE_NUMBERS: Final = frozenset({"concept_id", "document", "start", "end"})
"""Columns in which JSON values may be numbers."""
_TEXT: Final = (str, NoneType)
_TEXT_OR_NUMBER: Final = (*_TEXT, int, float)
_SUFFIXES: Final = (".csv", ".tsv", ".jsonl", ".ndjson")


class _Row(NamedTuple):
    document: str
    context: str
    mention: Mention


def _recognises(path: Path, head: str) -> bool:
    lines = first_lines(head)
    header = _header(lines[0]) if lines else []
    if any(map(is_mention, header)):
        return True
    if not lines or describe_format(head, may_be_objects=True) is not None:
        return False
    tabs = {line.count("\t") for line in lines}
    return (
        most_match(lines, _JSON)
        or most_match(lines, _MEDMENTIONS)
        # No known header: still a table, so that the reader asks for its columns.
        or (len(header) > 1 and path.name.removesuffix(".gz").endswith(_SUFFIXES))
        or (len(lines) > 1 and len(tabs) == 1 and tabs != {0})
    )


def _header(line: str) -> list[str]:
    return [cell.strip().strip('"') for cell in line.split(guess_delimiter(line))]


def _read(path: Path, *, options: CorpusOptions, problems: Problems) -> Iterator[Document]:
    return require_documents(_documents(path, options.columns, problems), path=path, problems=problems)


def _documents(path: Path, wanted: Mapping[str, str], problems: Problems) -> Iterator[Document]:
    name = source_name(path)
    grouped: dict[tuple[str, str], list[Mention]] = {}
    rows = _json_rows if most_match(first_lines(read_head(path)), _JSON) else _delimited_rows
    for line, columns, values in rows(path, wanted, problems):
        row = _row({column: values.get(header) for column, header in columns.items()}, path, line, problems)
        if row is None:
            continue
        if row.document:
            grouped.setdefault((row.document, row.context), []).append(row.mention)
        else:
            yield Document(f"{name}:{line}", row.context, (row.mention,))
    contexts = Counter(document for document, _ in grouped)
    numbers: Counter[str] = Counter()
    for (document, context), mentions in grouped.items():
        numbers[document] += 1
        # A document has one text: rows with another context become another document.
        id_ = document if contexts[document] == 1 else f"{document}:{numbers[document]}"
        yield Document(id_, context, tuple(mentions))


_Rows = Iterator[tuple[int, Mapping[str, str], Mapping[str, Any]]]
"""For each row: line number, column → header, header → value."""


def _delimited_rows(path: Path, wanted: Mapping[str, str], problems: Problems) -> _Rows:
    lines = first_lines(read_head(path))
    delimiter = guess_delimiter(lines[0]) if lines else ","
    rows = parse_records(read_lines(path, problems), delimiter)
    first = next(rows, None)
    if first is None:
        raise InputError("the table is empty", path=path)
    header = [cell.strip() for cell in first.fields]
    if not wanted and not any(map(is_mention, header)) and most_match(lines, _MEDMENTIONS):
        wanted = _MEDMENTIONS_COLUMNS
    if wanted and all(name.isdecimal() and name not in header for name in wanted.values()):
        rows = chain([first], rows)
        width = max(len(header), *map(int, wanted.values()))
        header = [str(column) for column in range(1, width + 1)]
    columns = find_columns(header, wanted=wanted, path=path, line=first.line)
    missing = [name for column, name in wanted.items() if column not in columns]
    if missing or "mention" not in columns:
        what = f"no column {missing[0]!r}" if missing else "no column is called mention"
        example = shlex.quote(f"mention={likely_mention(header)}")
        raise InputError(
            f"{what} among {list_headers(header)}: name the file's columns, by header, or by number where it has "
            f"no header, for example --map-column {example}",
            path=path,
            line=first.line,
        )
    require_distinct(header, columns.values(), path, first.line)
    for row in rows:
        if len(row.fields) != len(header):
            problems.reject(path, row.line, f"{len(row.fields)} columns instead of {len(header)}")
            continue
        if row.literal_quotes:
            problems.repair(path, row.line, "an unbalanced quotation mark: read as an ordinary character")
        yield row.line, columns, dict(zip(header, row.fields, strict=True))


def _json_rows(path: Path, wanted: Mapping[str, str], problems: Problems) -> _Rows:
    rows = _json_objects(path, problems)
    first = list(islice(rows, _FIRST_ROWS))
    columns = dict(wanted)
    for number, values in first:
        # Columns found in earlier objects stay; later keys only add missing columns.
        columns |= find_columns(list(values), wanted=columns, path=path, line=number)
    columns.setdefault("mention", "mention")
    for number, values in chain(first, rows):
        fault = _fault(columns, values)
        if fault is None:
            yield number, columns, values
        else:
            problems.reject(path, number, fault)


def _json_objects(path: Path, problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in read_lines(path, problems):
        if not line.strip():
            continue
        try:
            values = json.loads(line)
            # An escaped lone surrogate cannot be written to a file: refuse it here.
            json.dumps(values, ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            values = None
        if isinstance(values, dict):
            yield number, values
        else:
            problems.reject(path, number, "not a JSON object")


def _fault(columns: Mapping[str, str], values: Mapping[str, Any]) -> str | None:
    """Say why a JSON object cannot be used (no mention, or a value of the wrong type); ``None`` if it can."""
    if columns["mention"] not in values:
        return f"no {columns['mention']!r} among the keys {', '.join(values)}"
    for column, key in columns.items():
        value = values.get(key)
        items = value if column == "concept_id" and isinstance(value, list) else [value]
        # type() rather than isinstance(), for which a boolean is a number.
        if not all(type(item) in (_TEXT_OR_NUMBER if column in _MAY_BE_NUMBERS else _TEXT) for item in items):
            return f"{key!r} cannot be {json.dumps(value, ensure_ascii=False)[:40]}"
    return None


def _row(values: Mapping[str, Any], path: Path, line: int, problems: Problems) -> _Row | None:
    texts = {column: "" if values.get(column) is None else str(values[column]).strip() for column in SPELLINGS}
    mention = texts["mention"]
    if not mention:
        problems.reject(path, line, "the mention is empty")
        return None
    ids = values.get("concept_id")
    if isinstance(ids, list):
        gold = clean_ids(str(concept_id) for concept_id in ids if concept_id is not None)
    else:
        gold = split_ids(texts["concept_id"], "|;")
    context = "" if values.get("context") is None else str(values["context"])
    start, end = _span(texts, mention, context, path, line, problems)
    language = mention_language(texts["language"], path, line, problems)
    return _Row(
        texts["document"],
        context,
        Mention(mention, start=start, end=end, type=texts["type"], concept_ids=gold, language=language),
    )


def _span(
    texts: Mapping[str, str], mention: str, context: str, path: Path, line: int, problems: Problems
) -> tuple[int, int] | tuple[None, None]:
    """Return the offsets of the row, corrected by its context; without any, find the mention in its context."""
    start, end = texts["start"], texts["end"]
    if not start and not end:
        return find_mention(mention, context) or (None, None)
    numbers = [int(offset) for offset in (start, end) if _OFFSET.fullmatch(offset)]
    if len(numbers) < 2 or numbers[0] > numbers[1]:
        problems.repair(path, line, f"{start!r} and {end!r} are not offsets: they were left out")
        return None, None
    if not context:
        return numbers[0], numbers[1]
    return check_offsets(context, mention, *numbers, path=path, line=line, problems=problems)


FORMAT: Final[CorpusFormat] = Format(
    name="table",
    description="a CSV, TSV or JSON-lines table, one mention a row",
    recognises=_recognises,
    read=_read,
    priority=20,
)
