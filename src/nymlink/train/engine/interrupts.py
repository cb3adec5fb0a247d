"""Being told to stop: a step is finished first, what changes nothing is broken off."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Final

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class BrokenOffError(Exception):
    """Somebody asked to stop."""


class Stop:
    """Whether somebody asked to stop."""

    requested = False
    _at_once = False

    def note(self) -> None:
        """Somebody asks."""
        self.requested = True
        if self._at_once:
            raise BrokenOffError

    @contextlib.contextmanager
    def breaks_off(self) -> Iterator[None]:
        """Within it, being asked is an error.

        Raises:
            BrokenOffError: somebody asked.
        """
        self._at_once = True
        try:
            yield
        finally:
            self._at_once = False


@contextlib.contextmanager
def noticed_interrupts() -> Iterator[Stop]:
    """Within it, the first SIGINT or SIGTERM is noted and a second one does what it always does.

    Outside of the main thread, where Python allows no handlers, nothing is noted.
    """
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}

    def note(number: int, _: FrameType | None) -> None:
        signal.signal(number, before[signal.Signals(number)])
        stop.note()

    for number in _SIGNALS:
        signal.signal(number, note)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
