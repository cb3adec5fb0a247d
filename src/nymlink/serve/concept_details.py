"""All that is known of a concept, for the API and the page."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Final

from nymlink.core.errors import UnknownNameError
from nymlink.serve.served import ServedIndex

_CHILDREN: Final = 1000
"""Children that are listed."""


def describe_concept(served: ServedIndex, concept_id: str) -> dict[str, Any]:
    """Describe a concept, as JSON values; a former id leads to the concept that it stands for now.

    Returns:
        The values of :meth:`~nymlink.vocabulary.model.Concept.to_dict`, with ``parents`` and ``children`` as ids
        and names, the number of all ``children_count``, and under ``names`` for each language the names and their
        kinds.

    Raises:
        UnknownNameError: no concept has this id, or several do.
    """
    vocabulary = served.vocabulary
    if concept_id not in vocabulary:
        current = vocabulary.resolve(concept_id)
        if len(current) != 1:
            raise UnknownNameError(
                f"this id now stands for {', '.join(current)}" if current else "no concept has this id"
            )
        [concept_id] = current
    concept = vocabulary[concept_id]
    children = [vocabulary.concept_id(row) for row in served.children.owners(concept_id)]
    names = defaultdict(list)
    for name in vocabulary.names(concept_id):
        names[name.lang].append({"text": name.text, "kind": name.kind})
    return {
        **concept.to_dict(),
        "names": dict(names),
        "parents": [labelled(served, parent) for parent in concept.parents],
        "children": [labelled(served, child) for child in children[:_CHILDREN]],
        "children_count": len(children),
    }


def labelled(served: ServedIndex, concept_id: str) -> dict[str, str]:
    """Return an id with the name of its concept, which a parent outside the vocabulary does not have."""
    row = served.vocabulary.row(concept_id)
    return {"id": concept_id, "name": concept_id if row is None else served.vocabulary.preferred_name(row)}
