"""`POST /annotate`: a text in, the mentions in it out."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter, Request, Response
from pydantic import ConfigDict, Field

from nymlink.serve.errors import ProblemError
from nymlink.serve.routes.examples import ANNOTATE_ANSWER, ANNOTATE_REQUEST
from nymlink.serve.routes.parts import Fields, Indexes, Memory, json_answer, metrics_of

router: Final = APIRouter()

_CHARACTER: Final = 512
"""Bytes of memory that the links of a character take at most, with their part of the answer."""


class AnnotateRequest(Fields):
    """A text to be read."""

    model_config = ConfigDict(json_schema_extra={"examples": [ANNOTATE_REQUEST]})

    text: str
    index: str | None = Field(None, description="Name of the index; the first if not given.")


@router.post(
    "/annotate",
    tags=["link"],
    summary="Find mentions in a text",
    responses={200: {"content": {"application/json": {"example": ANNOTATE_ANSWER}}}},
)
def annotate(request: Request, what: AnnotateRequest, indexes: Indexes, claim: Memory) -> Response:
    """Answer with a link for each mention, in the order of the text: `{"links": [...]}`."""
    served = indexes.named(what.index)
    most = served.limits.text_characters
    if len(what.text) > most:
        size = f"{len(what.text):,} characters in text; the limit is {most:,}"
        raise ProblemError(413, "text_too_long", size, "send less at a time")
    claim.add(_CHARACTER * len(what.text))
    links = served.annotate(what.text)
    request.state.mentions = len(links)
    metrics_of(request).note_mentions(served.name, len(links))
    return json_answer({"links": [link.to_dict() for link in links]})
