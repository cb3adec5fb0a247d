"""Statements of OWL, from any of its syntaxes.

Sources: https://www.w3.org/TR/owl2-mapping-to-rdf/, https://www.w3.org/TR/skos-reference/, and the annotation
properties of the OBO Foundry (oboInOwl, IAO).

SKOS-XL (https://www.w3.org/TR/skos-reference/skos-xl.html) has labels that are nodes, with the text as their
literalForm. The properties of the NCI Thesaurus are those of its EVS edition (Thesaurus.owl) and of the OBO
Foundry.

A subject is a concept if it is a class or a SKOS concept, and something besides its place in the hierarchy is
stated.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urljoin

from nymlink.core.language_codes import normalise_language
from nymlink.core.prefixes import Prefixes, contract
from nymlink.core.problems import Problems
from nymlink.vocabulary.concepts import ReadOptions
from nymlink.vocabulary.readers.language_filter import LanguageFilter
from nymlink.vocabulary.readers.oboinowl import (
    IN_OWL,
    SKOS,
    XREF_PROPERTIES,
    Synonym,
    SynonymTypes,
    Term,
    build_tables,
)
from nymlink.vocabulary.readers.umls.atoms import kind
from nymlink.vocabulary.tables import Tables

RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS: Final = "http://www.w3.org/2000/01/rdf-schema#"
OWL: Final = "http://www.w3.org/2002/07/owl#"
_OBO: Final = "http://purl.obolibrary.org/obo/"
_EFO: Final = "http://www.ebi.ac.uk/efo/"
_SKOS_XL: Final = "http://www.w3.org/2008/05/skos-xl#"
_NCI_THESAURUS: Final = ("http://ncicb.nci.nih.gov/xml/owl/EVS/Thesaurus.owl#", f"{_OBO}NCIT_")
_NCI_ROLES: Final = {
    "P90": "EXACT",  # FULL_SYN
    "P97": "definition",
    "P106": "namespace",  # semantic type
    "P107": "EXACT",  # display name
    "P108": "preferred",
    "P310": "status",
    "P383": "term type",
    "P100": "xref OMIM",
    "P207": "xref UMLS",
    "P210": "xref CAS",
    "P319": "xref UNII",
}

CLASSES: Final = frozenset({f"{OWL}Class", f"{OWL}DeprecatedClass", f"{RDFS}Class", f"{SKOS}Concept"})
SCOPES: Final = frozenset({"EXACT", "RELATED", "NARROW", "BROAD"})
ROLES: Final[Mapping[str, str]] = (
    dict.fromkeys(XREF_PROPERTIES, "xref")
    | {
        f"{RDF}type": "type",
        f"{RDFS}label": "label",
        f"{RDFS}subClassOf": "parent",
        f"{OWL}equivalentClass": "equivalent",
        f"{OWL}deprecated": "deprecated",
        f"{OWL}versionInfo": "version",
        f"{OWL}versionIRI": "version IRI",
        f"{OWL}annotatedSource": "source",
        f"{OWL}annotatedProperty": "property",
        f"{OWL}annotatedTarget": "target",
        f"{SKOS}prefLabel": "preferred",
        f"{SKOS}altLabel": "EXACT",
        # Misspellings and similar names for search, not for display.
        f"{SKOS}hiddenLabel": "RELATED",
        f"{SKOS}definition": "definition",
        f"{SKOS}broader": "parent",
        f"{SKOS}narrower": "child",
        f"{IN_OWL}hasExactSynonym": "EXACT",
        f"{IN_OWL}hasRelatedSynonym": "RELATED",
        f"{IN_OWL}hasNarrowSynonym": "NARROW",
        f"{IN_OWL}hasBroadSynonym": "BROAD",
        f"{IN_OWL}hasSynonym": "RELATED",
        f"{IN_OWL}hasSynonymType": "synonym type",
        f"{IN_OWL}hasAlternativeId": "alternate",
        f"{IN_OWL}hasOBONamespace": "namespace",
        f"{IN_OWL}default-namespace": "default namespace",
        f"{_OBO}IAO_0000115": "definition",
        f"{_OBO}IAO_0000118": "EXACT",
        f"{_OBO}IAO_0100001": "replaced by",
        "http://purl.org/dc/terms/isReplacedBy": "replaced by",
        f"{_EFO}alternative_term": "EXACT",
        f"{_EFO}definition": "definition",
        f"{_SKOS_XL}prefLabel": "node preferred",
        f"{_SKOS_XL}altLabel": "node EXACT",
        f"{_SKOS_XL}hiddenLabel": "node RELATED",
        f"{_SKOS_XL}literalForm": "literal",
        f"{RDF}value": "literal",
    }
    | {base + name: role for base in _NCI_THESAURUS for name, role in _NCI_ROLES.items()}
)
"""Predicate → its role. For a predicate of synonyms, the role is their scope; after ``node``, it is the role of
the literal of a node; after ``xref``, the prefix of identifiers."""


_LICENCE: Final = re.compile(r".*[/#]licen[sc]e")
_HIERARCHY: Final = frozenset({"type", "parent", "child", "equivalent"})
_HEADERS: Final = (f"{OWL}Ontology", f"{SKOS}ConceptScheme")
_TRUE: Final = frozenset({"true", "1"})
# Predicates for the type of a synonym, one of each role.
_TYPES: Final = (f"{IN_OWL}hasSynonymType", f"{_NCI_THESAURUS[0]}P383")
_RETIRED: Final = frozenset({"Obsolete_Concept", "Retired_Concept"})


class Value(NamedTuple):
    """Object of a statement: an IRI, or the text of a literal with its language."""

    text: str
    lang: str | None = None
    is_iri: bool = False


@dataclass(slots=True)
class _Subject:
    """Statements about one IRI or blank node."""

    statements: list[tuple[str, Value]] = field(default_factory=list)
    described: bool = False

    def values(self, *roles: str) -> Iterator[Value]:
        return (value for role, value in self.statements if role in roles)

    def first(self, role: str) -> str | None:
        return next((value.text for value in self.values(role)), None)


class Statements:
    """Statements of one file, in any order, from which tables are built.

    Attributes:
        prefixes: the prefixes that the file declares, and their namespaces.
    """

    def __init__(self) -> None:
        self.prefixes: dict[str, str] = {}
        self._subjects: defaultdict[str, _Subject] = defaultdict(_Subject)
        self._roles: dict[str, str | None] = dict(ROLES)
        self._synonym_types: dict[tuple[str, str, str], str] = {}

    def role(self, predicate: str) -> str | None:
        """Look up the role of a predicate; ``None`` if its statements are not kept."""
        if predicate not in self._roles:
            self._roles[predicate] = "licence" if _LICENCE.fullmatch(predicate) else None
        return self._roles[predicate]

    def add(self, subject: str, predicate: str, value: Value) -> None:
        """Add a statement. Ids are IRIs; ids of blank nodes begin with ``_:``."""
        role = self.role(predicate)
        about = self._subjects[subject]
        if role is None:
            about.described = about.described or not predicate.startswith((OWL, RDF, RDFS + "sub"))
        elif value.text:
            about.statements.append((role, value))
            about.described = about.described or role not in _HIERARCHY

    def may_be_node(self, predicate: str) -> bool:
        """Whether the object of a predicate may be a node, also a blank one, that has the text as its literal."""
        return _is_node_role(self.role(predicate) or "")

    def add_synonym_type(self, subject: str, predicate: str, text: str, annotation: str, type_: str) -> None:
        """Add the type of a synonym, from the annotation of its statement. The first type counts.

        The term types of the NCI Thesaurus are those of the UMLS; one that means just a synonym is left out.
        """
        scope, role = self.role(predicate), self.role(annotation)
        if role == "term type":
            type_ = "" if kind(type_) == "exact" else kind(type_)
        if scope in SCOPES and role in ("synonym type", "term type") and type_:
            self._synonym_types.setdefault((subject, scope, text), type_)

    def close(self, blank: str) -> None:
        """End a blank node; if it annotates a statement, it adds the type of a synonym. A label is kept."""
        about = self._subjects.get(blank)
        if about is None or about.first("literal"):
            return
        del self._subjects[blank]
        source, predicate, target = (about.first(role) for role in ("source", "property", "target"))
        if source and predicate and target:
            for annotation in _TYPES:
                if type_ := about.first(self._roles[annotation] or ""):
                    self.add_synonym_type(source, predicate, target, annotation, type_)

    def tables(self, options: ReadOptions, path: Path, problems: Problems) -> Tables | None:
        """Build concepts, names and redirects; ``None`` if there is no concept.

        Args:
            options: options of the reader.
            path: the file.
            problems: receives prefixes that stand for something else elsewhere.

        Raises:
            InputError: a language in the options is not a language code.
        """
        for blank in [subject for subject in self._subjects if subject.startswith("_:")]:
            self.close(blank)
        self._resolve_nodes()
        header = self._header()
        prefixes = options.new_prefixes()
        for name, namespace in self.prefixes.items():
            prefixes.declare(name, namespace)
        ids: dict[str, str] = {}
        terms: dict[str, Term] = {}
        synonym_types: dict[str, str] = {}
        default = LanguageFilter(options).default
        for subject, about in self._subjects.items():
            if not _is_class(about):
                synonym_types[contract(subject)] = about.first("label") or ""
                continue
            ids[subject] = prefixes.contract(subject)
            if about.described and not subject.startswith(OWL):
                term = terms.setdefault(ids[subject], Term(ids[subject]))
                self._fill(term, subject, about, prefixes, default)
                if not term.namespaces:
                    term.namespaces.extend(value.text for value in header.values("default namespace"))
        if not terms:
            return None
        self._connect(terms, ids, prefixes)
        prefixes.report(path, problems)
        return build_tables(
            terms,
            SynonymTypes(synonym_types),
            options,
            version=header.first("version") or header.first("version IRI"),
            licence=header.first("licence"),
            prefixes=prefixes,
        )

    def _resolve_nodes(self) -> None:
        """Replace nodes that stand for texts by the literals of these nodes."""
        for about in self._subjects.values():
            if not any(value.is_iri and _is_node_role(role) for role, value in about.statements):
                continue
            resolved: list[tuple[str, Value]] = []
            for role, value in about.statements:
                if value.is_iri and _is_node_role(role):
                    node = self._subjects.get(value.text, _Subject())
                    resolved.extend((role.removeprefix("node "), literal) for literal in node.values("literal"))
                else:
                    resolved.append((role, value))
            about.statements = resolved

    def _header(self) -> _Subject:
        for type_ in _HEADERS:
            for about in self._subjects.values():
                if any(value.text == type_ for value in about.values("type")):
                    return about
        return _Subject()

    def _fill(self, term: Term, subject: str, about: _Subject, prefixes: Prefixes, default: str) -> None:
        languages: set[str] = set()
        # SKOS marks the preferred label; in OWL the first label in a language is preferred.
        for value in [*about.values("preferred"), *about.values("label")]:
            lang = _language(value)
            scope = "EXACT" if (lang or default) in languages else "PREFERRED"
            languages.add(lang or default)
            term.synonyms.append(Synonym(value.text, scope, lang=lang))
        definitions = sorted(
            about.values("definition"), key=lambda value: (_language(value) or default) != default
        )
        term.definition = term.definition or next((value.text for value in definitions), None)
        for role, value in about.statements:
            if role in SCOPES:
                type_ = self._synonym_types.get((subject, role, value.text))
                term.synonyms.append(
                    Synonym(value.text, role, type=contract(type_) if type_ else None, lang=_language(value))
                )
            elif role == "namespace":
                term.namespaces.append(value.text)
            elif role == "alternate":
                term.alternate_ids.append(prefixes.contract(value.text))
            elif role == "replaced by":
                term.replaced_by.append(prefixes.contract(value.text))
            elif role.startswith("xref "):
                term.xrefs.append(f"{role.removeprefix('xref ')}:{value.text.strip()}")
            elif role == "status":
                term.obsolete = term.obsolete or value.text.strip() in _RETIRED
            elif role in ("xref", "equivalent"):
                term.xrefs.append(prefixes.contract(value.text))
            elif role == "parent" and not value.text.startswith(OWL):
                term.parents.append(prefixes.contract(value.text))
            elif role == "deprecated":
                term.obsolete = term.obsolete or value.text.strip().lower() in _TRUE
            elif role == "type":
                term.obsolete = term.obsolete or value.text == f"{OWL}DeprecatedClass"

    def _connect(self, terms: Mapping[str, Term], ids: Mapping[str, str], prefixes: Prefixes) -> None:
        """Add inverse statements: narrower concepts get parents, equivalent ones get references to each other."""
        for subject, about in self._subjects.items():
            for value in about.values("child"):
                child = terms.get(prefixes.contract(value.text))
                if child is not None:
                    child.parents.append(ids.get(subject, subject))
            for value in about.values("equivalent"):
                other = terms.get(prefixes.contract(value.text))
                own = ids.get(subject, subject)
                if other is not None and own != other.id:
                    other.xrefs.append(own)


def resolve_iri(reference: str, base: str) -> str:
    """Resolve a reference to an IRI against the base of its document."""
    if ":" in reference or not base:
        return reference
    try:
        return urljoin(base, reference)
    except ValueError:
        return reference


def _is_node_role(role: str) -> bool:
    return role == "definition" or role.startswith("node ")


def _language(value: Value) -> str | None:
    return normalise_language(value.lang) if value.lang else None


def _is_class(about: _Subject) -> bool:
    types = {value.text for value in about.values("type")}
    return not CLASSES.isdisjoint(types) if types else any(True for _ in about.values("parent", "child"))
