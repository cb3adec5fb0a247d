"""Describe the candidates of a term with all that a reviewer wants to see of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from nymlink.serve.concept_details import labelled
from nymlink.serve.served import ServedIndex

_RELATIVES: Final = 20
"""Parents, and children, that are shown of a candidate."""


def describe_candidate(served: ServedIndex | None, candidate: Mapping[str, Any]) -> dict[str, Any]:
    """Describe a candidate of a link, as JSON values.

    Args:
        served: the index; ``None`` where it is gone: only what the link says is known then.
        candidate: :meth:`nymlink.linking.model.Candidate.to_dict`.
    """
    concept_id, matched = candidate["concept_id"], candidate["matched"]
    shown = {
        "id": concept_id,
        "name": candidate["concept_name"],
        "matched": matched["text"],
        "language": matched["lang"],
        "kind": matched["kind"],
        "score": candidate["score"],
        "parts": candidate["parts"],
        "contradiction": candidate["contradiction"],
    }
    if served is None or concept_id not in served.vocabulary:
        return {**shown, "definition": None, "parents": [], "children": [], "children_count": 0, "obsolete": None}
    concept = served.vocabulary[concept_id]
    children = served.children.owners(concept_id)
    return {
        **shown,
        "definition": concept.definition,
        "parents": [labelled(served, parent) for parent in concept.parents[:_RELATIVES]],
        "children": [labelled(served, served.vocabulary.concept_id(row)) for row in children[:_RELATIVES]],
        "children_count": len(children),
        "obsolete": concept.obsolete,
    }
