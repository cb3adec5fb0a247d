"""Make places with little room: a small disk in memory, or, where none can be mounted, small files."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_LARGE: Final = 256 << 20
_PAGE: Final = 4096


class SmallDisk:
    """A disk in memory (tmpfs) that can be made larger and smaller.

    Args:
        folder: where it is mounted.
    """

    kind: Final = "disk in memory"
    largest_file: Final[int | None] = None

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._before = 0

    def _used(self) -> int:
        state = os.statvfs(self._folder)
        return (state.f_blocks - state.f_bfree) * state.f_frsize

    def _resize(self, size: int) -> None:
        subprocess.run(["mount", "-o", f"remount,size={size}", str(self._folder)], check=True)

    def begin(self) -> None:
        """Begin to count what is written."""
        self._before = self._used()

    def written(self) -> int:
        """Count the bytes that were written."""
        return self._used() - self._before

    def restrict(self, size: int) -> None:
        """Leave room for so many bytes more."""
        self._resize((self._used() + size) // _PAGE * _PAGE or _PAGE)

    def free(self) -> None:
        """Leave room for all."""
        self._resize(_LARGE)


class SmallFiles:
    """A limit on the size of each file, as a process without rights may set for itself.

    Args:
        folder: where is written.
    """

    kind: Final = "limit on the size of files"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.largest_file: int | None = None

    def begin(self) -> None:
        """Begin to count what is written: nothing has to be remembered."""

    def written(self) -> int:
        """Measure the bytes of the largest file."""
        return max((path.stat().st_size for path in self._folder.rglob("*") if path.is_file()), default=0)

    def restrict(self, size: int) -> None:
        """Let a file have so many bytes, and messages in any case."""
        self.largest_file = max(size, _PAGE)

    def free(self) -> None:
        """Let files have any size."""
        self.largest_file = None


@contextmanager
def little_room(folder: Path) -> Iterator[SmallDisk | SmallFiles]:
    """Mount a disk in memory until the block ends, or limit files where that cannot be done."""
    folder.mkdir(parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={_LARGE}", "nymlink-campaign", str(folder)]
    try:
        is_mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        is_mounted = False
    if not is_mounted:
        yield SmallFiles(folder)
        return
    try:
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)
