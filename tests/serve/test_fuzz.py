"""Requests made from the API's own description, valid and broken: none makes the server fail."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from fastapi import FastAPI

from nymlink.serve.app import create_app
from nymlink.serve.serve_settings import Limits, ServeSettings
from nymlink.serve.served import ServedIndex, ServedIndexes
from tests.serve.toy import built_index

_FOLDER = tempfile.TemporaryDirectory(prefix="nymlink-fuzz-")


@cache
def served() -> FastAPI:
    indexes = ServedIndexes([ServedIndex("toy", built_index(), target_precision=None, limits=Limits())])
    made = create_app(indexes, ServeSettings(projects=Path(_FOLDER.name)))
    made.state.projects.create("toy", title="", index=None)
    return made


async def app(scope: Any, receive: Any, send: Any) -> None:
    """The application; its end, which each request would bring about here, it does not hear of."""
    if scope["type"] != "lifespan":
        await served()(scope, receive, send)
        return
    for event in ("startup", "shutdown"):
        await receive()
        await send({"type": f"lifespan.{event}.complete"})


@pytest.mark.large
@pytest.mark.parametrize("part", range(4))
def test_no_request_makes_the_server_fail(part: int) -> None:
    # Imported here: to read the description takes seconds, in each process that collects tests.
    schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
    schema = schemathesis.openapi.from_dict(create_app(ServedIndexes([])).openapi())
    schema.app = app
    operations = [operation.ok() for operation in schema.get_all_operations()]
    assert len(operations) > 40
    for operation in operations[part::4]:
        check(operation)


def check(operation: Any) -> None:
    """Make requests to a route."""

    @hypothesis.settings(max_examples=8, suppress_health_check=list(hypothesis.HealthCheck))
    @hypothesis.given(case=operation.as_strategy())
    def ask(case: Any) -> None:
        # A name of an index and of a project that are there, where others would only be refused.
        if case.path_parameters and "name" in case.path_parameters:
            case.path_parameters["name"] = "toy"
        answer = case.call()
        assert answer.status_code < 500, answer.text
        if answer.status_code >= 400:
            assert set(answer.json()) >= {"status", "code", "what", "what_to_do"}

    try:
        ask()
    except Exception as error:
        error.add_note(operation.label)
        raise
