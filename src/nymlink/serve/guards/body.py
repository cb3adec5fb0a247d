"""Read the whole body of a request, within limits of size, time and memory, before it is processed."""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nymlink.core.errors import NymlinkError
from nymlink.serve.errors import ProblemAnswer, problem_of
from nymlink.serve.guards.memory import Claim
from nymlink.serve.serve_settings import API, Limits

_FILE: Final = re.compile(rf"(?:{API})?/projects/(?:preview|[^/]+/(?:files|import))")
"""Paths that accept files, whose bodies may be larger and slower than others."""

_COPIES: Final = 2
"""Copies of a body in memory while it is read."""

_PARSED: Final = 32
"""Most bytes of Python values per byte of JSON: ``{"":0}`` and the like."""

_LARGE: Final = 4096
"""Bytes of body and query from which a request counts as large."""

_LARGE_AT_ONCE: Final = 2
"""Number of large requests at the same time; small ones are answered between them."""

_WITHOUT_BODY: Final = frozenset({"GET", "HEAD", "OPTIONS"})


class BodyGuard:
    """Reads bodies whole, so that no slow client holds a thread.

    It refuses bodies that are too large or too slow, or for which there is no memory now. A refused body is read
    to its end and discarded, because clients read no answer while they send. Files are processed one after the
    other, which is as fast as two at once in Python and takes less memory.
    """

    def __init__(self, app: ASGIApp, *, limits: Limits) -> None:
        self._app = app
        self._limits = limits
        self._file_turn = asyncio.Semaphore(1)
        self._large_turn = asyncio.Semaphore(_LARGE_AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_large = scope["type"] == "http" and len(scope["query_string"]) > _LARGE
        if scope["type"] != "http" or (scope["method"] in _WITHOUT_BODY and not is_large):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        is_file = _FILE.fullmatch(scope["path"]) is not None
        most = self._limits.file_bytes if is_file else self._limits.body_bytes
        seconds = self._limits.file_seconds if is_file else self._limits.body_seconds
        announced = headers.get("content-length", "")
        claim: Claim = scope["state"]["claim"]
        # A client that sends Expect: 100-continue gets the refusal before it sends the body.
        if announced.isdecimal() and int(announced[:20]) > most and "expect" in headers:
            await _too_large(most).response()(scope, receive, send)
            return
        try:
            async with asyncio.timeout(seconds):
                body = await _read(receive, most, claim, parsed=0 if is_file else _PARSED)
        except TimeoutError:
            await _too_slow(seconds).response()(scope, receive, send)
            return
        except _GoneError:
            return
        if isinstance(body, ProblemAnswer):
            await body.response()(scope, receive, send)
            return
        scope.setdefault("state", {})["request_bytes"] = len(body)
        if is_file or is_large or len(body) > _LARGE:
            await self._in_turn(scope, body, receive, send, is_file=is_file)
        else:
            await self._answer(scope, body, receive, send)

    async def _in_turn(
        self, scope: Scope, body: bytes, receive: Receive, send: Send, *, is_file: bool = False
    ) -> None:
        """Answer in turn; the turn ends before the answer is sent, because clients may be slow."""
        turn = self._file_turn if is_file else self._large_turn
        seconds = self._limits.file_seconds if is_file else self._limits.answer_seconds
        try:
            async with asyncio.timeout(seconds):
                await turn.acquire()
        except TimeoutError:
            await _others_before(seconds).response()(scope, receive, send)
            return
        has_turn = True

        def end_turn() -> None:
            nonlocal has_turn
            if has_turn:
                has_turn = False
                turn.release()

        async def send_after(message: Message) -> None:
            end_turn()
            await send(message)

        try:
            await self._answer(scope, body, receive, send_after)
        finally:
            end_turn()

    async def _answer(self, scope: Scope, body: bytes, receive: Receive, send: Send) -> None:
        """Answer; stop if the client disconnects, so that its request delays no others."""
        answering = asyncio.ensure_future(self._app(scope, _replay(body), send))
        # After the body nothing comes but the end of the connection.
        gone = asyncio.ensure_future(receive())
        try:
            await asyncio.wait((answering, gone), return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():
                answering.cancel()
            with suppress(asyncio.CancelledError):
                await answering
        finally:
            gone.cancel()
            answering.cancel()


async def _read(receive: Receive, most: int, claim: Claim, *, parsed: int) -> bytes | ProblemAnswer:
    """Read a body to its end, refused or not.

    Args:
        receive: receives its parts.
        most: most bytes.
        claim: claim on memory, which grows with the bytes that arrive rather than with the announced length.
        parsed: bytes of memory for each byte of the body when it is parsed.
    """
    body = bytearray()
    refused: ProblemAnswer | None = None
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _GoneError
        chunk, more = message.get("body", b""), message.get("more_body", False)
        if refused is None and len(body) + len(chunk) > most:
            refused = _too_large(most)
        if refused is None:
            try:
                claim.add(_COPIES * len(chunk) + (0 if more else parsed * (len(body) + len(chunk))))
                body += chunk
            except NymlinkError as error:
                refused = problem_of(error)
        if refused is not None:
            body.clear()
            claim.release()
        if not more:
            return bytes(body) if refused is None else refused


def _too_large(most: int) -> ProblemAnswer:
    return ProblemAnswer(
        413,
        "body_too_large",
        f"the body has more than {most:,} bytes",
        "send less at a time",
        {"Connection": "close"},
    )


def _too_slow(seconds: float) -> ProblemAnswer:
    return ProblemAnswer(
        408,
        "body_too_slow",
        f"the body did not arrive within {seconds:g} seconds",
        "send it faster, or less at a time",
        {"Connection": "close"},
    )


def _others_before(seconds: float) -> ProblemAnswer:
    return ProblemAnswer(
        503,
        "too_busy",
        f"large requests of others took more than {seconds:g} seconds",
        "send it again in a while",
        {"Retry-After": "5"},
    )


class _GoneError(Exception):
    """The client closed the connection."""


def _replay(body: bytes) -> Receive:
    """Make a receive function that returns the body already read, and then nothing more."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        if not messages:
            await asyncio.Future()
        return messages.pop()

    return replayed
