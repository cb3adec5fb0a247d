"""Concepts, their names, and options for readers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from itertools import count
from typing import Any, Final

from nymlink.core.errors import InputError
from nymlink.core.language_codes import normalise_language
from nymlink.core.prefixes import Prefixes

KINDS: Final = ("preferred", "exact", "abbreviation", "tradename", "related", "narrow", "broad")
"""The kinds of names, from the most reliable synonym to the loosest."""

SYNONYM_KINDS: Final = tuple(kind for kind in KINDS if kind not in ("narrow", "broad"))
"""The kinds of names that mean exactly their concept; a narrow or broad name means something narrower or
broader."""


@dataclass(frozen=True, slots=True)
class Concept:
    """A concept of a vocabulary.

    Attributes:
        id: its identifier, a CURIE if the source has CURIEs (``MONDO:0005068``).
        name: its preferred name (in English if possible), else the first name of the most reliable kind, else its
            id.
        semantic_types: its semantic types, as the source names them.
        xrefs: identifiers in other vocabularies (cross-references), which need not be equivalent.
        parents: ids of its parent concepts.
        definition: its definition, or ``None``.
        obsolete: whether the source has retired it.
        replaced_by: ids of the concepts that replace it, if obsolete.
        source: name of its source.

    Example:
        >>> from nymlink import read_vocabulary
        >>> concept = read_vocabulary("diseases.obo")["MONDO:0004979"]
        >>> concept.name, concept.parents
        ('asthma', ('MONDO:0005087',))
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

    Example:
        >>> from nymlink import Name
        >>> name = Name("heart attack", "MONDO:0005068", lang="en", kind="exact")
        >>> name.text, name.kind
        ('heart attack', 'exact')
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
        prefixes: the prefixes of its ids that only the source declares, and their namespaces.
    """

    name: str
    format: str
    file: str = ""
    sha256: str = ""
    version: str | None = None
    licence: str | None = None
    prefixes: Mapping[str, str] = field(default_factory=dict, compare=False)

    def to_dict(self) -> dict[str, Any]:
        value = asdict(self)
        return value if self.prefixes else {name: each for name, each in value.items() if name != "prefixes"}


def unused_name(name: str, used: Collection[str]) -> str:
    """Return the name if it is not in ``used``, else the name with the smallest free number from 2."""
    candidates = (name if number == 1 else f"{name}-{number}" for number in count(1))
    return next(candidate for candidate in candidates if candidate not in used)


def matching_languages(requested: Collection[str], available: Iterable[str]) -> list[str]:
    """Select the available languages that match a requested one.

    A language includes its regions, in any spelling: ``EN`` matches ``en`` and ``en-GB``; ``en-GB`` matches only
    itself.
    """
    return [lang for lang in available if any(_includes(code, lang) for code in requested)]


@lru_cache(maxsize=1024)
def _includes(requested: str, lang: str) -> bool:
    whole, part = (normalise_language(code) or code for code in (requested, lang))
    return f"{part}-".startswith(f"{whole}-")


FLAGS: Final[Mapping[str, str]] = {
    "sources": "--sab",
    "term_types": "--tty",
    "suppressed": "--suppressed",
    "columns": "--map-column",
    "separator": "--separator",
    "strict": "--strict",
}
"""The options that only some formats use, and their names on the command line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """Options for reading a vocabulary; ``None`` or empty means "all" or "as stated in the source".

    Attributes:
        lang: language of names without a stated language.
        languages: languages of names to keep (BCP 47, for example ``en``).
        sources: for UMLS and OMOP: source vocabularies to keep (``SAB``, ``vocabulary_id``).
        term_types: for UMLS: term types (``TTY``) to keep.
        suppressed: for UMLS: whether to keep suppressible rows.
        columns: for tables: nymlink's column → the header in the file, or its number, for example
            ``{"name": "label"}``; several headers for a column of synonyms.
        separator: for tables: the text between the synonyms in a cell; ``None``: ``|`` or, without one, ``;``.
        strict: for OBO: whether to refuse a file that violates the format.
        prefixes: prefix → the namespace (an IRI) that it stands for, for example
            ``{"coll": "http://example.org/coll/"}``; prefixes of the shipped map cannot be changed.

    Raises:
        InputError: a prefix is malformed, or stands for another namespace in the shipped map.
    """

    lang: str = "en"
    languages: frozenset[str] | None = None
    sources: frozenset[str] | None = None
    term_types: frozenset[str] | None = None
    suppressed: bool = False
    columns: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    separator: str | None = None
    strict: bool = False
    prefixes: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.new_prefixes()

    def new_prefixes(self) -> Prefixes:
        """Return a map of prefixes for one file.

        Raises:
            InputError: a prefix is malformed, or stands for another namespace in the shipped map.
        """
        try:
            return Prefixes(self.prefixes)
        except ValueError as error:
            raise InputError(str(error)) from error

    def format_specific(self) -> list[str]:
        """Return the options of :data:`FLAGS` that differ from their defaults."""
        defaults = ReadOptions()
        return [name for name in FLAGS if getattr(self, name) != getattr(defaults, name)]

    def to_dict(self) -> dict[str, Any]:
        """Return the options as JSON values, without ``strict`` and without filters that select everything."""
        selections = {name: getattr(self, name) for name in ("languages", "sources", "term_types")}
        lists = {name: sorted(values) for name, values in selections.items() if values is not None}
        stated: dict[str, Any] = {} if self.separator is None else {"separator": self.separator}
        if self.prefixes:
            stated["prefixes"] = dict(self.prefixes)
        return {"lang": self.lang, "suppressed": self.suppressed, "columns": dict(self.columns), **stated, **lists}
