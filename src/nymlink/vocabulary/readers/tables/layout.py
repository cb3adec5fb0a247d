"""Which column of a delimited table is which: found by the headers, or as the caller says."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nymlink.core.delimited import DELIMITERS, list_headers, parse_records, require_distinct
from nymlink.core.errors import InputError

_SPELLINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "id": ("id", "concept_id", "curie", "class_id", "term_id", "identifier", "code", "cui"),
    "name": ("name", "preferred_name", "preferred_label", "label", "term", "str", "title", "phrase"),
    "synonyms": ("synonyms", "synonym", "alt_labels", "alt_label", "aliases"),
    "lang": ("lang", "language"),
    "kind": ("kind", "scope", "synonym_type"),
    "semantic_type": ("semantic_type", "semantic_types", "type", "category"),
    "definition": ("definition", "definitions", "description", "def"),
    "xrefs": ("xrefs", "xref"),
    "parents": ("parents", "parent", "is_a"),
    "obsolete": ("obsolete", "deprecated", "is_obsolete"),
    "replaced_by": ("replaced_by",),
}
_REQUIRED: Final = ("id", "name")


@dataclass(frozen=True, slots=True)
class Layout:
    """How a table is laid out.

    Attributes:
        delimiter: what stands between its fields.
        headers: its headers.
        columns: our column name → place of the file's column.
    """

    delimiter: str
    headers: tuple[str, ...]
    columns: Mapping[str, int]

    @property
    def is_complete(self) -> bool:
        """Whether there is a column of ids and one of names."""
        return all(column in self.columns for column in _REQUIRED)

    @property
    def unread(self) -> tuple[str, ...]:
        """The headers of columns that are none of ours."""
        read = set(self.columns.values())
        return tuple(header for place, header in enumerate(self.headers) if header and place not in read)


def find_layout(line: str, chosen: Mapping[str, str]) -> Layout:
    """The layout a header line tells of: of all delimiters, that which yields most of the columns needed.

    Args:
        line: the header line.
        chosen: our column name → the file's, where the headers are not to decide.
    """
    layouts = [_layout(line, delimiter, chosen) for delimiter in DELIMITERS]
    wanted = {*_REQUIRED, *map(_our_name, chosen)}
    return max(layouts, key=lambda layout: (len(wanted & layout.columns.keys()), len(layout.headers)))


def check_layout(layout: Layout, chosen: Mapping[str, str], path: Path, line: int) -> None:
    """See that all columns that are needed or were asked for are there, each of them once.

    Raises:
        InputError: one is not; the message lists those of the file.
    """
    for ours, theirs in chosen.items():
        if _our_name(ours) not in _SPELLINGS:
            raise InputError(f"there is no column {ours!r} to fill; known: {', '.join(_SPELLINGS)}")
        if _our_name(ours) not in layout.columns:
            raise InputError(
                f"no column {theirs!r}; the file has: {list_headers(layout.headers)}", path=path, line=line
            )
    missing = [column for column in _REQUIRED if column not in layout.columns]
    if missing:
        raise InputError(
            f"no header is known for the {' or the '.join(missing)}; the file has: "
            f"{list_headers(layout.headers)}. Say "
            f"which it is, for example `nymlink vocab build {shlex.quote(path.name)} -o FOLDER "
            f"{_example(missing, layout.unread)}`",
            path=path,
            line=line,
        )
    require_distinct(layout.headers, [layout.headers[place] for place in layout.columns.values()], path, line)


def _example(missing: Sequence[str], free: Sequence[str]) -> str:
    """What to type for columns that are missing, with the first headers that are free."""
    guessed = [*free, *("…" for _ in missing)]
    said = (shlex.quote(f"{ours}={theirs}") for ours, theirs in zip(missing, guessed, strict=False))
    return " ".join(f"--map-column {one}" for one in said)


def _layout(line: str, delimiter: str, chosen: Mapping[str, str]) -> Layout:
    record = next(parse_records([(1, line)], delimiter), None)
    headers = [field.strip() for field in record.fields] if record else []
    keys = [_key(header) for header in headers]
    columns: dict[str, int] = {}
    for ours, theirs in chosen.items():
        if theirs in headers:
            columns[_our_name(ours)] = headers.index(theirs)
        elif _key(theirs) in keys:
            columns[_our_name(ours)] = keys.index(_key(theirs))
    taken = set(columns.values())
    decided = {_our_name(ours) for ours in chosen}
    for column, spellings in _SPELLINGS.items():
        places = (keys.index(spelling) for spelling in spellings if spelling in keys)
        place = next((place for place in places if place not in taken), None)
        if place is not None and column not in decided:
            columns[column] = place
    return Layout(delimiter, tuple(headers), columns)


def _our_name(name: str) -> str:
    """Our columns may be called by any of their spellings too (``concept_id`` for ``id``)."""
    key = _key(name)
    return next((column for column, spellings in _SPELLINGS.items() if key in spellings), name)


def _key(header: str) -> str:
    return re.sub(r"[\s_-]+", "_", header.strip().lower())
