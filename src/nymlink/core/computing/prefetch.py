"""Compute the next items in the background while the caller uses the current one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, islice
from typing import TypeVar

Item = TypeVar("Item")
Made = TypeVar("Made")


def prefetch(make: Callable[[Item], Made], items: Iterable[Item], *, ahead: int = 1) -> Iterator[Made]:
    """Yield ``map(make, items)``, computed in a thread a few items ahead.

    An error is raised when the item it belongs to is requested; closing the iterator ends the thread. One thread
    is enough: tokenizers and Arrow release Python's lock. A single item is computed without a thread, which could
    take longer to start than the work takes.

    Args:
        make: computes an item.
        items: its inputs.
        ahead: how many items are computed before they are requested.
    """
    items = iter(items)
    # Two items, because the first alone does not tell whether there are more.
    first = list(islice(items, 2))
    if len(first) < 2:
        yield from map(make, first)
        return
    waiting: deque[Future[Made]] = deque()
    with ThreadPoolExecutor(1, thread_name_prefix="ahead") as thread:
        try:
            for item in chain(first, items):
                waiting.append(thread.submit(make, item))
                if len(waiting) > ahead:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
