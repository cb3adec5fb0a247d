"""Progress of long work, on standard error, only where a person watches it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from tqdm import tqdm

T = TypeVar("T")


def track(work: Iterable[T], label: str, *, total: int | None = None, shown: bool = True) -> Iterator[T]:
    """Go through ``work`` with a progress bar.

    Args:
        work: what is gone through.
        label: what is being done.
        total: how much work there is, where ``work`` has no length.
        shown: whether the caller wants progress at all; off in any case when standard error is not a terminal.
    """
    # ``None`` is tqdm's "off unless this is a terminal".
    yield from tqdm(work, label, total=total, disable=None if shown else True, leave=False)
