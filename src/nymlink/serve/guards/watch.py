"""Metrics of requests for Prometheus, and a log without texts of requests."""

from __future__ import annotations

import json
import logging
import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from datetime import UTC, datetime
from time import perf_counter
from typing import Any, Final, TextIO

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nymlink.serve.errors import unexpected

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
"""A line of JSON per request, without texts of the request or its address: they may be patients'."""

FAILURES: Final = logging.getLogger("nymlink.failures")
"""Log of unexpected failures: type and place in the code, without the message, which may quote a request."""


class Watch:
    """Counts and logs requests, and answers failed ones."""

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
        # 499: the client disconnected before the answer.
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
    """Describe an error by its type and place in the code, without its message."""
    frames = traceback.extract_tb(error.__traceback__)
    where = " < ".join(f"{frame.name} ({frame.filename}:{frame.lineno})" for frame in reversed(frames[-8:]))
    return f"{type(error).__name__} in {where}"


class _WithoutTexts(logging.Formatter):
    """Logs only the place in the code of messages and errors of others: their texts may quote a request."""

    def format(self, record: logging.LogRecord) -> str:
        line = f"{record.levelname} of {record.name} ({record.pathname}:{record.lineno})"
        error = record.exc_info[1] if record.exc_info else None
        return line if error is None else f"{line}: {_place(error)}"


def log_to_standard_error() -> None:
    """Write the lines of both logs to standard error; of everything else only the place in the code.

    Everything else: logs of libraries, warnings, and errors that end threads.
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
