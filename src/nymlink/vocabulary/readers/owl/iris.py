"""IRIs of RDF, OWL, SKOS and oboInOwl, and the roles of their predicates.

Sources: https://www.w3.org/TR/owl2-mapping-to-rdf/, https://www.w3.org/TR/skos-reference/, and the annotation
properties of the OBO Foundry (oboInOwl, IAO).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from nymlink.vocabulary.readers.obo.oboinowl import IN_OWL, SKOS, XREF_PROPERTIES

RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS: Final = "http://www.w3.org/2000/01/rdf-schema#"
OWL: Final = "http://www.w3.org/2002/07/owl#"
_OBO: Final = "http://purl.obolibrary.org/obo/"
_EFO: Final = "http://www.ebi.ac.uk/efo/"

CLASSES: Final = frozenset({f"{OWL}Class", f"{OWL}DeprecatedClass", f"{RDFS}Class", f"{SKOS}Concept"})
SCOPES: Final = frozenset({"EXACT", "RELATED", "NARROW", "BROAD"})
ROLES: Final[Mapping[str, str]] = dict.fromkeys(XREF_PROPERTIES, "xref") | {
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
    # Misspellings and the like, meant for search and not for display.
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
}
"""Predicate → its role; the role of a predicate of synonyms is their scope."""
