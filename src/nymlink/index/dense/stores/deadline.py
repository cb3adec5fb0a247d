"""A time limit for what waits on a socket."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Timer


@contextmanager
def deadline(descriptor: int, seconds: float) -> Iterator[Event]:
    """Shut a socket down when the block has not ended in time: whoever waits on it gets an error.

    A server that was stopped, or a network that swallows everything, answers no request to cancel.

    Args:
        descriptor: of the socket.
        seconds: how long the block may take.

    Yields:
        An event that is set where time was up.
    """
    expired = Event()

    def shut() -> None:
        expired.set()
        # The family of sockets makes no difference to shutting down.
        with suppress(OSError), socket.fromfd(descriptor, socket.AF_INET, socket.SOCK_STREAM) as copy:
            copy.shutdown(socket.SHUT_RDWR)

    timer = Timer(seconds, shut)
    timer.daemon = True
    timer.start()
    try:
        yield expired
    finally:
        timer.cancel()
