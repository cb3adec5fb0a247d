"""Find the roles of a table's columns: terms, codes, frequencies, languages and types."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final, Unpack

from nymlink.core.language_codes import normalise_language
from nymlink.core.problems import Problems
from nymlink.tables.cells import mention_fault
from nymlink.tables.columns import SPELLINGS, column_place, normalise_header
from nymlink.tables.sheet import Reading, Sheet, read_sheet

_LOOKED_AT: Final = 500
"""Rows checked for guessing columns."""
_NUMBER: Final = re.compile(r"[\s\d.,:/+-]*")
_ID: Final = re.compile(r"[A-Za-z_.]{0,20}[:_-]?[0-9][\w.:-]*|https?://\S+")
_FREQUENCIES: Final = frozenset(
    "frequency freq count n occurrences sourcefrequency haufigkeit anzahl vorkommen frecuencia recuento cantidad "
    "numero veces frequence effectif nombre occurrence".split()
)
_MENTIONS: Final = (
    *SPELLINGS["mention"],
    *"begriff bezeichnung diagnose diagnosen befund befunde diagnosetext symptom klartext".split(),
    *"termino diagnostico hallazgo sintoma descripcion nombre_del_termino denominacion".split(),
    *"terme libelle diagnostic symptome constat intitule designation".split(),
)
"""Headers of columns of terms, the likeliest first, in English, German, Spanish and French."""
_LANGUAGES: Final = frozenset((*SPELLINGS["language"], "sprache", "idioma", "lengua", "langue"))
_COUNT: Final = re.compile(r"\s*[0-9]{1,12}\s*")
_KNOWN: Final = {
    "usagi": {"mention": ["sourceName"], "code": ["sourceCode"], "frequency": ["sourceFrequency"]},
    "sssom": {"mention": ["subject_label", "subject_id"], "code": ["subject_id"]},
}
"""Columns of formats with fixed headers, the likeliest first."""


@dataclass(frozen=True, slots=True)
class Roles:
    """The column of each role, by its place; ``None`` for none.

    Attributes:
        mention: the terms.
        code: their codes in the source.
        frequency: their frequencies.
        language: codes of their languages.
        type: their types; equal terms of different types count separately.
    """

    mention: int
    code: int | None = None
    frequency: int | None = None
    language: int | None = None
    type: int | None = None

    def to_dict(self) -> dict[str, int | None]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


def find_roles(sheet: Sheet, said: Mapping[str, str]) -> tuple[Roles, list[str]]:
    """Find the roles of the columns of a table.

    Args:
        sheet: the table.
        said: role → header or number of a column from 1; missing roles are guessed.

    Returns:
        The columns, and what was guessed, in words.

    Raises:
        InputError: there is no such column, or several.
    """
    found: dict[str, int] = {
        role: column_place(sheet.header, header, None, f"{role}=") for role, header in said.items() if header
    }
    guessed = []
    for role, guess in _guesses(sheet).items():
        if role not in said and guess is not None and guess not in found.values():
            found[role] = guess
            if sheet.format != "lines":
                guessed.append(f"{_WORDS[role]}: column {sheet.header[guess]!r}")
    # A column given for another role may have been the best guess for terms.
    found.setdefault("mention", 0)
    return Roles(**found), guessed


_WORDS: Final = {"mention": "terms", "code": "codes", "frequency": "frequencies", "language": "languages"}


def _guesses(sheet: Sheet) -> dict[str, int | None]:
    known = _KNOWN.get(sheet.format)
    if known is not None:
        return {
            role: next((sheet.header.index(name) for name in names if name in sheet.header), None)
            for role, names in known.items()
        }
    # Headers may lack accents: "Häufigkeit", "termino".
    names = [_without_accents(normalise_header(name)) for name in sheet.header]
    whole = [row for number, row in sheet.rows[:_LOOKED_AT] if number not in sheet.ragged]
    cells = [[row[place] for row in whole] for place in range(len(names))]
    return {
        "mention": _mention(names, cells),
        "code": None,
        "frequency": _first(names, cells, _FREQUENCIES, lambda cell: _COUNT.fullmatch(cell) is not None),
        "language": _first(names, cells, _LANGUAGES, lambda cell: normalise_language(cell) is not None),
    }


def _without_accents(text: str) -> str:
    return "".join(letter for letter in unicodedata.normalize("NFD", text) if not unicodedata.combining(letter))


def _mention(names: Sequence[str], cells: Sequence[Sequence[str]]) -> int:
    """Guess the column of terms: by its name, else the one that looks most like names of something."""
    named = [place for place, name in enumerate(names) if name in _MENTIONS]
    if named:
        return min(named, key=lambda place: _MENTIONS.index(names[place]))
    return max(range(len(names)), key=lambda place: _likeness(cells[place]))


def _likeness(cells: Sequence[str]) -> float:
    """Rate how much a column looks like terms: words, few ids, many different values, neither short nor long."""
    given = [cell.strip() for cell in cells if cell.strip()]
    if not given:
        return -1.0
    words = sum(not (_NUMBER.fullmatch(cell) or _ID.fullmatch(cell)) for cell in given) / len(given)
    fitting = sum(3 <= len(cell) <= 100 for cell in given) / len(given)
    several = sum(" " in cell for cell in given) / len(given)
    distinct = len(set(given)) / len(given)
    return words * (fitting + several + distinct) * len(given) / max(len(cells), 1)


def _first(names: Sequence[str], cells: Sequence[Sequence[str]], known: frozenset[str], fits: Any) -> int | None:
    """Find the first column with one of these names and with fitting cells."""
    for place, name in enumerate(names):
        given = [cell for cell in cells[place] if cell.strip()]
        if name in known and given and all(map(fits, given)):
            return place
    return None


_SAMPLES: Final = 3
_ROWS: Final = 5
_LONGEST: Final = 200
"""Most characters of a cell in a preview."""


def preview_table(
    raw: bytes,
    name: str,
    *,
    columns: Mapping[str, str] | None = None,
    **reading: Unpack[Reading],
) -> dict[str, Any]:
    """Read a table, and describe it as JSON values.

    Args:
        raw: the bytes of the file.
        name: its name.
        columns: the column of each role, if it is not to be guessed.
        reading: see :func:`~nymlink.tables.sheet.read_sheet`.

    Raises:
        InputError: it is no table, or has no such column.
    """
    problems = Problems()
    read = read_sheet(raw, name, problems, **reading)
    roles, guessed = find_roles(read, columns or {})
    for number, cells in read.rows:
        if number not in read.ragged and (fault := mention_fault(cells[roles.mention])) is not None:
            problems.reject(Path(read.name), number, fault, outcome="kept, not linked")
    header = read.header
    return {
        "format": read.format,
        "encoding": read.encoding,
        "delimiter": read.delimiter,
        "sheets": list(read.sheets),
        "sheet": read.title,
        "header_row": None if read.format == "lines" else read.header_row,
        "guessed": [*read.guessed, *guessed],
        "columns": [{"name": column, **_describe(read, place)} for place, column in enumerate(header)],
        "column": header[roles.mention],
        **{
            role: None if place is None else header[place]
            for role, place in roles.to_dict().items()
            if role != "mention"
        },
        "rows": [[cell[:_LONGEST] for cell in row] for _, row in read.rows[:_ROWS]],
        "total_rows": len(read.rows),
        "problems": problems.to_dict(),
    }


def _describe(sheet: Sheet, place: int) -> dict[str, Any]:
    distinct = dict.fromkeys(row[place].strip() for _, row in sheet.rows)
    distinct.pop("", None)
    return {"samples": [cell[:_LONGEST] for cell in list(distinct)[:_SAMPLES]], "distinct": len(distinct)}
