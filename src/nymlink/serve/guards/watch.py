"""Metrics of requests for Prometheus, and a log without texts of requests."""

from __future__ import annotations

import logging
import re
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from time import perf_counter
from typing import Any, Final, TextIO
from uuid import uuid4

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nymlink.core.terminal import STYLE, Level, tell
from nymlink.serve.errors import REQUEST_ID, unexpected

_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class Metrics:
    """Counts of one server, separate from other servers in the process."""

    content_type: Final = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        # Memory, processor time and open files; on Linux alone.
        ProcessCollector(registry=registry)
        self._requests = Counter(
            "nymlink_requests", "Requests answered.", ["method", "route", "status"], registry=registry
        )
        self._seconds = Histogram(
            "nymlink_request_seconds", "Time to answer a request.", ["route"], buckets=_SECONDS, registry=registry
        )
        self._mentions = Counter("nymlink_mentions", "Mentions linked.", ["index"], registry=registry)
        self._waiting = Gauge(
            "nymlink_waiting_mentions", "Mentions that wait to be linked.", ["index"], registry=registry
        )
        self._claimed = Gauge(
            "nymlink_claimed_bytes", "Memory that requests have claimed, of --memory.", registry=registry
        )
        self.open_requests = Gauge("nymlink_open_requests", "Requests being worked on.", registry=registry)

    def note_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answered request."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def note_mentions(self, index: str, mentions: int) -> None:
        """Count mentions linked to an index."""
        self._mentions.labels(index).inc(mentions)

    def watch_waiting(self, index: str, waiting: Callable[[], int]) -> None:
        """Report the number of waiting mentions whenever metrics are read."""
        self._waiting.labels(index).set_function(waiting)

    def watch_memory(self, claimed: Callable[[], int]) -> None:
        """Report the claimed memory whenever metrics are read."""
        self._claimed.set_function(claimed)

    def text(self) -> bytes:
        """Write all metrics in the format of Prometheus."""
        return generate_latest(self._registry)


_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

LOG: Final = logging.getLogger("nymlink.access")
"""A line per request, without texts of the request or its address: they may be patients'.

A record has the values of the line in ``fields``."""

FAILURES: Final = logging.getLogger("nymlink.failures")
"""Log of unexpected failures: type and place in the code, without the message, which may quote a request."""

_ID_HEADER: Final = b"x-request-id"

_ID: Final = re.compile(rb"[A-Za-z0-9._-]{1,128}")
"""Ids that are taken from a request: others could break a line of the log."""


class Watch:
    """Counts, logs and numbers requests, and answers failed ones.

    A request keeps the id of its header ``X-Request-ID``; without a usable one it gets another. The answer has it.
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
        given = next((value for name, value in scope["headers"] if name == _ID_HEADER), b"")
        request_id = given if _ID.fullmatch(given) else uuid4().hex.encode()

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                answer["status"] = message["status"]
                message = {**message, "headers": [*message.get("headers", ()), (_ID_HEADER, request_id)]}
            elif message["type"] == "http.response.body":
                answer["bytes"] += len(message.get("body", b""))
            await send(message)

        self._metrics.open_requests.inc()
        numbered = REQUEST_ID.set(request_id.decode())
        try:
            await self._app(scope, receive, counted)
        except Exception as error:
            FAILURES.error(_place(error))
            if not answer["status"]:
                await unexpected().response()(scope, receive, counted)
        finally:
            self._metrics.open_requests.dec()
            self._note(scope, answer, perf_counter() - started)
            REQUEST_ID.reset(numbered)

    def _note(self, scope: Scope, answer: dict[str, Any], seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "") or "other"
        method = scope["method"] if scope["method"] in _METHODS else "other"
        # 499: the client disconnected before the answer.
        status = answer["status"] or 499
        self._metrics.note_request(method, route, status, seconds)
        if not self._log:
            return
        state = scope.get("state", {})
        fields = {
            "client": (scope.get("client") or ("",))[0],
            "method": method,
            "route": route,
            "status": status,
            "ms": round(1000 * seconds, 1),
            "request_bytes": state.get("request_bytes", 0),
            "response_bytes": answer["bytes"],
        }
        if "mentions" in state:
            fields["mentions"] = state["mentions"]
        LOG.info("request", extra={"fields": fields})


def _place(error: BaseException) -> str:
    """Describe an error by its type and place in the code, without its message."""
    frames = traceback.extract_tb(error.__traceback__)
    where = " < ".join(f"{frame.name} ({frame.filename}:{frame.lineno})" for frame in reversed(frames[-8:]))
    return f"{type(error).__name__} in {where}"


class _OneLine(logging.Handler):
    """Writes each record as a line on standard error.

    Of records of others only the level and the place in the code: their texts may quote a request.
    """

    def emit(self, record: logging.LogRecord) -> None:
        fields: dict[str, Any] = getattr(record, "fields", {})
        message = record.getMessage()
        if record.name not in (LOG.name, FAILURES.name):
            message = f"{record.levelname} of {record.name} ({record.pathname}:{record.lineno})"
            error = record.exc_info[1] if record.exc_info else None
            message += "" if error is None else f": {_place(error)}"
        elif fields and not STYLE.as_json:
            message = " ".join(f"{name}={value}" for name, value in fields.items())
        level: Level = "info"
        if record.levelno >= logging.WARNING:
            level = "error" if record.levelno >= logging.ERROR else "warning"
        if STYLE.as_json:
            tell(message, level=level, **fields, request_id=REQUEST_ID.get() or None)
        else:
            time = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            number = f" request_id={REQUEST_ID.get()}" if REQUEST_ID.get() else ""
            tell(f"{time} {message}{number}", level="info" if level == "info" else "notice")


@contextmanager
def log_to_standard_error() -> Iterator[None]:
    """Within the block, write both logs to standard error; of everything else only the place in the code.

    Everything else: logs of libraries, warnings, and errors that end threads.
    """
    handler, root, own = _OneLine(), logging.getLogger(), (LOG, FAILURES)
    before = [(log, log.handlers, log.level, log.propagate) for log in (*own, root)]
    hooks = warnings.showwarning, threading.excepthook
    for log in own:
        log.setLevel(logging.INFO)
        log.propagate = False
    for log in (*own, root):
        log.handlers = [handler]
    warnings.showwarning, threading.excepthook = _note_warning, _note_end_of_thread
    try:
        yield
    finally:
        warnings.showwarning, threading.excepthook = hooks
        for log, handlers, level, propagate in before:
            log.handlers, log.propagate = handlers, propagate
            log.setLevel(level)


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
