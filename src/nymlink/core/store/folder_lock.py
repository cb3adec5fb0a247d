"""Lock a folder that is written over a long time against a second writer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from nymlink.core.errors import OutputError
from nymlink.core.store.atomic import output_errors

LOCK: Final = ".lock"
"""The lock file; a killed process leaves the file behind, but not the lock."""


@contextmanager
def locked_folder(folder: Path, writer: str) -> Iterator[None]:
    """Make a folder, and lock it until the block ends or the process dies.

    Args:
        folder: the folder.
        writer: what writes to it, for the message: ``"training"``.

    Raises:
        OutputError: another one has the lock, or the folder cannot be made.
    """
    lock = FileLock(folder / LOCK)
    with output_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    try:
        lock.acquire(blocking=False)
    except Timeout as error:
        raise OutputError(
            f"another {writer} is writing to this folder: wait until it ends, or choose another output",
            path=folder,
        ) from error
    except OSError:
        pass  # The file system has no locks: go on without one.
    try:
        yield
    finally:
        with suppress(OSError):
            # On Windows a locked file cannot be removed; filelock removes it there when it is released.
            (folder / LOCK).unlink()
        lock.release()
