"""Batches made in the background, while the one before is learned from."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

A = TypeVar("A")
B = TypeVar("B")


@contextlib.contextmanager
def prefetch(make: Callable[[A], B], arguments: Iterable[A], *, ahead: int = 2) -> Iterator[Iterator[B]]:
    """``map(make, arguments)``, made in one thread a few items ahead; an error is raised where its item would be.

    A thread suffices: tokenising and Arrow's work are done outside of Python's lock.

    Args:
        make: makes an item.
        arguments: what of, one after the other.
        ahead: how many items are made before they are asked for.
    """
    waiting: deque[Future[B]] = deque()

    def made(thread: ThreadPoolExecutor) -> Iterator[B]:
        for argument in arguments:
            waiting.append(thread.submit(make, argument))
            if len(waiting) > ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    with ThreadPoolExecutor(1, thread_name_prefix="batches") as thread:
        try:
            yield made(thread)
        finally:
            for future in waiting:
                future.cancel()
