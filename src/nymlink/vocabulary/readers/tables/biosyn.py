"""BioSyn's dictionary text, in both of its shapes. ``||`` stands between ids and names.

MEDIC: one concept a line, ``id|alternate|alternate||preferred name|synonym|synonym``.
Dictionary: one name a line, ``id||name``. Several ids (``C567755|613097||tooth agenesis selective 6``) are
alternates of one concept or concepts that share the name, and the form does not say which. Here, ids that stand in
exactly the same lines are one concept, all others share the name; ids joined by ``+`` (parts of a composite)
always share it. A concept is called by the first name that it has for itself.

Which of the two shapes it is, is for all lines together to say: few concepts of MEDIC have a second line, and few
lines of a dictionary a second name.

An augmented dictionary ends in the names of training mentions, which call a concept by whichever of its ids the
annotator wrote; those lines say nothing about what is an alternate of what, or what a concept is called. The form
is that of Sung et al., "Biomedical entity representations with synonym marginalization" (ACL 2020).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nymlink.core.errors import InputError
from nymlink.core.files import read_lines
from nymlink.core.formats import Format
from nymlink.core.problems import Problems
from nymlink.vocabulary.options import ReadOptions
from nymlink.vocabulary.readers import VocabularyFormat
from nymlink.vocabulary.readers._languages import Languages
from nymlink.vocabulary.tables import TableBuilder, Tables

_LINE: Final = re.compile(r"[^|\s][^|]*(?:\|[^|]+)*\|\|[^|]+(?:\|[^|]+)*")
_LINES_LOOKED_AT: Final = 20
_CHANCE: Final = 20
"""How many lines may return to an id left behind without that meaning anything."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """One line: its number, the parts of its id field (each some ids), and its names."""

    line: int
    parts: tuple[tuple[str, ...], ...]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Reading:
    """What the lines mean.

    Attributes:
        concepts: those of each line.
        redirects: (alternate id, concept).
        own: how many lines, from the first, give the concepts' own names; training mentions follow.
    """

    concepts: list[tuple[str, ...]]
    redirects: list[tuple[str, str]]
    own: int

    def preferred(self) -> dict[str, int]:
        """Concept → place of the line that begins with its preferred name.

        That is the first of its own lines in which it stands alone: a name shared with others says little of
        any one of them. A concept without such a line takes the first of all its lines.
        """
        places: dict[str, int] = {}
        for place, concepts in enumerate(self.concepts[: self.own]):
            if len(concepts) == 1:
                places.setdefault(concepts[0], place)
        for place, concepts in enumerate(self.concepts):
            for concept in concepts:
                places.setdefault(concept, place)
        return places


def _recognises(path: Path, head: str) -> bool:  # noqa: ARG001
    lines = [line.strip() for line in head.split("\n") if line.strip()]
    # The last line may be cut short.
    looked_at = lines[:-1][:_LINES_LOOKED_AT] or lines
    return 2 * sum(_LINE.fullmatch(line) is not None for line in looked_at) > len(looked_at)


def _read(path: Path, *, options: ReadOptions, problems: Problems) -> Tables:
    languages = Languages(options)
    entries = list(_entries(path, problems))
    if not entries:
        raise InputError("no line of the form id||name in it", path=path)
    read = _read_medic if _is_medic(entries) else _read_dictionary
    reading = read(entries, path, problems)
    preferred = reading.preferred()
    builder = TableBuilder()
    for place, (entry, concepts) in enumerate(zip(entries, reading.concepts, strict=True)):
        for concept in concepts:
            builder.concept(concept)
            for number, name in enumerate(entry.names if languages.wants(languages.default) else ()):
                kind = "preferred" if place == preferred[concept] and not number else "exact"
                builder.name(concept, name, lang=languages.default, kind=kind)
    for old, new in reading.redirects:
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
    """Whether more lines have several names than return to a concept that has a line already."""
    known: set[str] = set()
    several, returning = 0, 0
    for entry in entries:
        heads = {part[0] for part in entry.parts}
        several += len(entry.names) > 1
        returning += not known.isdisjoint(heads)
        known |= heads
    return several > returning


def _read_medic(entries: Sequence[_Entry], path: Path, problems: Problems) -> _Reading:
    """The first id is the concept; an id that is a concept itself is nobody's alternate."""
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
    return _Reading(concepts, redirects, own=len(entries))


def _read_dictionary(entries: Sequence[_Entry], path: Path, problems: Problems) -> _Reading:
    """Ids that stand in the same parts of the same lines are one concept, under the id written first."""
    for entry in entries:
        if len(entry.names) > 1:
            problems.repair(path, entry.line, "several names where other lines have one: each taken as a name")
    bare = _bare_length(entries)
    own = {id_ for entry in entries[:bare] for part in entry.parts for id_ in part}
    places: dict[str, list[tuple[int, int]]] = {}
    for place, entry in enumerate(entries):
        for number, part in enumerate(entry.parts):
            for id_ in part:
                if place < bare or id_ not in own:
                    places.setdefault(id_, []).append((entry.line, number))
    first: dict[tuple[tuple[int, int], ...], str] = {}
    concept_of = {id_: first.setdefault(tuple(stands), id_) for id_, stands in places.items()}
    return _Reading(
        concepts=[
            tuple(dict.fromkeys(concept_of[id_] for part in entry.parts for id_ in part)) for entry in entries
        ],
        redirects=[(id_, concept) for id_, concept in concept_of.items() if id_ != concept],
        own=bare,
    )


def _bare_length(entries: Sequence[_Entry]) -> int:
    """How many lines there are before the names of training mentions, if any, begin.

    The names of a dictionary's own concepts stand together; those of training mentions stand anywhere, so that
    most of their lines return to an id left behind. The cut is where, counted from the end, lines that return
    outnumber those that do not by the most. A few such lines prove nothing, and a dictionary more than half of
    which returns is simply not in order.
    """
    seen: set[str] = set()
    previous: frozenset[str] = frozenset()
    returns = []
    for entry in entries:
        ids = frozenset(id_ for part in entry.parts for id_ in part)
        returns.append(bool(ids & seen) and not ids & previous)
        seen |= ids
        previous = ids
    surplus, most, cut = 0, _CHANCE, len(entries)
    for place in range(len(entries) - 1, -1, -1):
        surplus += 1 if returns[place] else -1
        if surplus > most:
            most, cut = surplus, place
    return cut if 2 * cut > len(entries) else len(entries)


FORMAT: Final[VocabularyFormat] = Format(
    name="biosyn",
    description="BioSyn dictionary text: id||name a line, or id|alternate||name|synonym",
    recognises=_recognises,
    read=_read,
)
