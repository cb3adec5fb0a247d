"""Heartbeats of the processes of a training: one that is no longer heard of ends the others.

A process that dies closes its connections, which its peers notice at once. A machine that loses its power or its
network closes nothing, and its peers would wait for it as long as they wait for an evaluation: a day.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Protocol, Self

_EVERY: Final = 5.0
"""Seconds between heartbeats."""

_SILENT: Final = 45.0
"""Seconds of silence after which a process is lost; a heartbeat does not wait for what its process computes."""

_DONE: Final = "done"

LOST: Final = (
    "give the same command on every machine again: the training goes on from its last checkpoint, to the same "
    "weights"
)
"""What to do when a process was lost."""


class Store(Protocol):
    """A store that processes share, as torch has them."""

    def set(self, key: str, value: str, /) -> object: ...

    def get(self, key: str, /) -> bytes: ...

    def check(self, keys: list[str], /) -> bool: ...

    def clone(self) -> Self: ...


@contextmanager
def heartbeat(
    store: Store, rank: int, count: int, *, every: float = _EVERY, silent: float = _SILENT
) -> Iterator[None]:
    """Send heartbeats until the block ends, and end this process when another one is no longer heard of.

    Args:
        store: that all processes share.
        rank: the number of this process.
        count: the number of processes.
        every: seconds between heartbeats.
        silent: seconds of silence after which a process is lost.
    """
    stop = threading.Event()
    beats = store.clone()
    beats.set(_key(rank), "0")
    thread = threading.Thread(
        target=_beat, args=(beats, rank, count, stop, every, silent), name="heartbeat", daemon=True
    )
    thread.start()
    try:
        yield
    except BaseException:
        # No "done": whoever waits for this process learns that it is gone.
        stop.set()
        thread.join()
        raise
    stop.set()
    thread.join()
    _set(beats, rank, _DONE)


def _beat(store: Store, rank: int, count: int, stop: threading.Event, every: float, silent: float) -> None:
    started = time.monotonic()
    heard: dict[int, tuple[bytes, float]] = {other: (b"", started) for other in range(count) if other != rank}
    number = 0
    while not stop.wait(every):
        number += 1
        values = _set(store, rank, str(number)) and _values(store, heard)
        now = time.monotonic()
        # Without the store, which the first machine has, that machine is silent.
        for other, value in (values or {}).items():
            if value != heard[other][0] or value == _DONE.encode():
                heard[other] = (value, now)
        silent_ones = [other for other, (_, last) in heard.items() if now - last > silent]
        if silent_ones and not stop.is_set():
            _end(silent_ones[0] if values else 0, silent)


def _set(store: Store, rank: int, value: str) -> bool:
    try:
        store.set(_key(rank), value)
    except RuntimeError:
        return False
    return True


def _values(store: Store, ranks: dict[int, tuple[bytes, float]]) -> dict[int, bytes]:
    try:
        return {rank: store.get(_key(rank)) for rank in ranks if store.check([_key(rank)])}
    except RuntimeError:
        return {}


def _end(rank: int, silent: float) -> None:
    """End this process, whose main thread may wait where nothing reaches it."""
    print(
        f"Error: process {rank} of this training has not been heard of for {silent:.0f} seconds: its machine, or "
        f"the network to it, is down; {LOST}",
        file=sys.stderr,
        flush=True,
    )
    os._exit(2)


def _key(rank: int) -> str:
    return f"nymlink/heartbeat/{rank}"
