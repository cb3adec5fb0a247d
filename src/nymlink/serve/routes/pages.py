"""The pages for people: text, names, tables and their review, a concept, and the API."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter, Request, Response

from nymlink.core.errors import UnknownNameError
from nymlink.serve.concept_details import describe_concept
from nymlink.serve.errors import ProblemError, problem_of
from nymlink.serve.guards.tokens import COOKIE, bearer_token
from nymlink.serve.pages.templates import page
from nymlink.serve.routes.parts import Indexes, base_url

router: Final = APIRouter(include_in_schema=False)

_READ: Final = ["GET", "HEAD"]


@router.api_route("/", methods=_READ)
def text_page(indexes: Indexes) -> Response:
    """Show the page that finds mentions in a text; what is in its address, the page itself reads."""
    return page("text.html", indexes=[served.name for served in indexes])


@router.api_route("/names", methods=_READ)
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


@router.api_route("/table", methods=_READ)
def table_page(indexes: Indexes) -> Response:
    """Show the tables that are reviewed, and the page that takes a new one."""
    return page("table.html", indexes=[served.name for served in indexes])


@router.api_route("/table/{project}", methods=_READ)
def review_page(project: str) -> Response:
    """Show the page that reviews the links of a project; whether there is one, the page itself asks."""
    return page("review.html", project=project)


@router.api_route("/concept/{index}/{concept_id:path}", methods=_READ)
def concept_page(indexes: Indexes, index: str, concept_id: str) -> Response:
    """Show all that is known of a concept; of one that nobody knows, what to do."""
    try:
        served = indexes.named(index)
        return page("concept.html", index=served.name, concept=describe_concept(served, concept_id))
    except UnknownNameError as error:
        problem = problem_of(error)
    except ProblemError as error:
        problem = error.problem
    return page("missing.html", status=problem.status, what=problem.what, to_do=problem.what_to_do)


@router.api_route("/docs", methods=_READ)
def docs_page(request: Request, indexes: Indexes) -> Response:
    """Show the routes of the API, with examples."""
    return page("api.html", api=request.app.openapi(), indexes=[served.name for served in indexes])
