"""Whether the server runs, what it serves, and what it has done."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter, Request, Response

from nymlink import __version__
from nymlink.serve.routes.examples import INDEXES_ANSWER
from nymlink.serve.routes.parts import Indexes, json_answer, metrics_of

router: Final = APIRouter(tags=["server"])


# These answer while all threads are busy.
@router.get("/health", summary="Tell whether the server runs")
async def health(indexes: Indexes) -> Response:
    """Answer with the version and the names of the indexes."""
    return json_answer({"status": "ok", "version": __version__, "indexes": [served.name for served in indexes]})


@router.get("/metrics", summary="Tell Prometheus what was done")
async def metrics(request: Request) -> Response:
    """Answer in the text format of Prometheus."""
    metrics = metrics_of(request)
    return Response(metrics.text(), headers={"Content-Type": metrics.content_type})


@router.get(
    "/indexes",
    summary="Describe the indexes",
    responses={200: {"content": {"application/json": {"example": INDEXES_ANSWER}}}},
)
def indexes(indexes: Indexes) -> Response:
    """Answer with the sources, sizes, languages and types of each index; the first is the default."""
    return json_answer({"indexes": [served.describe() for served in indexes]})
