"""Lock a folder or a file that is written over a long time against a second writer."""

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
    with output_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder / LOCK, folder, f"another {writer} is writing to this folder"):
        yield


@contextmanager
def locked_file(file: Path, writer: str, *, wait: float = 0) -> Iterator[None]:
    """Lock a file or a folder in a folder that there is, until the block ends.

    Args:
        file: the file, which need not be there.
        writer: what writes it, for the message.
        wait: seconds to wait for another writer.

    Raises:
        OutputError: another one has the lock.
    """
    with _locked(file.with_name(f".{file.name}{LOCK}"), file, f"another {writer} is writing this", wait):
        yield


@contextmanager
def _locked(path: Path, target: Path, taken: str, wait: float = 0) -> Iterator[None]:
    lock = FileLock(path)
    try:
        lock.acquire(timeout=wait)
    except Timeout as error:
        raise OutputError(f"{taken}: wait until it ends, or choose another output", path=target) from error
    except OSError:
        pass  # The file system has no locks: go on without one.
    try:
        yield
    finally:
        with suppress(OSError):
            # On Windows a locked file cannot be removed; filelock removes it there when it is released.
            path.unlink()
        lock.release()
