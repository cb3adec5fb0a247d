"""Columns of tables: their usual names, and the names or numbers given by users."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Final

from nymlink.core.errors import InputError
from nymlink.tables.delimited import is_sssom, list_headers, list_numbers, require_distinct

_SHOWN: Final = 40
"""Most characters of a name in a message."""

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
"""nymlink's columns and their spellings in files, the likeliest first, without case, blanks and hyphens."""

USAGI: Final = ("sourceCode", "sourceName", "mappingStatus", "conceptId")
"""Columns by which a review of Usagi is known."""

_OTHER_IDS: Final = ("id", "ids", "code", "codes", "curie", "curies", "cui", "cuis")
_ID_ENDINGS: Final = ("_id", "_ids", "_code", "_curie", "_cui")


def normalise_header(header: str) -> str:
    """Write a header in the form of :data:`SPELLINGS`."""
    return "_".join(header.split()).casefold().replace("-", "_")


def is_mention(header: str) -> bool:
    """Whether a header is a common spelling of the mention column."""
    return normalise_header(header) in SPELLINGS["mention"]


def are_mentions(headers: Sequence[str]) -> bool:
    """Whether headers describe mentions in texts: mention, start and end.

    A column called "text" may hold whole texts; it does not count as a mention here.
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
        wanted: column → header, for columns named by the caller; headers that the file lacks are ignored.
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
    if is_sssom(headers) and "object_id" in headers:
        columns.setdefault("concept_id", "object_id")
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


def header_columns(header: Sequence[str], wanted: Mapping[str, str], path: Path, line: int) -> dict[str, str]:
    """Find nymlink's columns in a table with one header.

    Raises:
        InputError: a wanted column is missing, no column holds mentions, or two have the same name.
    """
    wanted = named_columns(wanted, header)
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


def named_columns(wanted: Mapping[str, str], header: Sequence[str]) -> dict[str, str]:
    """Replace 1-based numbers of columns by their names. A column whose name is that number is meant first.

    A line break in a name may be written as a blank.
    """
    names = {" ".join(name.split()): name for name in reversed(header)} | {name: name for name in header}
    return {
        column: header[int(given) - 1]
        if given not in names and given.isdecimal() and 1 <= int(given) <= len(header)
        else names.get(given, given)
        for column, given in wanted.items()
    }


def column_place(header: Sequence[str], column: str, path: Path | None, option: str) -> int:
    """Return the index of a column given by name or 1-based number; names have priority.

    Args:
        header: names of the columns.
        column: the name or the number.
        path: the file, for messages.
        option: the option of the column, for messages, for example ``--column ``.

    Raises:
        InputError: there is no such column, or several have this name.
    """
    # A name with a line break is given with a blank.
    spellings = [(name, name.strip(), " ".join(name.split())) for name in header]
    places = [place for place, names in enumerate(spellings) if column in names]
    if len(places) > 1:
        numbers = [str(place + 1) for place in places]
        raise InputError(
            f"columns {list_numbers(numbers)} have the same name, {column[:_SHOWN]!r}: give the number of the one "
            f"that is meant, for example {option}{numbers[0]}",
            path=path,
        )
    if places:
        return places[0]
    if column.isascii() and column.isdecimal() and 1 <= int(column[:9]) <= len(header):
        return int(column[:9]) - 1
    example = shlex.quote(likely_mention(header).strip())
    raise InputError(
        f"no column {column[:_SHOWN]!r}; the table has: {list_headers(header)} (for example {option}{example})",
        path=path,
    )
