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


@cache
def _validator(template: str, method: str, status: str, kind: str) -> Any:
    """Make what checks an answer; the place of each reference in the description is looked for once."""
    from jsonschema import Draft202012Validator

    api = _description()
    schema = api["paths"][template][method]["responses"][status]["content"][kind]["schema"]
    return Draft202012Validator({**schema, "components": api["components"]})


def check_answer(answer: Any) -> None:
    """Check the status, the content type and the schema of an answer of a route that is described."""
    request, api = answer.request, _description()
    path = request.url.path
    template = _template(api["paths"], path) or _template(api["paths"], f"{API}{path}")
    methods, method, status = api["paths"].get(template, {}), request.method.lower(), str(answer.status_code)
    if method not in methods or "text/html" in request.headers.get("accept", ""):
        return
    route = methods[method]
    assert status in route["responses"], (route["operationId"], status)
    content = route["responses"][status]["content"]
    kind = answer.headers["content-type"].partition(";")[0]
    assert kind in content, (route["operationId"], status, kind)
    if kind != "application/json":
        return
    if len(answer.read()) > _LONGEST:
        return
    validator = _validator(template, method, status, kind)
    faults = [f"{fault.json_path}: {fault.message[:200]}" for fault in validator.iter_errors(answer.json())]
    assert not faults, (route["operationId"], status, faults[:3])
