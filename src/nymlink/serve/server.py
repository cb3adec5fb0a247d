"""Run the application: bind a port, listen, and answer accepted requests before it ends."""

from __future__ import annotations

import asyncio
import errno
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import Any, Final

import psutil
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from nymlink.core.errors import OutputError
from nymlink.serve.reloading import Reloading
from nymlink.serve.serve_settings import Limits

_GRACE: Final = 30
"""Seconds to finish accepted requests after a request to stop."""

_IDLE: Final = 30
"""Seconds to keep an idle connection open."""

_BACKLOG: Final = 1024

_SWITCH: Final = 0.0005
"""Seconds after which Python switches threads: at the usual 5 ms, 50 busy threads delay others by 25 s."""


def take_port(host: str, port: int) -> socket.socket:
    """Bind a port, before anything is loaded.

    Args:
        host: name or address of this machine.
        port: the port; 0 for any free one.

    Raises:
        OutputError: the port is in use, or not permitted; the message says what to do.
    """
    try:
        [(family, kind, protocol, _, address), *_] = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        taken = socket.socket(family, kind, protocol)
    except OSError as error:
        raise OutputError(f"{host} is no address of this machine ({error.strerror}): see --host") from error
    try:
        # On Windows it would let two servers have the same port.
        if hasattr(socket, "SO_EXCLUSIVEADDRUSE"):
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(address)
        # Listen now: another server would otherwise notice the conflict only after it has loaded everything.
        taken.listen(_BACKLOG)
    except OSError as error:
        taken.close()
        raise OutputError(f"{host}:{port}: {_reason(error)}") from error
    return taken


def _reason(error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return "the port is taken, perhaps by another nymlink serve: stop that, or choose another with --port"
    if error.errno == errno.EACCES:
        return "the port is not yours to take: choose one above 1023 with --port"
    return f"the port cannot be taken ({error.strerror}): see --host and --port"


def run(app: FastAPI, taken: socket.socket, *, limits: Limits, ready: Callable[[], None]) -> None:
    """Answer requests until the process is told to stop (Ctrl-C, SIGTERM), then those already accepted.

    SIGHUP, on systems that have it, reloads tokens and indexes.

    Args:
        app: the application, of :func:`~nymlink.serve.app.create_app`.
        taken: socket to listen on.
        limits: limits of requests.
        ready: called when the server answers requests and all indexes are open.

    Raises:
        NymlinkError: an index cannot be opened.
    """
    config = uvicorn.Config(
        app,
        http=_guarded(limits),
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=_IDLE,
        timeout_graceful_shutdown=_GRACE,
        backlog=_BACKLOG,
        ws="none",
    )
    allow_many_connections()
    sys.setswitchinterval(_SWITCH)
    reloading: Reloading = app.state.reloading
    server = _Server(config, reloading.opened, ready)
    with _signals_are_heard(reloading.reload_soon):
        server.run(sockets=[taken])
    if server.failure is not None:
        raise server.failure


def allow_many_connections() -> None:
    """Raise the limit of open files to its maximum: at the usual 1,024, idle clients could block others."""
    # Linux and FreeBSD: elsewhere psutil cannot, and the limit does not change.
    if hasattr(psutil.Process, "rlimit"):
        process = psutil.Process()
        _, most = process.rlimit(psutil.RLIMIT_NOFILE)
        with suppress(OSError, ValueError):
            process.rlimit(psutil.RLIMIT_NOFILE, (most, most))


@contextmanager
def _signals_are_heard(reload: Callable[[], None]) -> Iterator[None]:
    """Reload at SIGHUP; ignore the signal that ended the server when uvicorn raises it again."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    actions: dict[int, Callable[[], object]] = {signal.SIGINT: lambda: None, signal.SIGTERM: lambda: None}
    # Windows has no such signal.
    if (hang_up := getattr(signal, "SIGHUP", None)) is not None:
        actions[hang_up] = reload
    before = {number: signal.signal(number, lambda *_, act=act: act()) for number, act in actions.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Server(uvicorn.Server):
    """A server that reports when its indexes are open, and ends if one cannot be opened."""

    def __init__(self, config: uvicorn.Config, opened: Future[None], ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._opened = opened
        self._ready = ready
        self.failure: BaseException | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._opened.add_done_callback(self._note)

    def _note(self, opened: Future[None]) -> None:
        self.failure = opened.exception()
        if self.failure is None:
            self._ready()
        else:
            self.should_exit = True


def _guarded(limits: Limits) -> type[Any]:
    """Make a protocol that closes connections of clients that are too slow.

    Uvicorn has no time limit for the headers of a request, nor for a client to take its answer. A client that
    sends one byte a minute ("slow loris") would keep a connection; a client that takes no answer would also keep
    its memory.
    """

    class Guarded(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
        _deadline: asyncio.TimerHandle | None = None
        _taking: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._wait_for_headers()

        def data_received(self, data: bytes) -> None:
            answering = self._is_answering()
            if not answering and self._deadline is None:
                self._wait_for_headers()
            super().data_received(data)
            if self._is_answering() and self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

        def connection_lost(self, exc: Exception | None) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
            if self._taking is not None:
                self._taking.cancel()
            super().connection_lost(exc)

        def pause_writing(self) -> None:
            super().pause_writing()
            loop = asyncio.get_running_loop()
            self._taking = loop.call_later(limits.taking_seconds, self.transport.abort)

        def resume_writing(self) -> None:
            super().resume_writing()
            if self._taking is not None:
                self._taking.cancel()
                self._taking = None

        def _wait_for_headers(self) -> None:
            self._deadline = asyncio.get_running_loop().call_later(limits.body_seconds, self._close)

        def _is_answering(self) -> bool:
            return self.cycle is not None and not self.cycle.response_complete

        def _close(self) -> None:
            self._deadline = None
            if not self._is_answering():
                self.transport.close()

    return Guarded
