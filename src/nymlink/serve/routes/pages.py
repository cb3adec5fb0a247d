"""The pages for people: linking names, a concept, and the API."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter, Request, Response

from nymlink.serve.concept_details import describe_concept
from nymlink.serve.guards.tokens import COOKIE, bearer_token
from nymlink.serve.pages.templates import page
from nymlink.serve.routes.parts import Indexes, base_url

router: Final = APIRouter(include_in_schema=False)


@router.get("/")
def text_page(indexes: Indexes) -> Response:
    """Show the page that finds mentions in a text; what is in its address, the page itself reads."""
    return page("text.html", indexes=[served.name for served in indexes])


@router.get("/names")
def names_page(indexes: Indexes) -> Response:
    """Show the page that links names; what is in its address, the page itself reads."""
    return page("names.html", indexes=[served.name for served in indexes])


@router.post("/session")
def keep_token(request: Request) -> Response:
    """Let the browser keep the token of this request, for the pages: they cannot send headers."""
    answer = Response(status_code=204)
    token = bearer_token(request.headers)
    if token:
        secure = base_url(request).startswith("https:")
        answer.set_cookie(COOKIE, token, httponly=True, samesite="strict", secure=secure)
    return answer


@router.get("/concept/{index}/{concept_id:path}")
def concept_page(indexes: Indexes, index: str, concept_id: str) -> Response:
    """Show all that is known of a concept."""
    served = indexes.named(index)
    return page("concept.html", index=served.name, concept=describe_concept(served, concept_id))


@router.get("/docs")
def docs_page(request: Request, indexes: Indexes) -> Response:
    """Show the routes of the API, with examples."""
    return page("api.html", api=request.app.openapi(), indexes=[served.name for served in indexes])
