"""Requests made from the API's own description, valid and broken: none makes the server fail."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import hypothesis
import pytest

pytest.importorskip("schemathesis", reason="schemathesis is not installed")

import schemathesis
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


SCHEMA = schemathesis.openapi.from_dict(create_app(ServedIndexes([])).openapi())
SCHEMA.app = app


@pytest.mark.slow
@SCHEMA.parametrize()
@hypothesis.settings(max_examples=8, deadline=None, suppress_health_check=list(hypothesis.HealthCheck))
def test_no_request_makes_the_server_fail(case: schemathesis.Case) -> None:
    # A name of an index and of a project that are there, where others would only be refused.
    if case.path_parameters and "name" in case.path_parameters:
        case.path_parameters["name"] = "toy"
    answer = case.call()
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400:
        assert set(answer.json()) >= {"status", "code", "what", "what_to_do"}
