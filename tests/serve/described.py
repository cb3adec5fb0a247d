"""Checks answers against the description of the API."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Any

from nymlink.serve.app import create_app
from nymlink.serve.serve_settings import API
from nymlink.serve.served import ServedIndexes

_LONGEST = 50_000
"""Bytes of the longest answer that is checked; the checks are slow."""


def _template(paths: Iterable[str], path: str) -> str:
    """Find the described path of an address; of several, the one with the most literal characters."""
    found = [
        template
        for template in paths
        if re.fullmatch(
            re.sub(r"\{concept_id\}", ".+", template).replace("{", "(?P<").replace("}", ">[^/]+)"), path
        )
    ]
    return max(found, key=lambda template: len(re.sub(r"\{\w+\}", "", template)), default="")


@cache
def _description() -> dict[str, Any]:
    """Describe the API once; that of each application differs only in whether it needs a token."""
    return create_app(ServedIndexes([])).openapi()


def check_answer(answer: Any) -> None:
    """Check the status, the content type and the schema of an answer of a route that is described."""
    from jsonschema import Draft202012Validator

    request, api = answer.request, _description()
    path = request.url.path
    template = _template(api["paths"], path) or _template(api["paths"], f"{API}{path}")
    methods = api["paths"].get(template, {})
    if request.method.lower() not in methods or "text/html" in request.headers.get("accept", ""):
        return
    route = methods[request.method.lower()]
    assert str(answer.status_code) in route["responses"], (route["operationId"], answer.status_code)
    content = route["responses"][str(answer.status_code)]["content"]
    kind = answer.headers["content-type"].partition(";")[0]
    assert kind in content, (route["operationId"], answer.status_code, kind)
    if kind != "application/json":
        return
    if len(answer.read()) > _LONGEST:
        return
    schema = {**content[kind]["schema"], "components": api["components"]}
    faults = [
        f"{fault.json_path}: {fault.message[:200]}"
        for fault in Draft202012Validator(schema).iter_errors(answer.json())
    ]
    assert not faults, (route["operationId"], answer.status_code, faults[:3])
