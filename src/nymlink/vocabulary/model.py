"""The parts of a vocabulary: concepts, names, and sources."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass
from itertools import count
from typing import Any, Final

KINDS: Final = ("preferred", "exact", "abbreviation", "tradename", "related", "narrow", "broad")
"""The kinds of names, from the surest synonym to the loosest."""

SYNONYM_KINDS: Final = tuple(kind for kind in KINDS if kind not in ("narrow", "broad"))
"""The kinds of names that mean their concept; a narrow or broad name means something narrower or broader."""


@dataclass(frozen=True, slots=True)
class Concept:
    """A concept of a vocabulary.

    Attributes:
        id: its identifier, a CURIE where the source has them (``MONDO:0005068``).
        name: its preferred name (in English if possible), else the first name of the surest kind, else its id.
        semantic_types: its semantic types, as the source names them.
        xrefs: identifiers in other vocabularies (cross-references), which need not be equivalent.
        parents: ids of its parent concepts.
        definition: its definition, or ``None``.
        obsolete: whether the source has retired it.
        replaced_by: ids of the concepts that replace it, if obsolete.
        source: name of its source.
    """

    id: str
    name: str
    semantic_types: tuple[str, ...] = ()
    xrefs: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    definition: str | None = None
    obsolete: bool = False
    replaced_by: tuple[str, ...] = ()
    source: str = ""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Name:
    """A name of a concept. A name that several concepts share is a ``Name`` of each.

    Attributes:
        text: the surface form as the source writes it.
        concept_id: the id of its concept.
        lang: BCP 47 language code, ``und`` if unknown.
        kind: one of :data:`KINDS`.
        source: name of its source.
    """

    text: str
    concept_id: str
    lang: str = "en"
    kind: str = "exact"
    source: str = ""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Source:
    """The provenance of a vocabulary or a part of it.

    Attributes:
        name: short name, by default the file name without endings.
        format: name of its format.
        file: the file name (never a full path, so that a vocabulary can be moved).
        sha256: SHA-256 digest of the file on disk; empty for data that came from no file.
        version: the version the source states, or ``None``.
        licence: the licence the source states, or ``None``.
    """

    name: str
    format: str
    file: str = ""
    sha256: str = ""
    version: str | None = None
    licence: str | None = None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def unused_name(name: str, used: Collection[str]) -> str:
    """Return the name if it is not in ``used``, else the name with the smallest free number from 2."""
    candidates = (name if number == 1 else f"{name}-{number}" for number in count(1))
    return next(candidate for candidate in candidates if candidate not in used)
