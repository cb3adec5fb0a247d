"""Watch every request: count and time it, log a line, and answer where something failed."""

from __future__ import annotations

import json
import logging
import sys
import threading
import traceback
import warnings
from datetime import UTC, datetime
from time import perf_counter
from typing import Any, Final, TextIO

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nymlink.serve.errors import unexpected
from nymlink.serve.metrics import Metrics

_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

LOG: Final = logging.getLogger("nymlink.access")
"""A line of JSON for each request. It has no text of the request, nor of its address:
that may be patients'."""

FAILURES: Final = logging.getLogger("nymlink.failures")
"""Failures nobody foresaw: their kind and place in the code, not their message, which may quote a request."""


class Watch:
    """Counts requests, logs them, and answers those that failed.

    Args:
        app: what answers.
        metrics: get the counts.
        log: whether a line is logged for each request.
    """

    def __init__(self, app: ASGIApp, *, metrics: Metrics, log: bool) -> None:
        self._app = app
        self._metrics = metrics
        self._log = log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = perf_counter()
        answer: dict[str, Any] = {"status": 0, "bytes": 0}

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                answer["status"] = message["status"]
            elif message["type"] == "http.response.body":
                answer["bytes"] += len(message.get("body", b""))
            await send(message)

        self._metrics.open_requests.inc()
        try:
            await self._app(scope, receive, counted)
        except Exception as error:
            FAILURES.error(_place(error))
            if not answer["status"]:
                await unexpected().response()(scope, receive, counted)
        finally:
            self._metrics.open_requests.dec()
            self._note(scope, answer, perf_counter() - started)

    def _note(self, scope: Scope, answer: dict[str, Any], seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "") or "other"
        method = scope["method"] if scope["method"] in _METHODS else "other"
        # 499: the client has gone, and got no answer.
        status = answer["status"] or 499
        self._metrics.note_request(method, route, status, seconds)
        if not self._log:
            return
        state = scope.get("state", {})
        line = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "client": (scope.get("client") or ("",))[0],
            "method": method,
            "route": route,
            "status": status,
            "ms": round(1000 * seconds, 1),
            "request_bytes": state.get("request_bytes", 0),
            "response_bytes": answer["bytes"],
        }
        if "mentions" in state:
            line["mentions"] = state["mentions"]
        LOG.info(json.dumps(line))


def _place(error: BaseException) -> str:
    """Say what kind of error was raised and where, without its message."""
    frames = traceback.extract_tb(error.__traceback__)
    where = " < ".join(f"{frame.name} ({frame.filename}:{frame.lineno})" for frame in reversed(frames[-8:]))
    return f"{type(error).__name__} in {where}"


class _WithoutTexts(logging.Formatter):
    """Writes what others log by its place in the code: its message, or that of an error, may quote a request."""

    def format(self, record: logging.LogRecord) -> str:
        line = f"{record.levelname} of {record.name} ({record.pathname}:{record.lineno})"
        error = record.exc_info[1] if record.exc_info else None
        return line if error is None else f"{line}: {_place(error)}"


def log_to_standard_error() -> None:
    """Write the lines of both logs to standard error, as they are; what others say in this process, by its place.

    That is what libraries log, warnings, and errors that end threads.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))
    for log in (LOG, FAILURES):
        log.handlers = [handler]
        log.setLevel(logging.INFO)
        log.propagate = False
    others = logging.StreamHandler(sys.stderr)
    others.setFormatter(_WithoutTexts())
    logging.getLogger().handlers = [others]
    warnings.showwarning = _note_warning
    threading.excepthook = _note_end_of_thread


def _note_warning(
    message: Warning | str,  # noqa: ARG001 — it may quote a request
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,  # noqa: ARG001
    line: str | None = None,  # noqa: ARG001
) -> None:
    FAILURES.warning(f"{category.__name__} ({filename}:{lineno})")


def _note_end_of_thread(ended: threading.ExceptHookArgs) -> None:
    if ended.exc_value is not None:
        FAILURES.error(_place(ended.exc_value))
