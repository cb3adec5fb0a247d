"""Routes for concepts, pages, and the state of the server."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import PlainTextResponse

from nymlink import __version__
from nymlink.core.errors import UnknownNameError
from nymlink.serve.answers import ConceptAnswer, HealthAnswer, IndexesAnswer, ReloadAnswer, SearchAnswer, problems
from nymlink.serve.errors import ProblemError, missing_page, problem_of
from nymlink.serve.guards.tokens import COOKIE, bearer_token
from nymlink.serve.reloading import Reloading
from nymlink.serve.routes.parts import (
    CONCEPT_ANSWER,
    INDEXES_ANSWER,
    SAME_SITE,
    SEARCH_ANSWER,
    Indexes,
    IndexName,
    base_url,
    json_answer,
    judge_of,
    metrics_of,
)
from nymlink.serve.served import ServedIndexes, describe_concept
from nymlink.serve.served_projects import ServedProjects
from nymlink.serve.templates import page

router: Final = APIRouter(responses=problems())


@router.get(
    "/concepts/{concept_id:path}",
    tags=["vocabulary"],
    summary="Describe a concept",
    operation_id="describe_concept",
    response_model=ConceptAnswer,
    responses={200: {"content": {"application/json": {"example": CONCEPT_ANSWER}}}},
)
def concept(
    indexes: Indexes,
    concept_id: Annotated[str, Path(description="The id; a former one leads to its present concept.")],
    index: IndexName = None,
) -> Response:
    """Answer with its names by language, parents, children, cross-references and definition."""
    return json_answer(describe_concept(indexes.named(index), concept_id))


@router.get(
    "/search",
    tags=["vocabulary"],
    summary="Search concepts",
    response_model=SearchAnswer,
    responses={200: {"content": {"application/json": {"example": SEARCH_ANSWER}}}},
)
def search(
    indexes: Indexes,
    q: Annotated[str, Query(description="A part of a name, similar words, or an id.", max_length=2000)],
    index: IndexName = None,
    within: Annotated[str, Query(description="A semantic type, or the id of a branch.", max_length=1000)] = "",
    limit: Annotated[int, Query(ge=1, le=100)] = 10,
) -> Response:
    """Find concepts by typed text: best first, each with the name that matched, or `null` if its id matched."""
    return json_answer({"results": indexes.named(index).search(q, limit, within=within)})


@router.get(
    "/indexes",
    tags=["server"],
    summary="Describe the indexes",
    operation_id="list_indexes",
    response_model=IndexesAnswer,
    responses={200: {"content": {"application/json": {"example": INDEXES_ANSWER}}}},
)
def indexes(request: Request, indexes: Indexes) -> Response:
    """Answer with the sources, sizes, languages and types of each index, the default first; and the judge."""
    judge = judge_of(request)
    at = None if judge is None else judge.settings.endpoint
    return json_answer({"indexes": [served.describe() for served in indexes], "judge": at})


@router.post(
    "/indexes/reload",
    tags=["server"],
    summary="Open new releases of the indexes",
    operation_id="reload_indexes",
    response_model=ReloadAnswer,
    dependencies=[SAME_SITE],
    responses={403: problems(projects=True)[403]},
)
def reload(request: Request, indexes: Indexes) -> Response:
    """Read tokens, and open indexes whose folder has another release; if one cannot be opened, nothing changes."""
    reloading: Reloading = request.app.state.reloading
    changed = reloading.reload()
    return json_answer({"indexes": [{"name": name, "changed": name in changed} for name in indexes.names]})


status_router: Final = APIRouter(tags=["server"], responses=problems())


# These answer while all threads are busy.
@status_router.get("/health", summary="Check that the server runs", response_model=HealthAnswer)
async def health(indexes: Indexes) -> Response:
    """Answer with the version and the names of the indexes, also while they are built or opened."""
    return json_answer(_state(indexes))


@status_router.get("/ready", summary="Check that all indexes are open", response_model=HealthAnswer)
async def ready(indexes: Indexes) -> Response:
    """Answer as `/health`, but with 503 until all indexes are open."""
    _ = indexes.by_name
    return json_answer(_state(indexes))


def _state(indexes: ServedIndexes) -> dict[str, Any]:
    status = "ok" if indexes.are_open else "building"
    return {"status": status, "version": __version__, "indexes": list(indexes.names)}


@status_router.get("/metrics", summary="Report counts for Prometheus", response_class=PlainTextResponse)
async def metrics(request: Request) -> Response:
    """Answer in the text format of Prometheus."""
    metrics = metrics_of(request)
    return Response(metrics.text(), headers={"Content-Type": metrics.content_type})


pages_router: Final = APIRouter(include_in_schema=False)

_READ: Final = ["GET", "HEAD"]


@pages_router.api_route("/", methods=_READ)
def text_page(request: Request, indexes: Indexes) -> Response:
    """Show the page that finds mentions in a text; its script reads the address."""
    return page(request.headers, "text.html", indexes=[served.describe() for served in indexes])


@pages_router.api_route("/names", methods=_READ)
def names_page(request: Request, indexes: Indexes) -> Response:
    """Show the page that links names; its script reads the address."""
    return page(request.headers, "names.html", indexes=[served.describe() for served in indexes])


@pages_router.post("/session")
def keep_token(request: Request) -> Response:
    """Let the browser keep the token of this request, for the pages: they cannot send headers."""
    answer = Response(status_code=204)
    token = bearer_token(request.headers)
    if token:
        secure = base_url(request).startswith("https:")
        answer.set_cookie(COOKIE, token, httponly=True, samesite="strict", secure=secure)
    return answer


@pages_router.api_route("/table", methods=_READ)
def table_page(request: Request, indexes: Indexes) -> Response:
    """Show the tables under review, and the form for a new one."""
    return page(request.headers, "table.html", indexes=[served.describe() for served in indexes])


@pages_router.api_route("/table/{project}", methods=_READ)
def review_page(request: Request, project: str) -> Response:
    """Show the page that reviews the links of a project.

    Raises:
        ProblemError: there is no such project, or the server has none.
    """
    projects: ServedProjects | None = request.app.state.projects
    if projects is None:
        raise ProblemError(404, "no_projects", "this server has no projects", "start it with --projects FOLDER")
    if project not in projects.names():
        raise ProblemError(404, "unknown_project", "there is no project of this name", "see the list at /table")
    return page(request.headers, "review.html", project=project)


@pages_router.api_route("/concept/{index}/{concept_id:path}", methods=_READ)
def concept_page(request: Request, indexes: Indexes, index: str, concept_id: str) -> Response:
    """Show a concept with all its values; for an unknown id, advice."""
    try:
        served = indexes.named(index)
        concept = describe_concept(served, concept_id)
        return page(request.headers, "concept.html", index=served.name, concept=concept)
    except UnknownNameError as error:
        problem = problem_of(error)
    except ProblemError as error:
        problem = error.problem
    return missing_page(request.headers, problem)


@pages_router.api_route("/docs", methods=_READ)
def docs_page(request: Request, indexes: Indexes) -> Response:
    """Show the routes of the API, with examples."""
    names = [served.name for served in indexes]
    return page(request.headers, "api.html", api=request.app.openapi(), indexes=names)
