"""Make documents from the rows of a table."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final, NamedTuple

from nymlink.core.problems import Problems
from nymlink.corpus.documents import Document, Mention
from nymlink.corpus.offsets import OffsetUnit, check_offsets, find_mention, to_code_points
from nymlink.corpus.readers.common import CorpusOptions, clean_ids, source_name, split_ids
from nymlink.tables.cells import NO_TEXT, cell_language, cell_text, is_text, mention_fault
from nymlink.tables.columns import SPELLINGS, find_columns, named_columns
from nymlink.tables.objects import object_keys

MentionRows = Iterator[tuple[int, Mapping[str, str], Mapping[str, Any]]]
"""Three values for each row: its line (its number in a file without lines); nymlink's column → header; header →
value."""

_OFFSET: Final = re.compile("[0-9]{1,9}")
_FIRST_ROWS: Final = 20
"""Number of JSON objects at the beginning of a file whose keys decide which keys are read."""


class _Row(NamedTuple):
    document: str
    context: str
    mention: Mention


def row_documents(rows: MentionRows, path: Path, options: CorpusOptions, problems: Problems) -> Iterator[Document]:
    """Group rows into documents. A row without a document becomes a document with the id ``<file>:<line>``."""
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


def object_rows(
    objects: Iterator[tuple[int, dict[str, Any]]], wanted: Mapping[str, str], path: Path, problems: Problems
) -> MentionRows:
    """Find nymlink's columns among the keys of the first objects, and check the types of all values."""
    first = list(islice(objects, _FIRST_ROWS))
    keys = object_keys(values for _, values in first)
    columns = named_columns(wanted, keys)
    for number, values in first:
        # Columns found in earlier objects stay; later keys only add missing columns.
        columns |= find_columns(list(values), wanted=columns, path=path, line=number)
    has_mentions = columns.setdefault("mention", "mention") in keys
    for number, values in chain(first, objects):
        if (fault := _fault(columns, values, has_mentions=has_mentions)) is None:
            yield number, columns, values
        else:
            problems.reject(path, number, fault)


def _fault(columns: Mapping[str, str], values: Mapping[str, Any], *, has_mentions: bool) -> str | None:
    """Say why a JSON object cannot be used; ``None`` if it can.

    Args:
        columns: nymlink's column → key.
        values: the object.
        has_mentions: whether the first objects have the key of mentions. Then an object without this key has an
            empty mention, which is no fault.
    """
    if not has_mentions and columns["mention"] not in values:
        return f"no {columns['mention']!r} among the keys {', '.join(values)}"
    for column, key in columns.items():
        if column == "mention":
            continue
        value = values.get(key)
        items = value if column == "concept_id" and isinstance(value, list) else [value]
        if not all(map(is_text, items)):
            return f"{key!r} cannot be {json.dumps(value, ensure_ascii=False)[:40]}"
    return None


def _row(values: Mapping[str, Any], offsets: OffsetUnit, path: Path, line: int, problems: Problems) -> _Row | None:
    texts = {column: cell_text(values.get(column)).strip() for column in SPELLINGS}
    mention = texts["mention"]
    if not mention:
        problems.repair(path, line, "the mention is empty: the row is passed over")
        return None
    if not is_text(values.get("mention")):
        problems.reject(path, line, NO_TEXT)
        return None
    if (fault := mention_fault(mention)) is not None:
        problems.reject(path, line, fault)
        return None
    ids = values.get("concept_id")
    if isinstance(ids, list):
        gold = clean_ids(cell_text(concept_id) for concept_id in ids if concept_id is not None)
    else:
        gold = split_ids(texts["concept_id"], "|;")
    context = cell_text(values.get("context"))
    if context.strip() == mention and texts["start"]:
        # No text around the mention: its offsets are those in a text that is not here.
        context = ""
    start, end = _span(texts, mention, context, offsets, path, line, problems)
    language = cell_language(texts["language"], path, line, problems)
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
    """Return the offsets of a row, corrected in its context; without any, look for the mention there."""
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
