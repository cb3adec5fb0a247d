"""Match reconciliation queries to concepts, by names, types and properties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any, Final

from nymlink.core.errors import UnknownNameError
from nymlink.corpus.documents import Document, Mention
from nymlink.linking.link import Link
from nymlink.serve.reconcile.queries import Condition, ReconciliationQuery
from nymlink.serve.served import ServedIndex, describe_concept

_DEPTH: Final = 50
"""Candidates to check against types or conditions."""

_DESCRIPTION: Final = 300
"""Most characters of a description."""

_NAMES: Final = {
    "score": "Similarity to the matched name",
    "exact": "The matched name equals the query",
    "sparse": "Similarity in spelling",
    "dense": "Similarity in meaning",
    "writing": "Likeness in writing",
    "confidence": "Probability of being right",
    "type": "Is of the wanted type",
}


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A candidate of a query.

    Attributes:
        row: row of the concept.
        similarity: similarity of the name, 0 to 1; ``None`` for a query without a name.
        parts: parts of that similarity.
        confidence: confidence of the first candidate of a link.
        is_certain: whether the confidence is high enough, or the query has the concept's id.
        evidence: type or condition of the query → whether the concept meets it.
    """

    row: int
    similarity: float | None
    parts: dict[str, float] = field(default_factory=dict)
    confidence: float | None = None
    is_certain: bool = False
    evidence: dict[str, bool] = field(default_factory=dict)

    @property
    def score(self) -> float:
        """Mean of the similarity and the evidence, 0 to 100."""
        values = [*([] if self.similarity is None else [self.similarity]), *map(float, self.evidence.values())]
        return round(100 * sum(values) / max(len(values), 1), 4)


def match(served: ServedIndex, queries: Sequence[ReconciliationQuery]) -> list[list[dict[str, Any]]]:
    """Find the candidates of queries, best first, as JSON values of both versions of the API.

    Candidates come from the name, from an id given as a name, and from values of properties (cross-references,
    synonyms, parents). Types and required conditions exclude candidates; optional ones count in the score, each as
    much as the name.

    ``match`` is true for at most one candidate: the concept with the given id; or the first candidate, if it meets
    all conditions with a confidence of at least ``match_confidence``.

    Raises:
        OverloadedError, LinkTimeoutError: the server is overloaded.
    """
    links = _links(served, queries)
    return [
        [
            _written(served, candidate, place == 0)
            for place, candidate in enumerate(_candidates(served, query, link))
        ]
        for query, link in zip(queries, links, strict=True)
    ]


def _links(served: ServedIndex, queries: Sequence[ReconciliationQuery]) -> list[Link | None]:
    """Link the names of queries; names with the same number of candidates together."""
    depths = [_depth(query) for query in queries]
    links: list[Link | None] = [None] * len(queries)
    for depth in dict.fromkeys(depths):
        places = [place for place, query in enumerate(queries) if depths[place] == depth and query.text.strip()]
        mentions = tuple(
            Mention(queries[place].text[: served.limits.mention_characters], language=queries[place].language)
            for place in places
        )
        for place, link in zip(places, served.link(Document("", mentions=mentions), top_k=depth), strict=True):
            links[place] = link
    return links


def _depth(query: ReconciliationQuery) -> int:
    """Return the number of candidates to check."""
    return _DEPTH if query.types or query.conditions or query.ids else min(query.limit, _DEPTH)


def _candidates(served: ServedIndex, query: ReconciliationQuery, link: Link | None) -> list[_Candidate]:
    """List the allowed candidates of a query, best first."""
    named = link is not None
    found: dict[int, _Candidate] = {}
    # A concept given by its id is certain, whatever its name is.
    ids = [*query.ids, *([query.text.strip()] if named else [])]
    for concept_id in ids:
        rows = _rows(served, concept_id)
        for row in rows:
            found.setdefault(row, _Candidate(row, 1.0, is_certain=len(rows) == 1 and len(ids) == 1))
    for candidate in [] if link is None else _of_link(served, link):
        found.setdefault(candidate.row, candidate)
    for condition in query.conditions:
        described = served.properties.get(condition.property_id)
        if described is not None and condition.quantifier != "none":
            for row in (row for value in condition.values for row in described.find(value)):
                found.setdefault(row, _Candidate(row, 0.0 if named else None))
    if query.ids:
        allowed = {row for id_ in query.ids for row in _rows(served, id_)}
        found = {row: candidate for row, candidate in found.items() if row in allowed}
    checked = [_checked(served, query, candidate) for candidate in found.values()]
    # A stable sort: equal scores keep the order of the link.
    return sorted(filter(None, checked), key=lambda candidate: -candidate.score)[: query.limit]


def _rows(served: ServedIndex, concept_id: str) -> list[int]:
    """Find the rows of the concepts of a present or former id."""
    rows = map(served.vocabulary.row, served.vocabulary.resolve(concept_id))
    return [row for row in rows if row is not None]


def _of_link(served: ServedIndex, link: Link) -> list[_Candidate]:
    candidates = []
    for rank, candidate in enumerate(link.candidates):
        row = served.vocabulary.row(candidate.concept_id)
        assert row is not None, "candidates are concepts of the index"
        confidence = link.confidence if rank == 0 else None
        is_certain = (
            confidence is not None
            and served.match_confidence is not None
            and confidence >= served.match_confidence
            and not link.nil
        )
        parts = {"score": candidate.score, **candidate.parts}
        candidates.append(_Candidate(row, candidate.score, parts, confidence, is_certain))
    return candidates


def _checked(served: ServedIndex, query: ReconciliationQuery, candidate: _Candidate) -> _Candidate | None:
    """Check the types and conditions of a candidate; ``None`` if it fails a required one."""
    evidence: dict[str, bool] = {}
    if query.types:
        members = [served.types.members(type_id) for type_id in query.types]
        is_of = [some is not None and bool(some[candidate.row]) for some in members]
        meets = all(is_of) if query.of_types == "all" else any(is_of)
        if not meets and query.of_types != "should":
            return None
        if query.of_types == "should":
            evidence["type"] = meets
    # Read the values of a property once for all its conditions.
    values: dict[str, list[Any]] = {}
    for number, condition in enumerate(query.conditions, start=1):
        meets = _meets(served, condition, candidate.row, values)
        if not meets and condition.required:
            return None
        evidence[f"{condition.property_id}_{number}"] = meets
    return replace(candidate, evidence=evidence)


def _meets(served: ServedIndex, condition: Condition, row: int, values: dict[str, list[Any]]) -> bool:
    """Check a condition of the concept at a row; false for an unknown property.

    ``values`` caches the values of the concept's properties by their ids.
    """
    described = served.properties.get(condition.property_id)
    if described is None:
        return False
    if condition.property_id not in values:
        values[condition.property_id] = list(described.values(row))
    equal = [described.equals(value, values[condition.property_id]) for value in condition.values]
    if condition.quantifier == "none":
        return not any(equal)
    return all(equal) if condition.quantifier == "all" else any(equal)


def _written(served: ServedIndex, candidate: _Candidate, is_first: bool) -> dict[str, Any]:
    """Write a candidate as JSON values."""
    concept = served.vocabulary.concept(candidate.row)
    numbers = {**candidate.parts, **({} if candidate.confidence is None else {"confidence": candidate.confidence})}
    features = [
        *({"id": id_, "name": _NAMES.get(id_, id_), "value": value} for id_, value in numbers.items()),
        *({"id": id_, "name": _NAMES.get(id_, id_), "value": met} for id_, met in candidate.evidence.items()),
    ]
    definition = concept.definition
    return {
        "id": concept.id,
        "name": concept.name,
        **({} if definition is None else {"description": shortened(definition)}),
        "type": [type_.to_dict() for type_ in served.types.of(candidate.row)],
        "score": candidate.score,
        "features": features,
        "match": is_first and candidate.is_certain and all(candidate.evidence.values()),
    }


def shortened(text: str) -> str:
    """Shorten a text for a list."""
    return text if len(text) <= _DESCRIPTION else f"{text[: _DESCRIPTION - 1]}…"


_MOST: Final = 100
"""Most suggestions."""

_DEEP: Final = 1000
"""Concepts to check against a type."""


def suggest_entities(
    served: ServedIndex, prefix: str, *, limit: int, offset: int = 0, type_id: str = ""
) -> list[dict[str, Any]]:
    """Complete a name or an id to concepts.

    Args:
        served: the index.
        prefix: the typed text.
        limit: most suggestions.
        offset: number of suggestions to skip.
        type_id: type of the concepts; empty for any.
    """
    limit = min(limit, _MOST)
    found = served.completer.complete(prefix, _DEEP if type_id else min(offset + limit, _DEEP))
    members = served.types.members(type_id) if type_id else None
    suggestions = []
    for completion in found:
        row = served.vocabulary.row(completion.concept_id)
        if row is None or (type_id and (members is None or not members[row])):
            continue
        matched = completion.matched
        other = "" if matched is None or matched.text == completion.concept_name else f"{matched.text}. "
        definition = served.vocabulary.concept(row).definition or ""
        suggestions.append(
            {
                "id": completion.concept_id,
                "name": completion.concept_name,
                **({"description": shortened(f"{other}{definition}")} if other or definition else {}),
                "notable": [type_.to_dict() for type_ in served.types.of(row)],
            }
        )
    return suggestions[offset : offset + limit]


def suggest_types(served: ServedIndex, prefix: str, *, limit: int, offset: int = 0) -> list[dict[str, Any]]:
    """Complete a name or an id to types: semantic types and top branches, then any concept with children."""
    wanted = prefix.strip().casefold()
    found = {
        each.id: each.name
        for each in served.types.all
        if each.id.casefold().startswith(wanted) or wanted in each.name.casefold()
    }
    for completion in served.completer.complete(prefix, _MOST):
        if served.children.owners(completion.concept_id):
            found.setdefault(completion.concept_id, completion.concept_name)
    # An equal id comes first.
    ids = sorted(found, key=lambda type_id: type_id.casefold() != wanted)[offset : offset + min(limit, _MOST)]
    return [{"id": id_, "name": found[id_], **_broader(served, id_)} for id_ in ids]


def _broader(served: ServedIndex, type_id: str) -> dict[str, list[dict[str, str]]]:
    """Write the parents of a type that is a concept; nothing for other types."""
    row = served.vocabulary.row(type_id)
    parents = () if row is None else served.vocabulary.concept(row).parents
    above = [parent.to_dict() for parent in map(served.types.named, parents) if parent is not None]
    return {"broader": above} if above else {}


def suggest_properties(served: ServedIndex, prefix: str, *, limit: int, offset: int = 0) -> list[dict[str, Any]]:
    """Complete a name or an id to properties; an empty prefix lists all."""
    wanted = prefix.strip().casefold()
    found = [
        {"id": each.id, "name": each.name, "description": each.description}
        for each in served.properties
        if each.id.startswith(wanted) or wanted in each.name.casefold()
    ]
    return found[offset : offset + min(limit, _MOST)]


def flyout(served: ServedIndex, what: str, id_: str) -> dict[str, str]:
    """Describe a concept, a type or a property briefly, in HTML.

    Args:
        served: the index.
        what: ``"entity"``, ``"type"`` or ``"property"``.
        id_: its id.

    Raises:
        UnknownNameError: unknown id.
    """
    if what == "entity" or (what == "type" and id_ in served.vocabulary):
        concept = describe_concept(served, id_)
        text = f"<p>{escape(concept['definition'])}</p>" if concept["definition"] else ""
        above = ", ".join(escape(parent["name"]) for parent in concept["parents"])
        text += f"<p>Is a: {above}</p>" if above else ""
        return _flyout(id_, concept["name"], text)
    if what == "type" and (type_ := served.types.named(id_)) is not None:
        return _flyout(id_, type_.name, "")
    if what == "property" and (described := served.properties.get(id_)) is not None:
        return _flyout(id_, described.name, f"<p>{escape(described.description)}</p>")
    raise UnknownNameError("nothing has this id")


def _flyout(id_: str, name: str, text: str) -> dict[str, str]:
    return {"id": id_, "html": f"<div><h1>{escape(name)}</h1><p>{escape(id_)}</p>{text}</div>"}
