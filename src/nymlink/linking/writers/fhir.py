"""Write FHIR ConceptMaps, R5 or R4B, as JSON, with a group for each target code system."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from functools import cache, partial
from typing import Any, Final, TextIO
from uuid import UUID

from nymlink.core.prefixes import CodeSystem, Prefixes, code_systems, is_iri, known
from nymlink.linking.link import Relation, Review
from nymlink.linking.writers.sssom import Target, Term, TermWriter
from nymlink.linking.writers.writer import LinkFormat, LinksInfo

_RELATIONSHIPS: Final[Mapping[Relation, str]] = {
    "exact": "equivalent",
    "broader": "source-is-narrower-than-target",
    "narrower": "source-is-broader-than-target",
    "related": "related-to",
    "part": "related-to",
    "close": "related-to",
}
"""ConceptMapRelationship of R5: relation of the source to the target."""

_EQUIVALENCES: Final[Mapping[Relation, str]] = {
    "exact": "equivalent",
    "broader": "wider",
    "narrower": "narrower",
    "related": "relatedto",
    "part": "relatedto",
    "close": "inexact",
}
"""ConceptMapEquivalence of R4B: relation of the target to the source. Narrower and inexact need a comment."""

_PROPERTIES: Final = [
    {"code": "similarity", "description": "Similarity of term and name, 0 to 1", "type": "decimal"},
    {"code": "confidence", "description": "Probability that the target is right", "type": "decimal"},
]


_NO_CONCEPT: Final = "no concept"
_UNKNOWN: Final = ""
_IRIS: Final = "urn:ietf:rfc:3986"
"""The code system whose codes are IRIs."""


@cache
def _systems() -> dict[str, CodeSystem]:
    return {system.prefix.casefold(): system for system in code_systems()}


class ConceptMapWriter(TermWriter):
    """Collects terms, and writes one ConceptMap when it is closed.

    Args:
        out: text stream.
        info: information on the links.
        is_r5: whether to write R5, else R4B.
    """

    def __init__(self, out: TextIO, info: LinksInfo, *, is_r5: bool) -> None:
        super().__init__(info)
        self._out = out
        self._is_r5 = is_r5
        self._title = info.title or "terms"
        sources = () if info.vocabulary is None else info.vocabulary.sources
        self._source = sources[0].name if len(sources) == 1 else ""
        self._prefixes = Prefixes.recorded({} if info.vocabulary is None else info.vocabulary.prefixes)

    def write_terms(self, terms: list[Term]) -> None:
        groups: dict[str, list[dict[str, Any]]] = {}
        for term in terms:
            for system, element in self._elements(term):
                groups.setdefault(system, []).append(element)
        # If there is only one system, terms without a concept go into its group.
        nothing = groups.pop(_NO_CONCEPT, [])
        if len(groups) == 1:
            next(iter(groups.values())).extend(nothing)
        elif nothing:
            groups[_UNKNOWN] = [*groups.pop(_UNKNOWN, []), *nothing]
        value = {
            "resourceType": "ConceptMap",
            "url": "",
            "name": "TermsLinkedByNymlink",
            "title": f"{self._title} linked by nymlink",
            "status": "draft",
            **({"property": _PROPERTIES} if self._is_r5 else {}),
            "group": [
                {**({"target": system} if system else {}), "element": elements}
                for system, elements in groups.items()
            ],
        }
        if not groups:
            del value["group"]
        digest = hashlib.sha256(json.dumps(value).encode()).digest()
        # The URL is a hash of the mappings.
        value["url"] = f"urn:uuid:{UUID(bytes=digest[:16], version=5)}"
        text = json.dumps(value, ensure_ascii=False, indent=1).encode("utf-8", "replace").decode()
        self._out.write(text + "\n")

    def _elements(self, term: Term) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield each system that a term is mapped to, with the element."""
        systems: dict[str, list[dict[str, Any]]] = {}
        for target in term.targets():
            system, code = self._system(target.candidate.concept_id)
            systems.setdefault(system, []).append(self._target(_code(code), target))
        element = {"code": _code(term.code), "display": term.name}
        for system, targets in systems.items():
            yield system, {**element, "target": targets}
        if not systems:
            unmatched = {"noMap": True} if self._is_r5 else {"target": [{"equivalence": "unmatched"}]}
            yield _NO_CONCEPT, {**element, **unmatched}

    def _system(self, concept_id: str) -> tuple[str, str]:
        """Return the code system and the code of a concept; the whole id is the code in an unknown system."""
        if is_iri(concept_id):
            return _IRIS, concept_id
        name, colon, local = concept_id.partition(":")
        if not colon:
            name, local = self._source, concept_id
        prefix = known(name)
        names = (name, "" if prefix is None else prefix.name)
        system = next((_systems()[each.casefold()] for each in names if each.casefold() in _systems()), None)
        if system is None:
            namespace = self._prefixes.namespace(name)
            return (_UNKNOWN, concept_id) if namespace is None else (namespace.rstrip("#"), local)
        return system.uri, f"{name}:{local}" if system.is_in_code else local

    def _target(self, code: str, target: Target) -> dict[str, Any]:
        candidate, link = target.candidate, target.link
        notes = target.notes
        if link.review is not None:
            part = target.notes[:1] if target.is_part else ()
            said = (
                _said(link.review)
                if link.is_reviewed
                else ("a guess: nobody has decided", *target.notes[len(part) :])
            )
            notes = (*part, *said)
        similarity, confidence = round(min(max(candidate.score, 0), 1), 4), link.confidence
        value: dict[str, Any] = {"code": code, "display": " ".join(candidate.concept_name.split()) or code}
        if self._is_r5:
            value["relationship"] = "not-related-to" if link.is_denied else _RELATIONSHIPS[target.relation]
            if notes:
                value["comment"] = "; ".join(notes)
            found = [{"code": "similarity", "valueDecimal": similarity}] if candidate.parts else []
            value["property"] = found
            if confidence is not None and target.is_first:
                value["property"].append({"code": "confidence", "valueDecimal": round(confidence, 4)})
        else:
            value["equivalence"] = "disjoint" if link.is_denied else _EQUIVALENCES[target.relation]
            matched = " ".join(candidate.matched.text.split())
            how = [f"matched {matched!r}, similarity {similarity:.4f}"] if candidate.parts else []
            value["comment"] = "; ".join([*how, *notes])
        return {name: each for name, each in value.items() if each != []}


def _said(review: Review) -> tuple[str, ...]:
    """Describe the decision of a person."""
    done = "flagged" if review.verdict == "flag" else "decided"
    return (f"{done} by {review.reviewer} at {review.decided_at}", *filter(None, (review.comment,)))


def _code(text: str) -> str:
    """Write a code; FHIR allows single blanks as the only white space in it."""
    return " ".join(text.split()) or "?"


R5 = LinkFormat(
    name="fhir-r5",
    description="a ConceptMap of FHIR R5 (JSON), each term once",
    open=partial(ConceptMapWriter, is_r5=True),
)
R4B = LinkFormat(
    name="fhir-r4b",
    description="a ConceptMap of FHIR R4B (JSON), each term once",
    open=partial(ConceptMapWriter, is_r5=False),
)
