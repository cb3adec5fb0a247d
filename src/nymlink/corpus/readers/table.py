"""Mention tables: CSV, TSV or JSON lines, one mention a row, with common headers or columns the caller names.

Several gold ids in a cell are joined by ``|`` or ``;``. Rows of one document, wherever they stand, come together;
a row without a document is one of its own, ``<file>:<line>``. MedMentions' ``pmid<TAB>mention<TAB>CUI`` is known
without a header.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple

from nymlink.corpus.model import Document, Mention
from nymlink.corpus.options import CorpusOptions
from nymlink.corpus.readers import CorpusFormat
from nymlink.corpus.readers.columns import SPELLINGS, find_columns, is_mention
from nymlink.corpus.readers.common import (
    clean_ids,
    first_lines,
    most_match,
    place,
    some_documents,
    source_name,
    split_ids,
)
from nymlink.delimited import Record, delimiter_of, records
from nymlink.errors import InputError
from nymlink.files import read_head, read_lines
from nymlink.formats import Format
from nymlink.problems import Problems

_JSON: Final = re.compile(r'\s*\{\s*"')
_MEDMENTIONS: Final = re.compile(r"[0-9]{1,9}\t[^\t]+\tC[0-9]{7}\s*$")
_MEDMENTIONS_COLUMNS: Final = {"document": "1", "mention": "2", "concept_id": "3"}
_OFFSET: Final = re.compile("[0-9]{1,9}")
_SUFFIXES: Final = (".csv", ".tsv", ".jsonl", ".ndjson")


class _Row(NamedTuple):
    document: str
    context: str
    mention: Mention


def _recognises(path: Path, head: str) -> bool:
    lines = first_lines(head)
    if not lines:
        return False
    header = _header(lines[0])
    tabs = {line.count("\t") for line in lines}
    return (
        most_match(lines, _JSON)
        or most_match(lines, _MEDMENTIONS)
        or any(map(is_mention, header))
        # No header we know: a table all the same, so that the reader asks for its columns.
        or (len(header) > 1 and path.name.removesuffix(".gz").endswith(_SUFFIXES))
        or (len(lines) > 1 and len(tabs) == 1 and tabs != {0})
    )


def _header(line: str) -> list[str]:
    return [cell.strip().strip('"') for cell in line.split(delimiter_of(line))]


def _read(path: Path, *, options: CorpusOptions, problems: Problems) -> Iterator[Document]:
    return some_documents(_documents(path, options.columns, problems), path=path, problems=problems)


def _documents(path: Path, wanted: Mapping[str, str], problems: Problems) -> Iterator[Document]:
    name = source_name(path)
    grouped: dict[tuple[str, str], list[Mention]] = {}
    rows = _json_rows if most_match(first_lines(read_head(path)), _JSON) else _delimited_rows
    for line, columns, values in rows(path, wanted, problems):
        row = _row({ours: values.get(theirs) for ours, theirs in columns.items()}, path, line, problems)
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
        # One text a document: rows with other contexts become documents of their own.
        id_ = document if contexts[document] == 1 else f"{document}:{numbers[document]}"
        yield Document(id_, context, tuple(mentions))


_Rows = Iterator[tuple[int, Mapping[str, str], Mapping[str, Any]]]
"""Line number, our column → header, header → value."""


def _delimited_rows(path: Path, wanted: Mapping[str, str], problems: Problems) -> _Rows:
    lines = first_lines(read_head(path))
    delimiter = delimiter_of(lines[0]) if lines else ","
    rows = records(read_lines(path, problems), delimiter)
    first = next(rows, Record(1, []))
    header = [cell.strip() for cell in first.fields]
    if not wanted and not any(map(is_mention, header)) and most_match(lines, _MEDMENTIONS):
        wanted = _MEDMENTIONS_COLUMNS
    if wanted and all(theirs.isdecimal() and theirs not in header for theirs in wanted.values()):
        rows = chain([first], rows)
        width = max(len(header), *map(int, wanted.values()))
        header = [str(column) for column in range(1, width + 1)]
    columns = find_columns(header, wanted=wanted, path=path)
    missing = [theirs for ours, theirs in wanted.items() if ours not in columns]
    if missing or "mention" not in columns:
        what = f"no column {missing[0]!r}" if missing else "no column is called mention"
        raise InputError(
            f"{what} among {', '.join(header)}: name the file's columns (--column mention=…), "
            "by header, or by number where it has no header",
            path=path,
            line=first.line,
        )
    for row in rows:
        if len(row.fields) != len(header):
            problems.reject(path, row.line, f"{len(row.fields)} columns instead of {len(header)}")
            continue
        if row.as_written:
            problems.repair(path, row.line, "a stray quotation mark: left as it stands")
        yield row.line, columns, dict(zip(header, row.fields, strict=True))


def _json_rows(path: Path, wanted: Mapping[str, str], problems: Problems) -> _Rows:
    for number, line in read_lines(path, problems):
        if not line.strip():
            continue
        try:
            values = json.loads(line)
            # An escape can hold half a surrogate pair, which no file could be written with.
            json.dumps(values, ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            values = None
        if not isinstance(values, dict):
            problems.reject(path, number, "not a JSON object")
            continue
        # Objects need not all have the same keys.
        columns = find_columns(list(values), wanted=wanted, path=path)
        if "mention" in columns:
            yield number, columns, values
        else:
            problems.reject(path, number, f"no mention among the keys {', '.join(values)}")


def _row(values: Mapping[str, Any], path: Path, line: int, problems: Problems) -> _Row | None:
    texts = {ours: "" if values.get(ours) is None else str(values[ours]).strip() for ours in SPELLINGS}
    mention = texts["mention"]
    if not mention:
        problems.reject(path, line, "the mention is empty")
        return None
    ids = values.get("concept_id")
    gold = clean_ids(map(str, ids)) if isinstance(ids, list) else split_ids(texts["concept_id"], "|;")
    context = "" if values.get("context") is None else str(values["context"])
    start, end = _span(texts, mention, context, path, line, problems)
    return _Row(
        texts["document"],
        context,
        Mention(mention, start=start, end=end, type=texts["type"], concept_ids=gold),
    )


def _span(
    texts: Mapping[str, str], mention: str, context: str, path: Path, line: int, problems: Problems
) -> tuple[int, int] | tuple[None, None]:
    """The offsets that the row gives, mended where its context shows them wrong, or found in its context."""
    start, end = texts["start"], texts["end"]
    if not start and not end:
        at = context.find(mention) if context else -1
        return (None, None) if at < 0 else (at, at + len(mention))
    numbers = [int(offset) for offset in (start, end) if _OFFSET.fullmatch(offset)]
    if len(numbers) < 2 or numbers[0] > numbers[1]:
        problems.repair(path, line, f"{start!r} and {end!r} are not offsets: they were dropped")
        return None, None
    if not context:
        return numbers[0], numbers[1]
    return place(context, mention, *numbers, path=path, line=line, problems=problems)


FORMAT: Final[CorpusFormat] = Format(
    name="table",
    description="a CSV, TSV or JSON-lines table, one mention a row",
    recognises=_recognises,
    read=_read,
    priority=20,
)
