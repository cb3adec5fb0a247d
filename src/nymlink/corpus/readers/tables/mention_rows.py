"""Make documents of the rows of a table of mentions, however the table is stored."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from types import NoneType
from typing import Any, Final, NamedTuple

from nymlink.core.delimited import list_headers, require_distinct
from nymlink.core.errors import InputError
from nymlink.core.problems import Problems
from nymlink.corpus.find_mention import find_mention
from nymlink.corpus.model import Document, Mention
from nymlink.corpus.offset_units import OffsetUnit, to_code_points
from nymlink.corpus.options import CorpusOptions
from nymlink.corpus.readers.columns import SPELLINGS, find_columns, likely_mention
from nymlink.corpus.readers.common import clean_ids, mention_language, source_name, split_ids
from nymlink.corpus.readers.offsets import check_offsets

MentionRows = Iterator[tuple[int, Mapping[str, str], Mapping[str, Any]]]
"""For each row: its line, or its number in a file without lines; nymlink's column → header; header → value."""

_OFFSET: Final = re.compile("[0-9]{1,9}")
_FIRST_ROWS: Final = 20
"""Rows with keys of their own that decide which keys are read."""
_MAY_BE_NUMBERS: Final = frozenset({"concept_id", "document", "start", "end", "mention_id"})
"""Columns in which values may be numbers."""
_TEXT: Final = (str, NoneType)
_TEXT_OR_NUMBER: Final = (*_TEXT, int, float)


class _Row(NamedTuple):
    document: str
    context: str
    mention: Mention


def row_documents(rows: MentionRows, path: Path, options: CorpusOptions, problems: Problems) -> Iterator[Document]:
    """Group rows to documents; a row without a document is a document of its own, ``<file>:<line>``."""
    name = source_name(path)
    grouped: dict[tuple[str, str], list[Mention]] = {}
    for line, columns, values in rows:
        named = {column: values.get(header) for column, header in columns.items()}
        row = _row(named, options.offsets, path, line, problems)
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


def header_columns(header: Sequence[str], wanted: Mapping[str, str], path: Path, line: int) -> dict[str, str]:
    """Find nymlink's columns in a table with one header.

    Raises:
        InputError: a column that is wanted is not there, or none holds mentions, or two have the same name.
    """
    columns = find_columns(header, wanted=wanted, path=path, line=line)
    missing = [name for column, name in wanted.items() if column not in columns]
    if missing or "mention" not in columns:
        what = f"no column {missing[0]!r}" if missing else "no column is called mention"
        example = shlex.quote(f"mention={likely_mention(header)}")
        raise InputError(
            f"{what} among {list_headers(header)}: name the file's columns, by header, or by number where it has "
            f"no header, for example --map-column {example}",
            path=path,
            line=line,
        )
    require_distinct(header, columns.values(), path, line)
    return columns


def object_rows(
    objects: Iterator[tuple[int, dict[str, Any]]], wanted: Mapping[str, str], path: Path, problems: Problems
) -> MentionRows:
    """Find nymlink's columns among the keys of objects, of which the first ones decide; check types of values."""
    first = list(islice(objects, _FIRST_ROWS))
    columns = dict(wanted)
    for number, values in first:
        # Columns found in earlier objects stay; later keys only add missing columns.
        columns |= find_columns(list(values), wanted=columns, path=path, line=number)
    columns.setdefault("mention", "mention")
    for number, values in chain(first, objects):
        fault = _fault(columns, values)
        if fault is None:
            yield number, columns, values
        else:
            problems.reject(path, number, fault)


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


def _row(values: Mapping[str, Any], offsets: OffsetUnit, path: Path, line: int, problems: Problems) -> _Row | None:
    texts = {column: "" if values.get(column) is None else str(values[column]).strip() for column in SPELLINGS}
    mention = texts["mention"]
    if not mention:
        problems.reject(path, line, "the mention is empty")
        return None
    if "\0" in mention:
        problems.reject(path, line, "the mention holds a NUL character: this is not text")
        return None
    ids = values.get("concept_id")
    if isinstance(ids, list):
        gold = clean_ids(str(concept_id) for concept_id in ids if concept_id is not None)
    else:
        gold = split_ids(texts["concept_id"], "|;")
    context = "" if values.get("context") is None else str(values["context"])
    if context.strip() == mention and texts["start"]:
        # No text around the mention: its offsets are those in a text that is not here.
        context = ""
    start, end = _span(texts, mention, context, offsets, path, line, problems)
    language = mention_language(texts["language"], path, line, problems)
    return _Row(
        texts["document"],
        context,
        Mention(
            mention if start is None or not context else context[start:end],
            start=start,
            end=end,
            type=texts["type"],
            concept_ids=gold,
            language=language,
            id=texts["mention_id"] or None,
        ),
    )


def _span(
    texts: Mapping[str, str],
    mention: str,
    context: str,
    unit: OffsetUnit,
    path: Path,
    line: int,
    problems: Problems,
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
    first, last = map(to_code_points(context, unit), numbers)
    return check_offsets(context, mention, first, last, path=path, line=line, problems=problems)
