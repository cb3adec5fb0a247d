"""Stopping on SIGINT and SIGTERM: a step is finished first; work that changes no weights is stopped at once."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Final

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class StopNowError(Exception):
    """A stop was requested within :meth:`StopRequest.stops_at_once`."""


class StopRequest:
    """Whether a stop was requested.

    Attributes:
        requested: whether it was.
    """

    requested = False
    _at_once = False

    def request(self) -> None:
        """Record that a stop is requested.

        Raises:
            StopNowError: within :meth:`stops_at_once`.
        """
        self.requested = True
        if self._at_once:
            raise StopNowError

    @contextlib.contextmanager
    def stops_at_once(self) -> Iterator[None]:
        """Raise as soon as a stop is requested, until the block ends.

        Raises:
            StopNowError: a stop was requested.
        """
        self._at_once = True
        try:
            yield
        finally:
            self._at_once = False


@contextlib.contextmanager
def catch_interrupts() -> Iterator[StopRequest]:
    """Turn the first SIGINT or SIGTERM into a stop request until the block ends; a second one acts as usual.

    Outside of the main thread, where Python allows no signal handlers, signals act as usual.
    """
    stop = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}

    def handle(number: int, _: FrameType | None) -> None:
        signal.signal(number, before[signal.Signals(number)])
        stop.request()

    for number in _SIGNALS:
        signal.signal(number, handle)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
