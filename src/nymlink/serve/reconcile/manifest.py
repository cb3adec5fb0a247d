"""Manifests and data extension of a reconciliation service, in version 0.2 and in the draft of 1.0."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final
from urllib.parse import quote

from nymlink import __version__
from nymlink.serve.errors import ProblemError
from nymlink.serve.reconcile.properties import Property
from nymlink.serve.reconcile.queries import Extension
from nymlink.serve.served import ServedIndex

PREVIEW: Final = {"width": 420, "height": 260}
"""Size of a preview in pixels."""

_LIMIT_SETTING: Final = {"type": "number", "default": 0, "name": "limit"}
_LIMIT_HELP: Final = "Most values of a concept; 0 for all"

_AUTHENTICATION: Final = {"type": "apiKey", "name": "Authorization", "in": "header", "description": "Bearer TOKEN"}


def service_url(served: ServedIndex, base: str) -> str:
    """The address of the service of an index."""
    return f"{base}/reconcile/{quote(served.name)}"


def classic_manifest(served: ServedIndex, base: str, *, tokens: bool) -> dict[str, Any]:
    """Write the manifest of version 0.2.

    Args:
        served: the index.
        base: public address of the server.
        tokens: whether requests need a token.
    """
    service = service_url(served, base)
    suggest = {
        what: {
            "service_url": service,
            "service_path": f"/suggest/{what}",
            "flyout_service_url": service,
            "flyout_service_path": f"/flyout/{what}?id=${{id}}",
        }
        for what in ("entity", "property", "type")
    }
    return {
        "versions": ["0.2", "1.0-draft"],
        "name": _title(served),
        "identifierSpace": f"{base}/concept/{quote(served.name)}/",
        "schemaSpace": f"{service}/properties/",
        "documentation": f"{base}/docs",
        "serviceVersion": __version__,
        "logo": f"{base}/static/icon.svg",
        "view": {"url": f"{base}/concept/{quote(served.name)}/{{{{id}}}}"},
        "defaultTypes": [type_.to_dict() for type_ in served.types.default],
        "batchSize": served.limits.queries,
        "suggest": suggest,
        "preview": {"url": f"{service}/preview?id={{{{id}}}}", **PREVIEW},
        "extend": {
            "propose_properties": {"service_url": service, "service_path": "/extend/propose"},
            "property_settings": [{**_LIMIT_SETTING, "label": "Limit", "help_text": _LIMIT_HELP}],
        },
        **({"authentication": _AUTHENTICATION} if tokens else {}),
    }


def draft_manifest(served: ServedIndex, base: str, *, tokens: bool) -> dict[str, Any]:
    """Write the manifest of the draft of version 1.0; arguments as of :func:`classic_manifest`."""
    return {
        "versions": ["1.0-draft"],
        "name": _title(served),
        "documentation": f"{base}/docs",
        "serviceVersion": __version__,
        "logo": f"{base}/static/icon.svg",
        "view": {"url": f"{base}/concept/{quote(served.name)}/{{id}}"},
        "defaultTypes": [type_.to_dict() for type_ in served.types.default],
        "batchSize": served.limits.queries,
        "standardizedScore": True,
        "suggest": {"entity": True, "property": True, "type": True},
        "preview": dict(PREVIEW),
        "extend": {
            "proposeProperties": True,
            "propertySettings": [{**_LIMIT_SETTING, "id": "limit", "name": "Limit", "helpText": _LIMIT_HELP}],
        },
        **({"authentication": _AUTHENTICATION} if tokens else {}),
    }


def _title(served: ServedIndex) -> str:
    return f"nymlink: {served.name}"


_IDS: Final = 1000
"""Most concepts of a request."""

_CELLS: Final = 10_000
"""Most cells of a request: concepts times properties."""


def propose_properties(served: ServedIndex, type_id: str | None, limit: int | None) -> dict[str, Any]:
    """Propose properties for concepts of a type: all types have the same."""
    properties = [
        {"id": each.id, "name": each.name, "description": each.description} for each in served.properties
    ]
    return {
        "properties": properties[:limit],
        **({} if type_id is None else {"type": type_id}),
        **({} if limit is None else {"limit": limit}),
    }


def extend_classic(served: ServedIndex, wanted: Extension) -> dict[str, Any]:
    """Answer as version 0.2: rows are objects, by the ids of concepts and properties.

    Raises:
        ProblemError: unknown property, or too many concepts.
    """
    return {"meta": _meta(served, wanted), "rows": {id_: dict(_row(served, wanted, id_)) for id_ in wanted.ids}}


def extend_draft(served: ServedIndex, wanted: Extension) -> dict[str, Any]:
    """Answer as the draft of version 1.0: rows are a list; errors as of :func:`extend_classic`."""
    meta = _meta(served, wanted)
    rows = [
        {"id": id_, "properties": [{"id": key, "values": values} for key, values in _row(served, wanted, id_)]}
        for id_ in wanted.ids
    ]
    return {"meta": meta, "rows": rows}


def _meta(served: ServedIndex, wanted: Extension) -> list[dict[str, str]]:
    if len(wanted.ids) > _IDS:
        raise ProblemError(413, "too_many_ids", f"{len(wanted.ids):,} ids; the limit is {_IDS:,}", "send fewer")
    cells = len(wanted.ids) * len(wanted.properties)
    if cells > _CELLS:
        what = f"{cells:,} values of properties; the limit is {_CELLS:,}"
        raise ProblemError(413, "too_many_values", what, "send fewer ids or properties")
    described = [_property(served, each.id) for each in wanted.properties]
    return [{"id": each.id, "name": each.name} for each in described]


def _row(served: ServedIndex, wanted: Extension, concept_id: str) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """Yield the values of each wanted property of a concept; none for an unknown id."""
    current = served.vocabulary.resolve(concept_id)
    row = served.vocabulary.row(current[0]) if len(current) == 1 else None
    for each in wanted.properties:
        described = _property(served, each.id)
        values = () if row is None else described.values(row)
        yield each.id, [_written(value, described) for value in islice(values, _limit(each.settings.get("limit")))]


def _property(served: ServedIndex, property_id: str) -> Property:
    described = served.properties.get(property_id)
    if described is None:
        known = ", ".join(each.id for each in served.properties)
        raise ProblemError(400, "unknown_property", "there is no such property", f"ask for some of: {known}")
    return described


def _written(value: Any, described: Property) -> dict[str, str]:
    return {"id": value.concept_id, "name": value.text} if described.of_concepts else {"str": value.text}


def _limit(setting: Any) -> int | None:
    """Read a limit, a number or, from OpenRefine, a text; ``None`` for no limit."""
    try:
        return max(int(setting), 0) or None
    except (TypeError, ValueError, OverflowError):
        return None
