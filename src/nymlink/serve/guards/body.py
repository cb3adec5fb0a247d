"""Read the body of a request before anything is done with it: limited in size and time."""

from __future__ import annotations

import asyncio
import re
from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nymlink.serve.errors import Problem
from nymlink.serve.settings import Limits

_FILE: Final = re.compile(r"/projects/(?:preview|[^/]+/(?:files|import))")
"""Where files are sent, which may be larger than other bodies and take longer."""

_WITHOUT_BODY: Final = frozenset({"GET", "HEAD", "OPTIONS"})


_SMALL: Final = 1 << 16
"""Bytes of a body that there is always room for: so many requests at a time cannot take much."""


class BodyGuard:
    """Reads bodies whole, so that no slow client holds a thread, and refuses those that are too large or too slow.

    The bodies of all requests share one room, so that many clients take no more memory than one. Files are worked
    on one after the other. What is too large is read to its end and thrown away, because a client that is still
    sending does not hear.
    """

    def __init__(self, app: ASGIApp, *, limits: Limits) -> None:
        self._app = app
        self._limits = limits
        self._held = 0
        self._file_turn = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in _WITHOUT_BODY:
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        is_file = _FILE.fullmatch(scope["path"]) is not None
        most = self._limits.file_bytes if is_file else self._limits.body_bytes
        seconds = self._limits.file_seconds if is_file else self._limits.body_seconds
        announced = headers.get("content-length", "")
        too_large = announced.isdecimal() and int(announced) > most
        body: bytes | Problem = _too_large(most)
        # A client that asks whether it may send hears the answer before it does.
        if not (too_large and "expect" in headers):
            try:
                async with asyncio.timeout(seconds):
                    body = await self._read(receive, most)
            except TimeoutError:
                body = _too_slow(seconds)
            except _GoneError:
                return
        if isinstance(body, Problem):
            await body.response()(scope, receive, send)
            return
        scope.setdefault("state", {})["request_bytes"] = len(body)
        try:
            await self._answer(scope, _replay(body, receive), send, is_file=is_file)
        finally:
            self._held -= len(body)

    async def _answer(self, scope: Scope, receive: Receive, send: Send, *, is_file: bool) -> None:
        if not is_file:
            await self._app(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self._limits.file_seconds):
                await self._file_turn.acquire()
        except TimeoutError:
            await _too_busy("other files have been read").response()(scope, receive, send)
            return
        try:
            await self._app(scope, receive, send)
        finally:
            self._file_turn.release()

    async def _read(self, receive: Receive, most: int) -> bytes | Problem:
        """Read a body and hold room for it; or say why not."""
        body = bytearray()
        problem: Problem | None = None
        try:
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise _GoneError
                chunk = message.get("body", b"")
                size = len(body) + len(chunk)
                if problem is None and size > most:
                    problem = _too_large(most)
                elif problem is None and size > _SMALL and self._held + len(chunk) > self._limits.waiting_bytes:
                    problem = _too_busy("the bodies of other requests take all the room that there is")
                if problem is None:
                    body += chunk
                    self._held += len(chunk)
                else:
                    self._held -= len(body)
                    body.clear()
                if not message.get("more_body", False):
                    return bytes(body) if problem is None else problem
        except BaseException:
            self._held -= len(body)
            raise


def _too_large(most: int) -> Problem:
    return Problem(
        413,
        "body_too_large",
        f"the body has more than {most:,} bytes",
        "send less at a time",
        {"Connection": "close"},
    )


def _too_busy(why: str) -> Problem:
    return Problem(503, "too_busy", why, "send it again in a while", {"Retry-After": "5", "Connection": "close"})


def _too_slow(seconds: float) -> Problem:
    return Problem(
        408,
        "body_too_slow",
        f"the body did not arrive within {seconds:g} seconds",
        "send it faster, or less at a time",
        {"Connection": "close"},
    )


class _GoneError(Exception):
    """The client closed the connection."""


def _replay(body: bytes, receive: Receive) -> Receive:
    """Make the body, which has been read, what is received next."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return messages.pop() if messages else await receive()

    return replayed
