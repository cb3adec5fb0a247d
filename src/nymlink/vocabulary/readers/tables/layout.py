"""Find the columns of a delimited table: by what the caller says, a ROBOT template, their headers, their content.

A ROBOT template (https://robot.obolibrary.org/template) states in the second row what each column holds.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Final

from nymlink.core.errors import InputError
from nymlink.tables.delimited import DELIMITERS, list_headers, parse_records, require_distinct
from nymlink.vocabulary.concepts import KINDS

_SPELLINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "id": ("id", "concept_id", "curie", "class_id", "term_id", "identifier", "code", "cui"),
    "name": ("name", "preferred_name", "preferred_label", "label", "term", "str", "title", "phrase"),
    "synonyms": ("synonyms", "synonym", "alt_labels", "alt_label", "aliases", "alias", "other_names"),
    "lang": ("lang", "language", "language_code"),
    "kind": ("kind", "scope", "synonym_type"),
    "semantic_type": ("semantic_type", "semantic_types", "type", "category"),
    "definition": ("definition", "definitions", "description", "def"),
    "xrefs": ("xrefs", "xref"),
    "parents": ("parents", "parent", "is_a"),
    "obsolete": ("obsolete", "deprecated", "is_obsolete"),
    "replaced_by": ("replaced_by",),
    "preferred": (),
    "exact": ("exact_synonyms", "exact_synonym"),
    "abbreviation": ("abbreviations", "abbreviation", "acronyms", "acronym"),
    "tradename": ("trade_names", "trade_name", "brand_names", "brand_name"),
    "related": ("related_synonyms", "related_synonym"),
    "narrow": ("narrow_synonyms", "narrow_synonym"),
    "broad": ("broad_synonyms", "broad_synonym"),
}
SYNONYM_ROLES: Final = frozenset({"synonyms", *KINDS})
"""Columns of which a table may have several."""
_ROW_IDS: Final = re.compile(
    r"(?:concept|term|compound|entity|class|\w*accession)(?:_id|_code|_number)?|curie|cui"
)
"""Headers of ids beside a column called "id" that only numbers the rows."""
_NUMBERED: Final = re.compile(r"_?\d+$")


@dataclass(frozen=True, slots=True)
class Column:
    """A column that is read.

    Attributes:
        role: what it holds (``id``, ``name`` …).
        place: its place, from 0.
        separator: the text between values of a cell; ``None`` if it is not stated.
    """

    role: str
    place: int
    separator: str | None = None


@dataclass(frozen=True, slots=True)
class Layout:
    """Delimiter, headers and columns of a table.

    Attributes:
        delimiter: character between fields.
        headers: headers of all its columns; their numbers in a table without a header.
        columns: the columns that are read.
        has_header: whether the first line names the columns.
    """

    delimiter: str
    headers: tuple[str, ...]
    columns: tuple[Column, ...]
    has_header: bool = True

    @property
    def roles(self) -> frozenset[str]:
        """What its columns hold."""
        return frozenset(column.role for column in self.columns)

    @property
    def is_complete(self) -> bool:
        """Whether there are columns of ids and of names."""
        return not self.missing

    @property
    def missing(self) -> tuple[str, ...]:
        """The required columns that are not there."""
        has_names = not self.roles.isdisjoint({"name", *SYNONYM_ROLES})
        return ("id",) * ("id" not in self.roles) + ("name",) * (not has_names)

    @property
    def unread(self) -> tuple[str, ...]:
        """Headers of columns that are not read."""
        read = {column.place for column in self.columns}
        return tuple(header for place, header in enumerate(self.headers) if header and place not in read)


def find_layout(line: str, chosen: Mapping[str, str | Sequence[str]]) -> Layout:
    """Derive the layout from the first line, with the delimiter that yields most of the required columns.

    Args:
        line: the first line.
        chosen: column → its header, or headers, or their numbers, for columns that the caller maps. If all are
            numbers, the first line is no header, unless it names ids and names.
    """
    pairs = [(_canonical(role), header) for role, given in chosen.items() for header in _listed(given)]
    layouts = [_layout(line, delimiter, pairs) for delimiter in DELIMITERS]
    wanted = {"id", "name", *(role for role, _ in pairs)}
    return max(layouts, key=lambda layout: (len(wanted & layout.roles), layout.is_complete, len(layout.headers)))


def check_layout(
    layout: Layout,
    chosen: Mapping[str, str | Sequence[str]],
    path: Path,
    line: int,
    rows: Sequence[Sequence[str]] = (),
) -> None:
    """Check that each required or mapped column occurs once in the file.

    Args:
        layout: the layout.
        chosen: the columns that the caller maps.
        path: the file, for messages.
        line: the line of its header.
        rows: the first rows, by which columns are proposed.

    Raises:
        InputError: a column is missing or repeated; the message lists the headers of the file.
    """
    for role, given in chosen.items():
        if _canonical(role) not in _SPELLINGS:
            raise InputError(f"there is no column {role!r} to fill; known: {', '.join(_SPELLINGS)}")
        for header in _listed(given):
            if _place(header, layout.headers) is None:
                raise InputError(
                    f"no column {header!r}; the file has: {list_headers(layout.headers)}", path=path, line=line
                )
    if layout.missing:
        raise InputError(
            f"no header is known for the {' or the '.join(layout.missing)}; the file has: "
            f"{list_headers(layout.headers)}. Name "
            f"{'the number of its column' if _is_data(layout, rows) else 'its header'}, for example "
            f"`nymlink vocab build {shlex.quote(path.name)} -o FOLDER {' '.join(propose(layout, rows))}`",
            path=path,
            line=line,
        )
    single = [layout.headers[column.place] for column in layout.columns if column.role not in SYNONYM_ROLES]
    require_distinct(layout.headers, single, path, line)


_LONGEST: Final = 60
"""Number of characters of the longest header in an example."""


def propose(layout: Layout, rows: Sequence[Sequence[str]]) -> list[str]:
    """Write the options that map missing columns to those whose content is likeliest, else the first ones.

    Columns of a table without a header are proposed by their numbers.

    Args:
        layout: the layout.
        rows: the first rows of the table.
    """
    taken = {column.place for column in layout.columns}
    is_data = _is_data(layout, rows)
    options = []
    for role in layout.missing:
        free = [
            place
            for place, header in enumerate(layout.headers)
            if header and place not in taken and len(header) <= _LONGEST
        ]
        score = id_score if role == "id" else name_score
        place = max(free, key=lambda place: score(column_values(rows, place)), default=None)
        taken.add(-1 if place is None else place)
        header = "…" if place is None else str(place + 1) if is_data else layout.headers[place]
        options.append(f"--map-column {shlex.quote(f'{role}={header}')}")
    return options


def _is_data(layout: Layout, rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether the header of a column of ids is itself an id, in the form of the others."""
    return any(
        id_score([header]) == id_score(values) > 0 and any(_form(header) == _form(value) for value in values)
        for place, header in enumerate(layout.headers)
        for values in (column_values(rows, place),)
    )


def _form(text: str) -> str:
    return re.sub("[A-Za-z]", "a", re.sub("[0-9]", "0", text))


def without_row_numbers(layout: Layout, rows: Sequence[Sequence[str]]) -> Layout:
    """Take another column of ids where the one called "id" only numbers the rows.

    Args:
        layout: the layout, as the headers give it.
        rows: the first rows of the table.
    """
    found = next((column for column in layout.columns if column.role == "id"), None)
    if (
        found is None
        or key_of(layout.headers[found.place]) != "id"
        or not _are_row_numbers(column_values(rows, found.place))
    ):
        return layout
    others = [
        place
        for place, header in enumerate(layout.headers)
        if place != found.place and _ROW_IDS.fullmatch(key_of(header)) and id_score(column_values(rows, place)) > 0
    ]
    if not others:
        return layout
    best = max(others, key=lambda place: id_score(column_values(rows, place)))
    columns = [column for column in layout.columns if column.place not in (found.place, best)]
    return replace(layout, columns=(Column("id", best), *columns))


def _are_row_numbers(values: Sequence[str]) -> bool:
    if len(values) < 2 or not all(value.isdecimal() and len(value) < 16 for value in values):
        return False
    numbers = [*map(int, values)]
    return all(one < other for one, other in pairwise(numbers))


_CURIE: Final = re.compile(r"[A-Za-z][\w.]*:\S+")
_CODE: Final = re.compile(r"(?=\D*\d)[\w.:/-]+")


def id_score(values: Sequence[str]) -> float:
    """Score the values of a column as ids: CURIEs before codes, these before numbers; 0 for other text."""
    given = [value for value in values if value]
    if 10 * len(given) < 9 * len(values) or not given:
        return 0
    return sum(
        3 if _CURIE.fullmatch(value) else (1 if value.isdecimal() else 2) if _CODE.fullmatch(value) else 0
        for value in given
    ) / len(given)


def name_score(values: Sequence[str]) -> float:
    """Score the values of a column as names: distinct, with letters, of some words; texts are too long."""
    given = [value for value in values if value]
    if not given:
        return 0
    words = sum(len(value.split()) for value in given) / len(given)
    shape = sum(0.3 if _CODE.fullmatch(value) else any(map(str.isalpha, value)) for value in given) / len(values)
    return len(set(given)) / len(given) * shape * (1 + min(words, 4) / 4) * (0.5 if words > 15 else 1)


def column_values(rows: Sequence[Sequence[str]], place: int) -> list[str]:
    """Get the cells of a column; missing ones are empty."""
    return [row[place].strip() if place < len(row) else "" for row in rows]


_TEMPLATE: Final = re.compile(
    r">*(?:ID|LABEL|TYPE|CLASS_TYPE|(?:A[LTI]?|SC|EC|DC|C|CI|I|TI|SI|DI|NI|SP|EP|DP|IP|DOMAIN|RANGE|CHARACTERISTIC)"
    r"(?: .*)?)"
)
_PROPERTY: Final = re.compile(
    r"A[LTI]?\s+(?P<property>'[^']*'|[^\s@^]+)(?:(?:@|\^\^)\S+)?(?:\s+SPLIT=(?P<separator>.*))?"
)
_PARENT: Final = re.compile(r"SC\s+%(?:\s+SPLIT=(?P<separator>.*))?")
_PROPERTIES: Final = {
    "label": "name",
    "preflabel": "name",
    "hasexactsynonym": "exact",
    "exact_synonym": "exact",
    "altlabel": "exact",
    "alternative_term": "exact",
    "iao_0000118": "exact",
    "hasrelatedsynonym": "related",
    "hasnarrowsynonym": "narrow",
    "hasbroadsynonym": "broad",
    "definition": "definition",
    "iao_0000115": "definition",
    "hasdbxref": "xrefs",
    "database_cross_reference": "xrefs",
    "exactmatch": "xrefs",
    "deprecated": "obsolete",
    "iao_0100001": "replaced_by",
    "hasobonamespace": "semantic_type",
}
"""What a property of a ROBOT template states, by its local name or its id."""


def with_template(layout: Layout, cells: Sequence[str], chosen: Iterable[str] = ()) -> Layout | None:
    """Complete a layout by a ROBOT template row.

    Args:
        layout: the layout, as the headers give it.
        cells: the row after the header.
        chosen: columns that the caller maps, which stay.

    Returns:
        The layout, or ``None`` if the row is no template.
    """
    stated = [cell.strip() for cell in cells]
    if not {"ID", "LABEL"} & set(stated) or not all(_TEMPLATE.fullmatch(cell) for cell in stated if cell):
        return None
    kept = set(map(_canonical, chosen))
    columns = [column for column in layout.columns if column.role in kept]
    for place, cell in enumerate(stated[: len(layout.headers)]):
        column = _template_column(cell, place)
        is_new = column is not None and all(column.role != known.role for known in columns)
        if column is not None and (is_new or (column.role in SYNONYM_ROLES and column.role not in kept)):
            columns.append(column)
    return replace(layout, columns=tuple(columns))


def _template_column(cell: str, place: int) -> Column | None:
    if cell in ("ID", "LABEL"):
        return Column("id" if cell == "ID" else "name", place)
    if match := _PARENT.fullmatch(cell):
        return Column("parents", place, match["separator"])
    match = _PROPERTY.fullmatch(cell)
    if match is None:
        return None
    stated = match["property"].strip("'").lower()
    names = (re.split("[#/:]", stated)[-1], re.sub(r"[:\s]", "_", stated))
    role = next((_PROPERTIES[name] for name in names if name in _PROPERTIES), None)
    return None if role is None else Column(role, place, match["separator"])


def _layout(line: str, delimiter: str, pairs: Sequence[tuple[str, str]]) -> Layout:
    record = next(parse_records([(1, line)], delimiter), None)
    headers = [field.strip() for field in record.fields] if record else []
    known = _known_columns(headers, ())
    named = Layout(delimiter, tuple(headers), known)
    if pairs and not named.is_complete and all(given.isdecimal() and given not in headers for _, given in pairs):
        width = len(headers)
        columns = [Column(role, int(given) - 1) for role, given in pairs if 1 <= int(given) <= width]
        return Layout(delimiter, tuple(map(str, range(1, width + 1))), tuple(columns), has_header=False)
    mapped = [Column(role, place) for role, given in pairs if (place := _place(given, headers)) is not None]
    taken = [Column(role, -1) for role, _ in pairs]
    return Layout(delimiter, tuple(headers), (*mapped, *_known_columns(headers, [*mapped, *taken])))


def _known_columns(headers: Sequence[str], mapped: Sequence[Column]) -> tuple[Column, ...]:
    keys = [key_of(header) for header in headers]
    used = {column.place for column in mapped}
    roles = {column.role for column in mapped}
    columns = []
    for role, spellings in _SPELLINGS.items():
        if role in roles:
            continue
        if role in SYNONYM_ROLES:
            places = [place for place, key in enumerate(keys) if _NUMBERED.sub("", key) in spellings]
        else:
            places = [keys.index(spelling) for spelling in spellings if spelling in keys]
        free = [place for place in places if place not in used][: None if role in SYNONYM_ROLES else 1]
        used.update(free)
        columns += [Column(role, place) for place in free]
    return tuple(columns)


def _place(given: str, headers: Sequence[str]) -> int | None:
    """Find a column by its header, in any spelling, or by its number from 1; ``None`` if there is none."""
    if given in headers:
        return headers.index(given)
    keys = [key_of(header) for header in headers]
    if key_of(given) in keys:
        return keys.index(key_of(given))
    is_number = given.isascii() and given.isdecimal() and 1 <= int(given[:9]) <= len(headers)
    return int(given) - 1 if is_number else None


def _listed(given: str | Sequence[str]) -> Sequence[str]:
    return [given] if isinstance(given, str) else given


def _canonical(name: str) -> str:
    """Map a spelling of a column to its standard name (``concept_id`` to ``id``)."""
    key = key_of(name)
    if key in _SPELLINGS:
        return key
    return next((column for column, spellings in _SPELLINGS.items() if key in spellings), name)


def key_of(header: str) -> str:
    """Write a header in one form: ``Preferred Label`` → ``preferred_label``."""
    return re.sub(r"[\s_-]+", "_", header.strip().lower())
