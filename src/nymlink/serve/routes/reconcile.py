"""The reconciliation service of each index, in version 0.2 and in the draft of 1.0."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final, Literal
from urllib.parse import parse_qs

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import HTMLResponse

from nymlink.serve.answers import problems
from nymlink.serve.errors import ProblemError
from nymlink.serve.guards.memory import Claim, claim_of
from nymlink.serve.reconcile.manifest import (
    classic_manifest,
    draft_manifest,
    extend_classic,
    extend_draft,
    propose_properties,
)
from nymlink.serve.reconcile.match import flyout, match, suggest_entities, suggest_properties, suggest_types
from nymlink.serve.reconcile.queries import (
    Extension,
    ReconciliationQuery,
    parse_classic,
    parse_draft,
    parse_extension,
)
from nymlink.serve.reconcile_answers import (
    ClassicExtension,
    ClassicResult,
    DraftExtension,
    DraftResults,
    Flyout,
    Manifest,
    ProposedProperties,
    Suggestions,
)
from nymlink.serve.routes.parts import Memory, base_url, indexes_of, json_answer, metrics_of, settings_of
from nymlink.serve.served import ServedIndex, describe_concept
from nymlink.serve.templates import page

_FUNCTION: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$.]{0,199}")

_VALUE: Final = 4096
"""Bytes of memory for the values of a property and their part of the answer."""

_PREVIEW_POLICY: Final = (
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors *"
)


# A coroutine, since FastAPI would call a function in a thread.
async def _served(request: Request, name: str) -> ServedIndex:
    return indexes_of(request).named(name)


async def _body(request: Request) -> bytes:
    return await request.body()


Served = Annotated[ServedIndex, Depends(_served)]
Body = Annotated[bytes, Depends(_body)]
Callback = Annotated[str | None, Query(description="Function of a JSONP client (0.2 only).", max_length=200)]
What = Literal["entity", "property", "type"]

_SCRIPT: Final[dict[int | str, dict[str, Any]]] = {
    200: {"content": {"application/javascript": {"schema": {"type": "string"}}}}
}
_ROOT: Final = "/reconcile/{name}"
_classic: Final = APIRouter(prefix=_ROOT, tags=["reconciliation 0.2"], responses=problems())
_both: Final = APIRouter(tags=["reconciliation"], responses=problems())
_draft: Final = APIRouter(tags=["reconciliation 1.0-draft"], responses=problems())
_draft_root: Final = APIRouter(prefix=_ROOT, tags=["reconciliation 1.0-draft"], responses=problems())


@_classic.get(
    "",
    summary="Describe the service, or match names",
    operation_id="reconcile",
    response_model=Manifest | ClassicExtension | dict[str, ClassicResult],
    responses=_SCRIPT,
)
@_classic.get("/", include_in_schema=False)
def root(
    request: Request,
    served: Served,
    queries: Annotated[str | None, Query(description="A batch of queries, in JSON.")] = None,
    extend: Annotated[str | None, Query(description="A query for data extension, in JSON.")] = None,
    callback: Callback = None,
) -> Response:
    """Answer a batch of queries or a data extension; without either, with the manifest of version 0.2."""
    return _answer(_asked_of_root(request, served, queries, extend), callback)


@_classic.post(
    "",
    summary="Match names, or extend data",
    operation_id="reconcile_form",
    response_model=ClassicExtension | dict[str, ClassicResult],
    openapi_extra={
        "requestBody": {
            "content": {
                "application/x-www-form-urlencoded": {
                    "schema": {
                        "type": "object",
                        "properties": {"queries": {"type": "string"}, "extend": {"type": "string"}},
                        "example": {"queries": '{"q0": {"query": "siezures", "limit": 3}}'},
                    }
                }
            }
        }
    },
)
@_classic.post("/", include_in_schema=False)
def post_root(request: Request, served: Served, body: Body) -> Response:
    """Answer the field `queries` or `extend` of a form."""
    fields = _form(body)
    if not fields.keys() & {"queries", "extend"}:
        raise ProblemError(400, "no_queries", "the form has neither queries nor extend", "send one of them")
    return _answer(_asked_of_root(request, served, fields.get("queries"), fields.get("extend")), None)


@_both.get("/suggest/{what}", summary="Complete a name or an id", response_model=Suggestions, responses=_SCRIPT)
def suggest(
    served: Served,
    what: What,
    prefix: str = "",
    limit: Annotated[int, Query(ge=1)] = 20,
    offset: Annotated[int, Query(ge=0, le=10_000)] = 0,
    cursor: Annotated[int, Query(ge=0, le=10_000, description="Offset, as version 0.2 calls it.")] = 0,
    type: Annotated[str, Query(description="Type of the concepts.")] = "",
    callback: Callback = None,
) -> Response:
    """Answer with concepts, types or properties."""
    skipped = offset or cursor
    if what == "entity":
        return _answer(
            {"result": suggest_entities(served, prefix, limit=limit, offset=skipped, type_id=type)}, callback
        )
    complete = suggest_types if what == "type" else suggest_properties
    return _answer({"result": complete(served, prefix, limit=limit, offset=skipped)}, callback)


@_classic.get(
    "/flyout/{what}", summary="Describe an entity in a few words", response_model=Flyout, responses=_SCRIPT
)
def get_flyout(served: Served, what: What, id: str, callback: Callback = None) -> Response:
    """Answer with HTML in JSON."""
    return _answer(flyout(served, what, id), callback)


@_both.get("/preview", summary="Show a concept in a small frame", response_class=HTMLResponse)
def preview(request: Request, served: Served, id: str) -> Response:
    """Answer with a page of the manifest's preview size."""
    answer = page(request.headers, "preview.html", concept=describe_concept(served, id), base=base_url(request))
    answer.headers["Content-Security-Policy"] = _PREVIEW_POLICY
    return answer


@_both.get(
    "/extend/propose",
    summary="Propose properties",
    operation_id="propose_properties",
    response_model=ProposedProperties,
    responses=_SCRIPT,
)
def propose(
    served: Served,
    type: str | None = None,
    limit: Annotated[int | None, Query(ge=1)] = None,
    callback: Callback = None,
) -> Response:
    """Answer with the properties of concepts of a type."""
    return _answer(propose_properties(served, type, limit), callback)


@_draft.post(
    "/match",
    summary="Match names",
    operation_id="match",
    response_model=DraftResults,
    openapi_extra={
        "requestBody": {
            "content": {
                "application/json": {
                    "schema": {"type": "object", "required": ["queries"]},
                    "example": {
                        "queries": [
                            {"conditions": [{"matchType": "name", "propertyValue": "siezures"}], "limit": 3}
                        ]
                    },
                }
            }
        }
    },
)
def match_draft(request: Request, served: Served, body: Body) -> Response:
    """Answer with the candidates of each query, in order."""
    batch = parse_draft(body)
    return json_answer({"results": _matched(request, served, batch, "candidates")})


@_draft.post(
    "/extend",
    summary="Extend data",
    operation_id="extend",
    response_model=DraftExtension,
    openapi_extra={
        "requestBody": {
            "content": {
                "application/json": {
                    "schema": {"type": "object", "required": ["ids", "properties"]},
                    "example": {"ids": ["HP:0001250"], "properties": [{"id": "xrefs"}]},
                }
            }
        }
    },
)
def post_extend(served: Served, claim: Memory, body: Body) -> Response:
    """Answer with the values of properties of concepts."""
    return json_answer(extend_draft(served, _extension(body, claim)))


@_draft_root.get(
    "/1.0-draft", summary="Describe the service", operation_id="get_manifest", response_model=Manifest
)
@_draft_root.get("/1.0-draft/", include_in_schema=False)
def get_draft_manifest(request: Request, served: Served) -> Response:
    """Answer with the manifest of the draft of version 1.0."""
    tokens = settings_of(request).needs_token
    return json_answer(draft_manifest(served, base_url(request), tokens=tokens))


def _asked_of_root(request: Request, served: ServedIndex, queries: str | None, extend: str | None) -> Any:
    if queries is not None:
        batch = parse_classic(queries)
        return dict(zip(batch, _matched(request, served, list(batch.values()), "result"), strict=True))
    if extend is not None:
        return extend_classic(served, _extension(extend, claim_of(request)))
    return classic_manifest(served, base_url(request), tokens=settings_of(request).needs_token)


def _extension(text: str | bytes, claim: Claim) -> Extension:
    """Parse a query for data extension, and claim memory for its answer."""
    wanted = parse_extension(text)
    claim.add(_VALUE * len(wanted.ids) * len(wanted.properties))
    return wanted


def _matched(
    request: Request, served: ServedIndex, queries: list[ReconciliationQuery | str], name: str
) -> list[dict[str, Any]]:
    """Match a batch; raise ``ProblemError`` if it is too large.

    Args:
        request: the request.
        served: the index.
        queries: queries; of an invalid one, what is wrong with it.
        name: name of the list of candidates.

    Returns:
        The candidates of each query; an invalid one has none, and an ``error``.
    """
    most = served.limits.queries
    if len(queries) > most:
        what = f"{len(queries):,} queries; the limit is {most:,} (batchSize of the manifest)"
        raise ProblemError(413, "too_many_queries", what, "send fewer at a time")
    valid = [query for query in queries if isinstance(query, ReconciliationQuery)]
    request.state.mentions = len(valid)
    results = iter(match(served, valid))
    metrics_of(request).note_mentions(served.name, len(valid))
    return [{name: [], "error": query} if isinstance(query, str) else {name: next(results)} for query in queries]


def _form(body: bytes) -> dict[str, str]:
    """Parse the fields of a form; raise ``ProblemError`` if it is invalid."""
    try:
        fields = parse_qs(body.decode(), keep_blank_values=True, errors="strict", max_num_fields=100)
    except ValueError as error:
        to_do = "send queries=… as application/x-www-form-urlencoded in UTF-8"
        raise ProblemError(400, "invalid_form", "this is no form", to_do) from error
    return {name: values[-1] for name, values in fields.items()}


def _answer(value: Any, callback: str | None) -> Response:
    """Answer in JSON, or with a script that calls a function (JSONP); ``ProblemError`` for an invalid name."""
    if callback is None:
        return json_answer(value)
    if not _FUNCTION.fullmatch(callback):
        raise ProblemError(400, "invalid_callback", "callback is no name of a function", "use letters and digits")
    script = b"/**/" + callback.encode() + b"(" + json_answer(value).body + b");"
    # JavaScript, unlike JSON, takes these as line ends.
    script = script.replace("\u2028".encode(), b"\\u2028").replace("\u2029".encode(), b"\\u2029")
    return Response(script, media_type="application/javascript")


_draft.include_router(_both)
router: Final = APIRouter()
router.include_router(_classic)
router.include_router(_draft_root)
router.include_router(_draft, prefix=_ROOT)
# Clients of version 1.0 expect all paths below the address of the manifest.
router.include_router(_draft, prefix=f"{_ROOT}/1.0-draft", include_in_schema=False)
