"""Being told to stop: the step at hand is finished first."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Final

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class Stop:
    """Whether somebody asked to stop."""

    requested = False


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
        stop.requested = True
        signal.signal(number, before[signal.Signals(number)])

    for number in _SIGNALS:
        signal.signal(number, note)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
