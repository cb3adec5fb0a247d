"""Doing the next pieces of work in the background while the last one is used."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, islice
from typing import TypeVar

Item = TypeVar("Item")
Made = TypeVar("Made")


def made_ahead(make: Callable[[Item], Made], items: Iterable[Item], *, ahead: int = 1) -> Iterator[Made]:
    """``map(make, items)``, made in a thread a few items ahead; an error is raised where its item would be.

    A thread suffices: tokenising and Arrow's work are done outside of Python's lock. Closed early, it ends. For a
    single item there is none: to start it can take longer than the work.

    Args:
        make: makes an item.
        items: what of, one after the other.
        ahead: how many items are made before they are asked for.
    """
    items = iter(items)
    # Two, as by the first alone nothing says whether there are more.
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
