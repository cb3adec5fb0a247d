"""Errors as problem details in JSON, or as pages."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field
from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response

from nymlink.core.errors import (
    InputError,
    MissingExtraError,
    NymlinkError,
    StoreError,
    StoreUnavailableError,
    UnknownNameError,
)
from nymlink.project.rows import (
    ConflictError,
    LockedError,
    NotSavedError,
    ProjectError,
    ReadOnlyError,
    UnknownTermError,
)
from nymlink.serve.batching import LinkTimeoutError, OverloadedError
from nymlink.serve.guards.memory import TooLargeError
from nymlink.serve.templates import page

REQUEST_ID: Final = ContextVar("request id", default="")
"""Id of the request that is being answered: it is in the answer's headers, in errors, and in the log."""


def json_bytes(value: Any) -> bytes:
    """Convert to JSON in UTF-8; halves of surrogate pairs, which UTF-8 lacks, become escapes."""
    try:
        return json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(value).encode()


@dataclass(frozen=True, slots=True)
class ProblemAnswer:
    """The answer to a client after an error.

    Attributes:
        status: HTTP status.
        code: the kind of error, one word for programs.
        what: the cause.
        what_to_do: advice.
        headers: headers of the answer.
        more: further fields of the answer, for programs.
    """

    status: int
    code: str
    what: str
    what_to_do: str
    headers: Mapping[str, str] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        value = asdict(self)
        del value["headers"], value["more"]
        return {**value, "request_id": REQUEST_ID.get(), **self.more}

    def response(self) -> Response:
        """Make the answer."""
        return Response(
            json_bytes(self.to_dict()), self.status, headers=dict(self.headers), media_type="application/json"
        )


class ProblemError(Exception):
    """An error that is answered with a problem."""

    def __init__(
        self, status: int, code: str, what: str, what_to_do: str, *, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(what)
        self.problem = ProblemAnswer(status, code, what, what_to_do, headers or {})


_TO_DO: Final = {
    401: "send the header Authorization: Bearer TOKEN",
    404: "see /docs for the routes",
    405: "see /docs for the methods of each path",
}


def unexpected() -> ProblemAnswer:
    """Make the problem of an unexpected error."""
    return ProblemAnswer(
        500, "internal_error", "the server failed", "tell the operator of the server: the log names the place"
    )


def problem_of(error: NymlinkError) -> ProblemAnswer:
    """Make the problem of an expected error."""
    if isinstance(error, ConflictError):
        return ProblemAnswer(
            409, "conflict", error.message, "show what there is now", more={"present": error.present}
        )
    if isinstance(error, ReadOnlyError):
        return ProblemAnswer(409, "read_only", error.message, "decisions can be read and exported")
    if isinstance(error, LockedError):
        return ProblemAnswer(423, "locked", error.message, "stop the other one, or ask it")
    if isinstance(error, NotSavedError):
        return ProblemAnswer(507, "not_saved", error.message, "make room, then send it again")
    if isinstance(error, ProjectError):
        return ProblemAnswer(422, "unusable_project", error.message, "tell the operator of the server")
    if isinstance(error, MissingExtraError):
        return ProblemAnswer(501, "not_installed", error.message, "tell the operator of the server")
    if isinstance(error, UnknownTermError):
        return ProblemAnswer(404, "not_found", error.message, "list the terms of the project")
    if isinstance(error, UnknownNameError):
        return ProblemAnswer(404, "not_found", error.message, "look for its name with /search")
    if isinstance(error, InputError):
        return ProblemAnswer(422, "invalid_input", error.message, "correct it and send the request again")
    retry = {"Retry-After": "1"}
    if isinstance(error, OverloadedError):
        return ProblemAnswer(
            503, "overloaded", error.message, "send it again in a second, or less at a time", retry
        )
    if isinstance(error, TooLargeError):
        return ProblemAnswer(
            413, "too_large", error.message, "send it in parts; the operator of the server may raise --memory"
        )
    if isinstance(error, LinkTimeoutError):
        return ProblemAnswer(503, "timed_out", error.message, "send fewer mentions at a time", retry)
    if isinstance(error, StoreUnavailableError):
        return ProblemAnswer(
            503, "store_unavailable", "the store of the index does not answer", "send it again later", retry
        )
    if isinstance(error, StoreError):
        return ProblemAnswer(
            500, "damaged_index", "the index is damaged", "tell the operator of the server: build it again"
        )
    return unexpected()


def _invalid(error: RequestValidationError, request: Request) -> ProblemAnswer:
    """Describe the first faults of a request by their places, without quoting the request."""
    if request.method == "POST" and "json" not in request.headers.get("content-type", ""):
        to_do = "send JSON, with the header Content-Type: application/json"
        return ProblemAnswer(415, "unsupported_media_type", "the body has no JSON content type", to_do)
    faults = [f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()[:3]]
    status = 400 if any(fault["type"] == "json_invalid" for fault in error.errors()) else 422
    return ProblemAnswer(status, "invalid_request", "; ".join(faults), "see /docs for the expected form")


def _http(error: HTTPException) -> ProblemAnswer:
    name = HTTPStatus(error.status_code).phrase
    to_do = _TO_DO.get(error.status_code, "see /docs for the expected form")
    code = name.lower().replace(" ", "_").replace("-", "_")
    return ProblemAnswer(error.status_code, code, str(error.detail), to_do, error.headers or {})


def add_error_handlers(app: FastAPI) -> None:
    """Answer all errors of an application in one shape."""
    app.add_exception_handler(ProblemError, _answering(lambda error, _: error.problem))
    app.add_exception_handler(NymlinkError, _answering(lambda error, _: problem_of(error)))
    app.add_exception_handler(RequestValidationError, _answering(_invalid))
    app.add_exception_handler(HTTPException, _answering(lambda error, _: _http(error)))


def missing_page(headers: Mapping[str, str], problem: ProblemAnswer) -> HTMLResponse:
    """Show a problem as a page, with the pages that there are."""
    what, to_do = problem.what, problem.what_to_do
    return page(headers, "missing.html", status=problem.status, what=what, to_do=to_do)


def _answering(
    describe: Callable[[Any, Request], ProblemAnswer],
) -> Callable[[Request, Exception], Awaitable[Response]]:
    async def answer(request: Request, error: Exception) -> Response:
        problem = describe(error, request)
        # Browsers ask for HTML when they open an address; programs and scripts of our pages do not.
        if request.method == "GET" and "text/html" in request.headers.get("accept", ""):
            shown = missing_page(request.headers, problem)
            shown.headers.update(problem.headers)
            return shown
        return problem.response()

    return answer
