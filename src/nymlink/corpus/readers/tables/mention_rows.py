"""Mentions in rows of a table: its layout, its columns, its cells."""

from __future__ import annotations

import json
import re
import shlex
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, islice
from pathlib import Path
from types import NoneType
from typing import Any, Final, NamedTuple

from nymlink.core.delimited import (
    DELIMITER_NAMES,
    guess_delimiter,
    list_headers,
    parse_records,
    require_distinct,
    restore_cell,
)
from nymlink.core.encodings import WINDOWS_1252, describe_utf16, detect_utf16, encoding_of
from nymlink.core.errors import InputError
from nymlink.core.files import open_bytes, read_head
from nymlink.core.problems import Problems
from nymlink.corpus.documents import Document, Mention
from nymlink.corpus.offsets import OffsetUnit, check_offsets, find_mention, to_code_points
from nymlink.corpus.readers.common import CorpusOptions, clean_ids, mention_language, source_name, split_ids

_USUAL_DELIMITERS: Final = {".csv": ",", ".tsv": "\t"}
_LOOKED_AT: Final = 1 << 20
"""Bytes by which the encoding is told."""


@dataclass(frozen=True, slots=True)
class TableLayout:
    """A table of text as it is read.

    Attributes:
        encoding: as its beginning tells it: ``"UTF-8"``, ``"UTF-16"`` or ``"Windows-1252"``.
        delimiter: the character between fields.
        columns: the fields of its first line, which is its header unless the caller says otherwise.
        guesses: what is guessed, a sentence each; empty where the file says it itself.
    """

    encoding: str
    delimiter: str
    columns: tuple[str, ...]
    guesses: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def table_layout(path: Path) -> TableLayout:
    """Describe a CSV or TSV file, plain or gzip, by its beginning.

    Raises:
        InputError: the file is missing, a directory, or compressed in another way.
    """
    with open_bytes(path) as file:
        head = file.read(_LOOKED_AT)
    guesses = []
    encoding = encoding_of(head)
    if encoding == WINDOWS_1252:
        guesses.append("its beginning is not UTF-8: such lines are read as Windows-1252")
    elif (codec := detect_utf16(head)) is not None and codec != "utf-16":
        guesses.append(describe_utf16(head))
    first = next((line for line in read_head(path).split("\n") if line.strip()), "").rstrip("\r")
    delimiter = guess_delimiter(first)
    record = next(parse_records([(1, first)], delimiter, keep_blank=True))
    columns = tuple(restore_cell(field).strip() for field in record.fields)
    if (guess := delimiter_guess(path, delimiter, columns)) is not None:
        guesses.append(guess)
    return TableLayout(encoding, delimiter, columns, tuple(guesses))


def delimiter_guess(path: Path, delimiter: str, header: Sequence[str]) -> str | None:
    """Say that fields are separated in another way than the ending of the file's name says, or ``None``.

    A single column has nothing that separates it from others.
    """
    usual = _USUAL_DELIMITERS.get(Path(path.name.lower().removesuffix(".gz")).suffix)
    if usual in (None, delimiter) or len(header) < 2:
        return None
    return (
        f"its first line tells that fields are separated by {DELIMITER_NAMES[delimiter]}, not by "
        f"{DELIMITER_NAMES[usual]} as its name says: so it is read"
    )


def say_delimiter(path: Path, delimiter: str, header: Sequence[str]) -> None:
    """Warn where fields are separated in another way than the ending of the file's name says."""
    if (guess := delimiter_guess(path, delimiter, header)) is not None:
        warnings.warn(f"{path}: {guess}", stacklevel=2)


SPELLINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "mention": ("mention", "surface", "surface_form", "query", "term", "phrase", "name", "text"),
    "concept_id": ("concept_id", "concept_ids", "gold", "gold_id", "gold_ids"),
    "document": ("document", "document_id", "doc", "doc_id", "docid", "pmid", "pubmed_id"),
    "start": ("start", "start_offset", "begin"),
    "end": ("end", "end_offset", "stop"),
    "type": ("type", "semantic_type", "entity_type", "category"),
    "language": ("language", "lang"),
    "context": ("context", "sentence", "passage", "text"),
    "mention_id": ("mention_id", "source_code", "sourcecode"),
}
"""nymlink's columns and their spellings in files, the likeliest first; case, blanks and hyphens do not matter."""

_OTHER_IDS: Final = ("id", "ids", "code", "codes", "curie", "curies", "cui", "cuis")
_ID_ENDINGS: Final = ("_id", "_ids", "_code", "_curie", "_cui")


def normalise_header(header: str) -> str:
    """Write a header in the form of :data:`SPELLINGS`."""
    return header.strip().casefold().replace(" ", "_").replace("-", "_")


def is_mention(header: str) -> bool:
    """Whether a header is a common spelling of the mention column."""
    return normalise_header(header) in SPELLINGS["mention"]


def are_mentions(headers: Sequence[str]) -> bool:
    """Whether headers are those of mentions in texts: with a mention, where it starts and where it ends.

    A column called "text" may hold whole texts, and is no mention here.
    """
    names = set(map(normalise_header, headers)) - {"text"}
    return all(not names.isdisjoint(SPELLINGS[column]) for column in ("mention", "start", "end"))


def likely_mention(headers: Sequence[str]) -> str:
    """Guess the mention column: the first header with a common spelling, else the first without ids."""
    known = filter(is_mention, headers)
    others = (header for header in headers if header.strip() and not _may_be_id(header))
    return next(chain(known, others), headers[0])


def find_columns(headers: Sequence[str], *, wanted: Mapping[str, str], path: Path, line: int) -> dict[str, str]:
    """Find nymlink's columns among a file's headers.

    Args:
        headers: the file's headers.
        wanted: column → header, for columns that the caller names; a header the file lacks is ignored.
        path: the file, for error messages.
        line: the line of the headers, for error messages.

    Returns:
        Column → header, for the columns found.

    Raises:
        InputError: ``wanted`` names an unknown column, or several columns could hold the gold ids.
    """
    unknown = [column for column in wanted if column not in SPELLINGS]
    if unknown:
        known = ", ".join(SPELLINGS)
        raise InputError(
            f"unknown column {unknown[0]!r} in the options: the columns of a mention table are {known}", path=path
        )
    columns = {column: header for column, header in wanted.items() if header in headers}
    for column, spellings in SPELLINGS.items():
        if column not in wanted:
            free = [
                header
                for header in headers
                if normalise_header(header) in spellings and header not in columns.values()
            ]
            if free:
                columns[column] = min(free, key=lambda header: spellings.index(normalise_header(header)))
    if "concept_id" not in wanted and "concept_id" not in columns:
        candidates = [header for header in headers if _may_be_id(header) and header not in columns.values()]
        if len(candidates) > 1:
            raise InputError(
                f"several columns could hold the gold ids ({', '.join(candidates)}): "
                f"name one of them as 'concept_id' (--map-column concept_id=…)",
                path=path,
                line=line,
            )
        if candidates:
            columns["concept_id"] = candidates[0]
    return columns


def _may_be_id(header: str) -> bool:
    name = normalise_header(header)
    is_known = any(name in spellings for spellings in SPELLINGS.values())
    return not is_known and (name in _OTHER_IDS or name.endswith(_ID_ENDINGS))


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
