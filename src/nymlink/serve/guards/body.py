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


class BodyGuard:
    """Reads bodies whole, so that no slow client holds a thread, and refuses those that are too large or too slow.

    What is too large is read to its end and thrown away, because a client that is still sending does not hear.
    """

    def __init__(self, app: ASGIApp, *, limits: Limits) -> None:
        self._app = app
        self._limits = limits

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
        body: bytes | None = None
        # A client that asks whether it may send hears the answer before it does.
        if not (too_large and "expect" in headers):
            try:
                async with asyncio.timeout(seconds):
                    body = await _read(receive, most)
            except TimeoutError:
                await _too_slow(seconds).response()(scope, receive, send)
                return
            except _GoneError:
                return
        if body is None:
            await _too_large(most).response()(scope, receive, send)
            return
        scope.setdefault("state", {})["request_bytes"] = len(body)
        await self._app(scope, _replay(body, receive), send)


async def _read(receive: Receive, most: int) -> bytes | None:
    """Read a body; ``None`` for one that is too large."""
    body: bytearray | None = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _GoneError
        chunk = message.get("body", b"")
        if body is not None and len(body) + len(chunk) > most:
            body = None
        if body is not None:
            body += chunk
        if not message.get("more_body", False):
            return None if body is None else bytes(body)


def _too_large(most: int) -> Problem:
    return Problem(
        413,
        "body_too_large",
        f"the body has more than {most:,} bytes",
        "send less at a time",
        {"Connection": "close"},
    )


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
