"""What OBO files and OBO Graphs share: terms in the model of oboInOwl, and how they become tables.

Ids are written as CURIEs, synonym types say which synonyms are abbreviations, trade names or in a foreign
language (https://owlcollab.github.io/oboformat/doc/obo-syntax.html; OBO Metadata Ontology for ``OMO:`` types).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from nymlink.vocabulary.options import ReadOptions
from nymlink.vocabulary.readers._languages import Languages, split_language_tag
from nymlink.vocabulary.tables import TableBuilder, Tables

_KIND_OF_SCOPE: Final = {
    "PREFERRED": "preferred",
    "EXACT": "exact",
    "RELATED": "related",
    "NARROW": "narrow",
    "BROAD": "broad",
}
# Synonym types whose id says nothing and that files often use without describing them.
_KNOWN_TYPES: Final = {
    "OMO:0003000": "abbreviation",
    "OMO:0003011": "latin term",
    "OMO:0003012": "acronym",
    "HP:0045077": "abbreviation",
}
_ABBREVIATION: Final = re.compile(r"abbreviation|acronym")
_TRADE_NAME: Final = re.compile(r"brand|trade ?name")
_LANGUAGE: Final = re.compile(r"(?:language )?(?P<name>[a-z]+)(?: language| term| name| synonym)?")
_LANGUAGES: Final = {
    "arabic": "ar", "chinese": "zh", "czech": "cs", "danish": "da", "dutch": "nl", "english": "en",
    "finnish": "fi", "french": "fr", "german": "de", "greek": "el", "hungarian": "hu", "italian": "it",
    "japanese": "ja", "korean": "ko", "latin": "la", "norwegian": "no", "polish": "pl", "portuguese": "pt",
    "russian": "ru", "spanish": "es", "swedish": "sv", "thai": "th", "turkish": "tr",
}  # fmt: skip
_CURIE_SEGMENT: Final = re.compile(r"[A-Za-z][\w.-]*:\S+")
_UNDERSCORED_SEGMENT: Final = re.compile(
    r"(?=[\w.-]+\Z)(?P<prefix>[A-Za-z][\w.-]*)_(?P<local>[A-Za-z.-]*[0-9][\w.-]*)"
)


@dataclass(frozen=True, slots=True)
class Synonym:
    """A synonym as the source has it: its scope (``EXACT`` …), its type's id, its language where it says one.

    A label that says its language is one too, of the scope ``PREFERRED``.
    """

    text: str
    scope: str
    type: str | None = None
    lang: str | None = None


@dataclass(slots=True)
class Term:
    """One class of an ontology, collected line by line or key by key. Ids are CURIEs."""

    id: str
    labels: list[str] = field(default_factory=list)
    synonyms: list[Synonym] = field(default_factory=list)
    definition: str | None = None
    namespaces: list[str] = field(default_factory=list)
    alternate_ids: list[str] = field(default_factory=list)
    xrefs: list[str] = field(default_factory=list)
    parents: list[str] = field(default_factory=list)
    obsolete: bool = False
    replaced_by: list[str] = field(default_factory=list)


class SynonymTypes:
    """What the types of synonyms mean.

    Args:
        descriptions: type id → what the source says of it, for example ``{"FR": "LANGUAGE FRENCH"}``.
    """

    def __init__(self, descriptions: Mapping[str, str]) -> None:
        self._descriptions = _KNOWN_TYPES | dict(descriptions)
        self._meanings: dict[str, tuple[str | None, str | None]] = {}

    def kind(self, synonym: Synonym) -> str:
        """The kind of name it is. The scope stays where it says that this abbreviation means more or less."""
        kind = _KIND_OF_SCOPE[synonym.scope]
        return self._meaning(synonym.type)[0] or kind if kind in ("exact", "related") else kind

    def lang(self, synonym: Synonym) -> str | None:
        """The language its type says it is in, or ``None``."""
        return self._meaning(synonym.type)[1]

    def _meaning(self, type_id: str | None) -> tuple[str | None, str | None]:
        """The kind and the language that a type stands for, each ``None`` where it says nothing of it."""
        if type_id is None:
            return None, None
        if type_id not in self._meanings:
            kind = lang = None
            for text in (re.split("[/#]", type_id)[-1], self._descriptions.get(type_id, "")):
                words = " ".join(re.split(r"[\W_]+", text.lower())).strip()
                if _ABBREVIATION.search(words):
                    kind = "abbreviation"
                elif _TRADE_NAME.search(words):
                    kind = "tradename"
                elif match := _LANGUAGE.fullmatch(words):
                    lang = _LANGUAGES.get(match["name"], lang)
            self._meanings[type_id] = kind, lang
        return self._meanings[type_id]


def build_tables(
    terms: Mapping[str, Term],
    types: SynonymTypes,
    options: ReadOptions,
    *,
    version: str | None,
    licence: str | None,
) -> Tables:
    """Turn terms into concepts, names and redirects.

    The first label is the preferred name, further ones are exact synonyms. Terms that stand there without a name,
    only to say that they are alternate ids of others now, are redirects and no concepts.

    Raises:
        InputError: the options hold something that is no language code.
    """
    builder = TableBuilder()
    builder.version = version
    builder.licence = licence
    alternates = {alternate for term in terms.values() for alternate in term.alternate_ids}
    languages = Languages(options)
    for term in terms.values():
        if term.id in alternates and term.obsolete and not (term.labels or term.synonyms):
            continue
        builder.concept(
            term.id,
            definition=term.definition,
            semantic_types=term.namespaces,
            xrefs=term.xrefs,
            parents=term.parents,
            obsolete=term.obsolete,
            replaced_by=term.replaced_by,
        )
        for place, label in enumerate(term.labels):
            text, lang = split_language_tag(label)
            lang = lang or languages.default
            if languages.wants(lang):
                builder.name(term.id, text, lang=lang, kind="exact" if place else "preferred")
        for synonym in term.synonyms:
            text, lang = split_language_tag(synonym.text)
            lang = synonym.lang or lang or types.lang(synonym) or languages.default
            if languages.wants(lang):
                builder.name(term.id, text, lang=lang, kind=types.kind(synonym))
        for alternate in term.alternate_ids:
            builder.redirect(alternate, term.id)
    return builder.build()


def curie(identifier: str, *, own_prefix: str = "") -> str:
    """Write an IRI as a CURIE; what is none stays as it is.

    ``http://purl.obolibrary.org/obo/DOID_8718`` → ``DOID:8718``, ``http://www.orpha.net/ORDO/Orphanet_124`` →
    ``Orphanet:124``, ``https://bioregistry.io/gard:1`` → ``gard:1``. The last segment must look like a prefix and
    a local part with a digit in it, or follow a segment that is ``own_prefix`` (``…/cvx/01`` → ``cvx:01``).

    Args:
        identifier: an IRI or anything else.
        own_prefix: short name of the ontology it stands in.
    """
    if "://" not in identifier:
        return identifier
    *_, base, segment = ["", *re.split("[/#]", identifier)]
    if match := _UNDERSCORED_SEGMENT.fullmatch(segment):
        return f"{match['prefix']}:{match['local']}"
    if _CURIE_SEGMENT.fullmatch(segment):
        return segment
    if segment and own_prefix and base.lower() == own_prefix.lower():
        return f"{base}:{segment}"
    return identifier
