"""Find the columns of a delimited table, by their headers or by the mapping of the caller."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nymlink.core.errors import InputError
from nymlink.tables.delimited import DELIMITERS, list_headers, parse_records, require_distinct

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
    """Delimiter, headers and columns of a table.

    Attributes:
        delimiter: character between fields.
        headers: headers of all its columns.
        columns: column that is read (``id``, ``name`` …) → place of its header.
    """

    delimiter: str
    headers: tuple[str, ...]
    columns: Mapping[str, int]

    @property
    def is_complete(self) -> bool:
        """Whether there are columns of ids and of names."""
        return all(column in self.columns for column in _REQUIRED)

    @property
    def unread(self) -> tuple[str, ...]:
        """Headers of columns that are not read."""
        read = set(self.columns.values())
        return tuple(header for place, header in enumerate(self.headers) if header and place not in read)


def find_layout(line: str, chosen: Mapping[str, str]) -> Layout:
    """Derive the layout from a header line, with the delimiter that yields most of the required columns.

    Args:
        line: the header line.
        chosen: column → its header, for columns that the caller maps.
    """
    layouts = [_layout(line, delimiter, chosen) for delimiter in DELIMITERS]
    wanted = {*_REQUIRED, *map(_canonical, chosen)}
    return max(layouts, key=lambda layout: (len(wanted & layout.columns.keys()), len(layout.headers)))


def check_layout(layout: Layout, chosen: Mapping[str, str], path: Path, line: int) -> None:
    """Check that each required or mapped column occurs once in the file.

    Raises:
        InputError: a column is missing or repeated; the message lists the headers of the file.
    """
    for column, header in chosen.items():
        if _canonical(column) not in _SPELLINGS:
            raise InputError(f"there is no column {column!r} to fill; known: {', '.join(_SPELLINGS)}")
        if _canonical(column) not in layout.columns:
            raise InputError(
                f"no column {header!r}; the file has: {list_headers(layout.headers)}", path=path, line=line
            )
    missing = [column for column in _REQUIRED if column not in layout.columns]
    if missing:
        raise InputError(
            f"no header is known for the {' or the '.join(missing)}; the file has: "
            f"{list_headers(layout.headers)}. Name "
            f"its header, for example `nymlink vocab build {shlex.quote(path.name)} -o FOLDER "
            f"{_example(missing, layout.unread)}`",
            path=path,
            line=line,
        )
    require_distinct(layout.headers, [layout.headers[place] for place in layout.columns.values()], path, line)


_LONGEST: Final = 60
"""Number of characters of the longest header in an example."""


def _example(missing: Sequence[str], free: Sequence[str]) -> str:
    """Write the options that map missing columns to the first unused headers."""
    headers = [*(header for header in free if len(header) <= _LONGEST), *("…" for _ in missing)]
    options = (f"{column}={header}" for column, header in zip(missing, headers, strict=False))
    return " ".join(f"--map-column {shlex.quote(option)}" for option in options)


def _layout(line: str, delimiter: str, chosen: Mapping[str, str]) -> Layout:
    record = next(parse_records([(1, line)], delimiter), None)
    headers = [field.strip() for field in record.fields] if record else []
    keys = [_key(header) for header in headers]
    columns: dict[str, int] = {}
    for column, header in chosen.items():
        if header in headers:
            columns[_canonical(column)] = headers.index(header)
        elif _key(header) in keys:
            columns[_canonical(column)] = keys.index(_key(header))
    used = set(columns.values())
    mapped = set(map(_canonical, chosen))
    for column, spellings in _SPELLINGS.items():
        places = (keys.index(spelling) for spelling in spellings if spelling in keys)
        place = next((place for place in places if place not in used), None)
        if place is not None and column not in mapped:
            columns[column] = place
    return Layout(delimiter, tuple(headers), columns)


def _canonical(name: str) -> str:
    """Map a spelling of a column to its standard name (``concept_id`` to ``id``)."""
    key = _key(name)
    return next((column for column, spellings in _SPELLINGS.items() if key in spellings), name)


def _key(header: str) -> str:
    return re.sub(r"[\s_-]+", "_", header.strip().lower())
