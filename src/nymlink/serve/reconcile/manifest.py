"""The manifests of a reconciliation service, in version 0.2 and in the draft of 1.0."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote

from nymlink import __version__
from nymlink.serve.served import ServedIndex

PREVIEW: Final = {"width": 420, "height": 260}
"""Size of a preview in pixels."""

_LIMIT_SETTING: Final = {
    "type": "number",
    "default": 0,
    "name": "limit",
}
_LIMIT_HELP: Final = "Values of a concept at most; 0 for all"

_AUTHENTICATION: Final = {
    "type": "apiKey",
    "name": "Authorization",
    "in": "header",
    "description": "Bearer TOKEN",
}


def service_url(served: ServedIndex, base: str) -> str:
    """The address of the service of an index."""
    return f"{base}/reconcile/{quote(served.name)}"


def classic_manifest(served: ServedIndex, base: str, *, tokens: bool) -> dict[str, Any]:
    """Write the manifest of version 0.2.

    Args:
        served: the index.
        base: where browsers reach the server.
        tokens: whether requests need one.
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
