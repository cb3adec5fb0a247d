"""Progress bars for reading large files, in bytes."""

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

_DELAY: Final = 2.0
"""Seconds of reading after which the bar appears."""
_SHOWN: Final = ContextVar("shown", default=False)


@contextlib.contextmanager
def show_read_progress(*, shown: bool = True) -> Iterator[None]:
    """Show a progress bar for each file read within the block that takes more than two seconds.

    The setting is a context variable, because files are opened deep inside the readers.

    Args:
        shown: whether to show bars if standard error is a terminal.
    """
    token = _SHOWN.set(shown)
    try:
        yield
    finally:
        _SHOWN.reset(token)


def open_raw(path: Path) -> io.FileIO:
    """Open a file for unbuffered reading, with a progress bar within :func:`show_read_progress`.

    Raises:
        OSError: it cannot be opened.
    """
    return _ProgressFile(path) if _SHOWN.get() else io.FileIO(path)


class _ProgressFile(io.FileIO):
    def __init__(self, path: Path) -> None:
        super().__init__(path)
        size = os.fstat(self.fileno()).st_size
        # For tqdm ``disable=None`` means: disabled unless standard error is a terminal.
        self._bar = tqdm(
            total=size, desc=path.name, unit="B", unit_scale=True, delay=_DELAY, leave=False, disable=None
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
