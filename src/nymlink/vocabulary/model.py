"""What a vocabulary is made of: concepts, their names, and where they come from."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass
from itertools import count
from typing import Any, Final

KINDS: Final = ("preferred", "exact", "abbreviation", "tradename", "related", "narrow", "broad")
"""The kinds a name can be of, from the surest synonym to the loosest."""

SYNONYM_KINDS: Final = tuple(kind for kind in KINDS if kind not in ("narrow", "broad"))
"""The kinds of names that mean their concept. A narrow or broad one says itself that it means something else."""

UNKNOWN_LANGUAGE: Final = "und"
"""BCP 47 for a language that is not known."""


@dataclass(frozen=True, slots=True)
class Concept:
    """One concept of a vocabulary.

    Attributes:
        id: its identifier, a CURIE where the source has them (``MONDO:0005068``).
        name: the preferred name (English where there is one), else the first name of the surest kind, or the id
            where the concept has no name.
        semantic_types: what sort of thing it is, in the source's words.
        xrefs: identifiers in other vocabularies; not all of them are equivalences.
        parents: ids of the concepts directly above it.
        definition: the definition, or ``None``.
        obsolete: whether the source has retired it.
        replaced_by: the concepts to use in its stead, when obsolete.
        source: name of the source it came from.
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
    """One name of one concept. A name that several concepts share is several of these.

    Attributes:
        text: the surface form as the source writes it.
        concept_id: the concept it names.
        lang: BCP 47 language code, ``und`` when unknown.
        kind: one of :data:`KINDS`.
        source: name of the source it came from.
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
    """Provenance of (part of) a vocabulary.

    Attributes:
        name: short name, by default the file's name without its endings.
        format: name of the reader that read it.
        file: file name as given (never a full path, so that a vocabulary can travel).
        sha256: digest of the file as it lay on disk; empty for data that came from no file.
        version: the release the source states, or ``None``.
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


def unused_name(name: str, taken: Collection[str]) -> str:
    """A name for a source that no other has: itself, or with the first number from 2 that is free."""
    names = (name if number == 1 else f"{name}-{number}" for number in count(1))
    return next(one for one in names if one not in taken)
