"""Progress bars on standard error, shown only on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from tqdm import tqdm

T = TypeVar("T")


def track(work: Iterable[T], label: str, *, total: int | None = None, shown: bool = True) -> Iterator[T]:
    """Iterate over ``work`` with a progress bar.

    Args:
        work: the items.
        label: what the bar is called.
        total: the number of items, where ``work`` has no length.
        shown: whether to show the bar if standard error is a terminal.
    """
    # For tqdm ``None`` means: disabled unless standard error is a terminal.
    yield from tqdm(work, label, total=total, disable=None if shown else True, leave=False)
