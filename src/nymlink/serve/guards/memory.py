"""A memory budget for all requests; requests that do not fit are refused before they take memory."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Final

import psutil
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nymlink.core.errors import NymlinkError
from nymlink.serve.batching import OverloadedError

_MOST: Final = 2 << 30
"""Most bytes of the default budget: Python reads large tables no faster in parallel."""
_SHARE: Final = 4
"""The default budget is the memory of the machine divided by this."""
_KEPT: Final = 8
"""A budget divided by this is reserved for small requests."""
_LITTLE: Final = 256
"""A small request takes at most the budget divided by this."""
_PIECE: Final = 1 << 18
"""Bytes of an answer sent at a time; the rest waits here for slow clients, and counts."""
_CONTAINER: Final = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


class TooLargeError(NymlinkError):
    """A request needs more memory than the whole budget."""


def usual_budget() -> int:
    """Choose a budget in bytes: a quarter of the memory of this machine or container, at most 2 GB."""
    memory: int = psutil.virtual_memory().total
    for limit in map(Path, _CONTAINER):
        # "max" without a limit.
        with suppress(OSError, ValueError):
            memory = min(memory, int(limit.read_text(encoding="ascii")))
    return min(memory // _SHARE, _MOST)


class MemoryBudget:
    """Memory that all requests share.

    Args:
        size: bytes.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._claimed = 0
        self._turn = Lock()

    @property
    def claimed(self) -> int:
        """Bytes that requests have claimed."""
        return self._claimed

    def take(self, size: int, total: int) -> None:
        """Take bytes, see :meth:`Claim.add`.

        Args:
            size: bytes.
            total: of this request, with them.
        """
        if total > self.size - self.size // _KEPT:
            raise TooLargeError("this takes more memory than the server has for all requests together")
        with self._turn:
            room = self.size if total <= self.size // _LITTLE else self.size - self.size // _KEPT
            if self._claimed + size > room:
                raise OverloadedError("other requests take the memory that the server has for all together")
            self._claimed += size

    def give_back(self, size: int) -> None:
        """Return bytes."""
        with self._turn:
            self._claimed -= size


class Claim:
    """The memory of one request, returned at the end of the block."""

    def __init__(self, budget: MemoryBudget) -> None:
        self._budget = budget
        self._total = 0

    def __enter__(self) -> Claim:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def add(self, size: int) -> None:
        """Claim bytes before they are used: the most that the next step may need.

        Raises:
            OverloadedError: other requests hold the memory.
            TooLargeError: the whole budget is too small.
        """
        self._budget.take(size, self._total + size)
        self._total += size

    def release(self) -> None:
        """Return all bytes."""
        self._budget.give_back(self._total)
        self._total = 0


def claim_of(request: Request) -> Claim:
    """The claim of a request."""
    claim: Claim = request.state.claim
    return claim


class MemoryGuard:
    """Gives each request a claim, held until its answer is sent.

    Args:
        app: the application.
        budget: budget of all requests.
    """

    def __init__(self, app: ASGIApp, *, budget: MemoryBudget) -> None:
        self._app = app
        self._budget = budget

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_in_pieces(message: Message) -> None:
            body = message.get("body", b"")
            if message["type"] != "http.response.body" or len(body) <= _PIECE:
                await send(message)
                return
            for start in range(0, len(body), _PIECE):
                more = message.get("more_body", False) or start + _PIECE < len(body)
                await send({**message, "body": body[start : start + _PIECE], "more_body": more})

        with Claim(self._budget) as claim:
            scope.setdefault("state", {})["claim"] = claim
            await self._app(scope, receive, send_in_pieces)
