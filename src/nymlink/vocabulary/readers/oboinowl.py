"""Terms of oboInOwl, for all its syntaxes.

Ids are written as CURIEs. Types of synonyms mark abbreviations, trade names and names in other languages
(https://owlcollab.github.io/oboformat/doc/obo-syntax.html; OBO Metadata Ontology for ``OMO:`` types).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from nymlink.core.prefixes import Prefixes
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers.language_filter import LanguageFilter, split_language_tag
from nymlink.vocabulary.tables import TableBuilder, Tables

_KIND_OF_SCOPE: Final = {
    "PREFERRED": "preferred",
    "EXACT": "exact",
    "RELATED": "related",
    "NARROW": "narrow",
    "BROAD": "broad",
}
# Synonym types with numbers for ids, which files often use without describing them.
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
SKOS: Final = "http://www.w3.org/2004/02/skos/core#"
IN_OWL: Final = "http://www.geneontology.org/formats/oboInOwl#"
XREF_PROPERTIES: Final = frozenset({f"{SKOS}exactMatch", f"{IN_OWL}hasDbXref"})
"""IRIs of the properties for cross-references. The objects of closeMatch and similar properties are not the
same."""


@dataclass(frozen=True, slots=True)
class Synonym:
    """Synonym as in the source: its scope (``EXACT`` …), the id of its type, and its language, if stated.

    A label with a language is also a synonym, of the scope ``PREFERRED``.
    """

    text: str
    scope: str
    type: str | None = None
    lang: str | None = None


@dataclass(slots=True)
class Term:
    """Class of an ontology. Ids are CURIEs."""

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
    """Kinds and languages that the types of synonyms stand for.

    Args:
        descriptions: type id → its description in the source, for example ``{"FR": "LANGUAGE FRENCH"}``.
    """

    def __init__(self, descriptions: Mapping[str, str]) -> None:
        self._descriptions = _KNOWN_TYPES | dict(descriptions)
        self._meanings: dict[str, tuple[str | None, str | None]] = {}

    def kind(self, synonym: Synonym) -> str:
        """Get the kind of a synonym: if its scope is exact or related, from its type, else from its scope."""
        kind = _KIND_OF_SCOPE[synonym.scope]
        return self._meaning(synonym.type)[0] or kind if kind in ("exact", "related") else kind

    def lang(self, synonym: Synonym) -> str | None:
        """Get the language that the type of a synonym stands for, or ``None``."""
        return self._meaning(synonym.type)[1]

    def _meaning(self, type_id: str | None) -> tuple[str | None, str | None]:
        """Get kind and language from the id or description of a type, each ``None`` if not stated."""
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
    prefixes: Prefixes,
) -> Tables:
    """Turn terms into concepts, names and redirects.

    The first label is the preferred name, further ones are exact synonyms. Obsolete terms without a name that are
    alternate ids of others are redirects, not concepts.

    Raises:
        InputError: a language in the options is not a language code.
    """
    builder = TableBuilder()
    builder.version = version
    builder.licence = licence
    builder.prefixes = prefixes.used
    alternates = {alternate for term in terms.values() for alternate in term.alternate_ids}
    languages = LanguageFilter(options)
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
