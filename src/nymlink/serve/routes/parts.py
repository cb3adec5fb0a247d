"""What routes share: the parts of the application, and answers in JSON."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Query, Request, Response

from nymlink.serve.json_text import json_bytes
from nymlink.serve.metrics import Metrics
from nymlink.serve.served import ServedIndexes
from nymlink.serve.settings import ServeSettings

IndexName = Annotated[str | None, Query(description="Name of the index; the first if not given.", max_length=200)]


def indexes_of(request: Request) -> ServedIndexes:
    """The indexes of the application."""
    indexes: ServedIndexes = request.app.state.indexes
    return indexes


async def _indexes(request: Request) -> ServedIndexes:
    # What is no coroutine would be called in a thread.
    return indexes_of(request)


Indexes = Annotated[ServedIndexes, Depends(_indexes)]


def settings_of(request: Request) -> ServeSettings:
    """The settings of the application."""
    settings: ServeSettings = request.app.state.settings
    return settings


def metrics_of(request: Request) -> Metrics:
    """The metrics of the application."""
    metrics: Metrics = request.app.state.metrics
    return metrics


def base_url(request: Request) -> str:
    """Where browsers reach the application, without a slash at the end."""
    return (settings_of(request).public_url or str(request.base_url)).rstrip("/")


def json_answer(value: Any, *, status: int = 200) -> Response:
    """Answer with JSON; values are known to be valid, so nothing checks them again."""
    return Response(json_bytes(value), status, media_type="application/json")
