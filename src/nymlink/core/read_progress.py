"""Progress of reading files, in bytes, where a large one takes its time and a person watches."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tqdm import tqdm

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_MOMENT: Final = 2.0
_WATCHED: Final = ContextVar("watched", default=False)


@contextlib.contextmanager
def watched_reading(*, shown: bool = True) -> Iterator[None]:
    """Within it, a bar on standard error tells how far a file is read that takes more than a moment.

    Known by the context, and not handed down, because it is files that take long, and readers that open them.

    Args:
        shown: whether the caller wants that; off in any case when standard error is not a terminal.
    """
    token = _WATCHED.set(shown)
    try:
        yield
    finally:
        _WATCHED.reset(token)


def open_raw(path: Path) -> io.FileIO:
    """Open a file for reading, watched where that is wanted.

    Raises:
        OSError: it cannot be opened.
    """
    return _WatchedFile(path) if _WATCHED.get() else io.FileIO(path)


class _WatchedFile(io.FileIO):
    def __init__(self, path: Path) -> None:
        super().__init__(path)
        size = os.fstat(self.fileno()).st_size
        # ``None`` is tqdm's "off unless this is a terminal".
        self._bar = tqdm(
            total=size, desc=path.name, unit="B", unit_scale=True, delay=_MOMENT, leave=False, disable=None
        )

    def readinto(self, buffer: WriteableBuffer, /) -> int | None:
        count = super().readinto(buffer)
        self._bar.update(count or 0)
        return count

    def close(self) -> None:
        # Also called where opening failed.
        if hasattr(self, "_bar"):
            self._bar.close()
        super().close()
