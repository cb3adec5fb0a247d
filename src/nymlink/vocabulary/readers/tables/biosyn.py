"""BioSyn's dictionary text, in both of its layouts: ids, ``||``, names.

MEDIC: one concept a line, ``id|alternate|alternate||preferred name|synonym|synonym``.

Dictionary: one name a line, ``id||name``. Several ids in a line (``C567755|613097||tooth agenesis selective 6``)
are alternate ids of one concept, or concepts that share the name; the format does not distinguish these. Here, ids
that occur in exactly the same lines are one concept; other ids share the name, and so do ids joined by ``+``
(parts of a composite). The preferred name of a concept is the first name that it does not share.

All lines together decide the layout: few concepts of MEDIC have a second line, and few lines of a dictionary have
a second name.

An augmented dictionary ends with the names of training mentions, with the ids of the annotators. These lines
affect neither alternate ids nor preferred names. The format is that of Sung et al., "Biomedical entity
representations with synonym marginalization" (ACL 2020).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nymlink.core.errors import InputError
from nymlink.core.files import read_lines
from nymlink.core.problems import Problems
from nymlink.core.registry import Format
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers import VocabularyFormat
from nymlink.vocabulary.readers.language_filter import LanguageFilter
from nymlink.vocabulary.tables import TableBuilder, Tables

_LINE: Final = re.compile(r"[^|\s][^|]*(?:\|[^|]+)*\|\|[^|]+(?:\|[^|]+)*")
_LINES_CHECKED: Final = 20
_CHANCE_RETURNS: Final = 20
"""Number of lines that may return to an earlier id by chance."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """A line: its number, the parts of its id field (each one or more ids), and its names."""

    line: int
    parts: tuple[tuple[str, ...], ...]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Lines:
    """The concepts of each line, and alternate ids.

    Attributes:
        concepts: the concepts of each line.
        redirects: (alternate id, concept).
        bare_length: number of lines before those of training mentions.
    """

    concepts: list[tuple[str, ...]]
    redirects: list[tuple[str, str]]
    bare_length: int

    def preferred(self) -> dict[str, int]:
        """Map each concept to the line that begins with its preferred name, as a place in the lines.

        This is the concept's first line before those of training mentions that no other concept shares, because a
        shared name is not specific. If there is none, the first of all its lines counts.
        """
        places: dict[str, int] = {}
        for place, concepts in enumerate(self.concepts[: self.bare_length]):
            if len(concepts) == 1:
                places.setdefault(concepts[0], place)
        for place, concepts in enumerate(self.concepts):
            for concept in concepts:
                places.setdefault(concept, place)
        return places


def _recognises(path: Path, head: str) -> bool:  # noqa: ARG001
    lines = [line.strip() for line in head.split("\n") if line.strip()]
    # The last line of the head may be incomplete.
    checked = lines[:-1][:_LINES_CHECKED] or lines
    return 2 * sum(_LINE.fullmatch(line) is not None for line in checked) > len(checked)


def _read(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
    languages = LanguageFilter(options)
    entries = list(_entries(path, problems))
    if not entries:
        raise InputError("no line has the form id||name", path=path)
    read = _read_medic if _is_medic(entries) else _read_dictionary
    lines = read(entries, path, problems)
    preferred = lines.preferred()
    builder = TableBuilder()
    for place, (entry, concepts) in enumerate(zip(entries, lines.concepts, strict=True)):
        for concept in concepts:
            builder.concept(concept)
            for number, name in enumerate(entry.names if languages.wants(languages.default) else ()):
                kind = "preferred" if place == preferred[concept] and not number else "exact"
                builder.name(concept, name, lang=languages.default, kind=kind)
    for old, new in lines.redirects:
        builder.redirect(old, new)
    return builder.build()


def _entries(path: Path, problems: Problems) -> Iterator[_Entry]:
    for number, line in read_lines(path, problems):
        if not line.strip():
            continue
        ids, bars, names = line.partition("||")
        parts = tuple(filter(None, (_split(part) for part in ids.split("+"))))
        entry = _Entry(number, parts, _split(names))
        if not bars:
            problems.reject(path, number, "no || between id and name")
        elif not entry.parts:
            problems.reject(path, number, "no id before the ||")
        elif not entry.names:
            problems.reject(path, number, "no name after the ||")
        else:
            yield entry


def _split(field: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, (value.strip() for value in field.split("|")))))


def _is_medic(entries: Sequence[_Entry]) -> bool:
    """Whether lines with several names outnumber lines that repeat a concept of an earlier line."""
    known: set[str] = set()
    several, returning = 0, 0
    for entry in entries:
        heads = {part[0] for part in entry.parts}
        several += len(entry.names) > 1
        returning += not known.isdisjoint(heads)
        known |= heads
    return several > returning


def _read_medic(entries: Sequence[_Entry], path: Path, problems: Problems) -> _Lines:
    """Take the first id of each part as concept, and the others as alternates unless they are concepts."""
    concepts = [tuple(part[0] for part in entry.parts) for entry in entries]
    known: set[str] = set()
    for entry, heads in zip(entries, concepts, strict=True):
        for head in known.intersection(heads):
            problems.repair(path, entry.line, f"a second line of {head[:40]}: merged with the first")
        known.update(heads)
    redirects = [
        (alternate, part[0])
        for entry in entries
        for part in entry.parts
        for alternate in part[1:]
        if alternate not in known
    ]
    return _Lines(concepts, redirects, bare_length=len(entries))


def _read_dictionary(entries: Sequence[_Entry], path: Path, problems: Problems) -> _Lines:
    """Take ids that occur in the same parts of the same lines as one concept, with the first id as its id."""
    for entry in entries:
        if len(entry.names) > 1:
            problems.repair(path, entry.line, "several names where other lines have one: each taken as a name")
    bare_length = _bare_length(entries)
    bare_ids = {id_ for entry in entries[:bare_length] for part in entry.parts for id_ in part}
    places: dict[str, list[tuple[int, int]]] = {}
    for place, entry in enumerate(entries):
        for number, part in enumerate(entry.parts):
            for id_ in part:
                if place < bare_length or id_ not in bare_ids:
                    places.setdefault(id_, []).append((entry.line, number))
    first: dict[tuple[tuple[int, int], ...], str] = {}
    concept_of = {id_: first.setdefault(tuple(stands), id_) for id_, stands in places.items()}
    return _Lines(
        concepts=[
            tuple(dict.fromkeys(concept_of[id_] for part in entry.parts for id_ in part)) for entry in entries
        ],
        redirects=[(id_, concept) for id_, concept in concept_of.items() if id_ != concept],
        bare_length=bare_length,
    )


def _bare_length(entries: Sequence[_Entry]) -> int:
    """Count the lines before those of training mentions, if there are any.

    A dictionary lists the names of a concept together. Training mentions come in any order: most of their lines
    return to an earlier id. Counted from the end, lines that return outnumber the other lines most at the cut. A
    few such lines may be chance, and a dictionary with more than half of such lines is just unsorted.
    """
    seen: set[str] = set()
    previous: frozenset[str] = frozenset()
    returns = []
    for entry in entries:
        ids = frozenset(id_ for part in entry.parts for id_ in part)
        returns.append(bool(ids & seen) and not ids & previous)
        seen |= ids
        previous = ids
    surplus, largest, cut = 0, _CHANCE_RETURNS, len(entries)
    for place in range(len(entries) - 1, -1, -1):
        surplus += 1 if returns[place] else -1
        if surplus > largest:
            largest, cut = surplus, place
    return cut if 2 * cut > len(entries) else len(entries)


FORMAT: Final[VocabularyFormat] = Format(
    name="biosyn",
    description="BioSyn dictionary text: id||name a line, or id|alternate||name|synonym",
    recognises=_recognises,
    read=_read,
)
