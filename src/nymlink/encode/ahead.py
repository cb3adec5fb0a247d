"""Doing the next piece of work in the background while the last one is used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Made = TypeVar("Made")


def one_ahead(make: Callable[[Item], Made], items: Iterable[Item]) -> Iterator[Made]:
    """Yield ``make(item)`` of every item in order, each made in a thread while the one before is used."""
    with ThreadPoolExecutor(1) as thread:
        last: Future[Made] | None = None
        for item in items:
            begun = thread.submit(make, item)
            if last is not None:
                yield last.result()
            last = begun
        if last is not None:
            yield last.result()
