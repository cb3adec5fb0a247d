"""Complete what is typed to concepts, types and properties, and say a few words on each."""

from __future__ import annotations

from html import escape
from typing import Any, Final

from nymlink.core.errors import UnknownNameError
from nymlink.serve.concept_details import describe_concept
from nymlink.serve.reconcile.match import shortened
from nymlink.serve.served import ServedIndex

_MOST: Final = 100
"""Suggestions at most."""

_DEEP: Final = 1000
"""Concepts looked at where a type chooses among them."""


def suggest_entities(
    served: ServedIndex, prefix: str, *, limit: int, offset: int = 0, type_id: str = ""
) -> list[dict[str, Any]]:
    """Complete a name or an id to concepts.

    Args:
        served: the index.
        prefix: what was typed.
        limit: suggestions at most.
        offset: how many to leave out first.
        type_id: of the concepts; empty for any.
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
    # The one with this id comes first.
    ids = sorted(found, key=lambda type_id: type_id.casefold() != wanted)[offset : offset + min(limit, _MOST)]
    return [{"id": id_, "name": found[id_], **_broader(served, id_)} for id_ in ids]


def _broader(served: ServedIndex, type_id: str) -> dict[str, list[dict[str, str]]]:
    """Write the types directly above a type that is a concept; nothing for others."""
    row = served.vocabulary.row(type_id)
    parents = () if row is None else served.vocabulary.concept(row).parents
    above = [parent.to_dict() for parent in map(served.types.named, parents) if parent is not None]
    return {"broader": above} if above else {}


def suggest_properties(served: ServedIndex, prefix: str, *, limit: int, offset: int = 0) -> list[dict[str, Any]]:
    """Complete a name or an id to properties; the beginning of none is that of all."""
    wanted = prefix.strip().casefold()
    found = [
        {"id": each.id, "name": each.name, "description": each.description}
        for each in served.properties
        if each.id.startswith(wanted) or wanted in each.name.casefold()
    ]
    return found[offset : offset + min(limit, _MOST)]


def flyout(served: ServedIndex, what: str, id_: str) -> dict[str, str]:
    """Say a few words on a concept, a type or a property, in HTML.

    Args:
        served: the index.
        what: ``"entity"``, ``"type"`` or ``"property"``.
        id_: of it.

    Raises:
        UnknownNameError: there is none.
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
