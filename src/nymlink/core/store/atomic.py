"""Write files and folders completely or not at all, by one writer at a time.

A file is replaced in one step. A directory takes two renames: the old directory is moved aside, then the new one
takes its place. Between the two renames, a reader may find no directory, or may open both old and new files. The
reader should then try again.
"""

from __future__ import annotations

import contextlib
import errno
import os
import platform
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import psutil
from filelock import FileLock, Timeout

from nymlink.core.errors import OutputError

_IN_USE: Final = frozenset({5, 32})
"""Windows' error codes for renaming or replacing an open file: access denied, sharing violation."""

_LEFTOVER: Final = re.compile(r"\..+\.\d+-[0-9a-f]+@.*\.(partial|retired)")


@contextlib.contextmanager
def atomic_directory(target: Path) -> Iterator[Path]:
    """Yield a temporary directory. It becomes ``target`` if the block succeeds; otherwise it is removed.

    An existing ``target`` is replaced as a whole. If ``target`` is a link, the directory it leads to is replaced.
    The temporary directory is in the same folder, and its name is unique to this process and call. If a process is
    killed, the next call removes what it left behind.

    Raises:
        OutputError: the directory cannot be written; the message gives the reason (for example a full disk).
    """
    with output_errors(target):
        target = Path(os.path.realpath(target))
        target.parent.mkdir(parents=True, exist_ok=True)
        _clear_abandoned(target)
        partial = _temporary_path(target)
        partial.mkdir()
        try:
            yield partial
            _replace_directory(partial, target)
        except OutputError as error:
            if error.path is not None and Path(error.path).is_relative_to(partial):
                # The error may name a file in the temporary directory, whose name the user does not know.
                raise OutputError(error.message, path=target) from error
            raise
        finally:
            _remove(partial)


@contextlib.contextmanager
def atomic_file(target: Path, *, sweep: bool = False) -> Iterator[Path]:
    """Yield a temporary path. The file there becomes ``target`` if the block succeeds; otherwise it is removed.

    A link is followed. A device or a pipe (``/dev/null``) is written to directly, never replaced.

    Args:
        target: the file.
        sweep: whether to remove temporary files of all files in the folder that killed processes left behind. This
            is needed if every file has a new name.

    Raises:
        OutputError: the file cannot be written.
    """
    with output_errors(target):
        if target.exists() and not target.is_file() and not target.is_dir():
            yield target
            return
        target = Path(os.path.realpath(target))
        _clear_abandoned(target, sweep=sweep)
        partial = _temporary_path(target)
        try:
            yield partial
            os.replace(partial, target)
        finally:
            _remove(partial)


@contextlib.contextmanager
def output_errors(target: Path) -> Iterator[None]:
    """Turn errors of the operating system during writing of ``target`` into :class:`OutputError`."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            # NumPy's error says only how many values were not written.
            reason = f"{error} (the disk may be full)"
        elif error.errno == errno.ENOSPC:
            reason = "no space left on the disk: free some and run again"
        elif getattr(error, "winerror", None) in _IN_USE:
            reason = (
                "a program probably has one of its files open, and Windows then allows no change (a program that "
                "loaded an index or a vocabulary has all its files open): close it, or choose another place"
            )
        else:
            reason = os.strerror(error.errno)
        raise OutputError(f"cannot write: {reason}; nothing was changed", path=target) from error


def is_leftover(name: str) -> bool:
    """Whether a name belongs to a temporary file or directory of a nymlink process, running or killed."""
    return _LEFTOVER.fullmatch(name) is not None


def _temporary_path(target: Path, ending: str = "partial") -> Path:
    """Return a new hidden path in the same folder.

    It contains the process id, and the host too, because containers reuse process ids.
    """
    own = f"{os.getpid()}-{secrets.token_hex(4)}@{platform.node()}"
    return target.parent / f".{target.name}.{own}.{ending}"


def _replace_directory(partial: Path, target: Path) -> None:
    retired = _temporary_path(target, "retired")
    try:
        _exchange(partial, target, retired)
    except BaseException:
        # Do this even on Ctrl-C between the two renames, so that readers are not left without a directory.
        _restore_or_remove(retired, target)
        raise
    _remove(retired)


def _exchange(partial: Path, target: Path, retired: Path) -> None:
    while True:
        with contextlib.suppress(FileNotFoundError):
            target.rename(retired)
        try:
            partial.rename(target)
            return
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        # Another writer put the same directory there between the two renames. Try again, to replace its result.
        _remove(retired)


def _restore_or_remove(retired: Path, target: Path) -> None:
    """Rename ``retired`` back to ``target`` if nothing is there. Otherwise remove ``retired``."""
    if target.exists():
        _remove(retired)
    else:
        with contextlib.suppress(OSError):
            retired.rename(target)


def _clear_abandoned(target: Path, *, sweep: bool = False) -> None:
    """Remove temporary files of killed processes of this host, and restore directories that they moved aside."""
    name, host = ".+" if sweep else re.escape(target.name), re.escape(platform.node())
    own = rf"(\d+)-[0-9a-f]+@{host}"
    # A directory may be written within the temporary directory of another directory.
    pattern = re.compile(rf"\.({name}|(\.{name}\.{own}\.partial))\.{own}\.(partial|retired)")
    for path in target.parent.iterdir():
        match = pattern.fullmatch(path.name)
        if match is None or _alive(int(match[4])):
            continue
        if match[5] == "retired" and match[2] is None:
            _restore_or_remove(path, target.with_name(match[1]))
        else:
            _remove(path)


def _remove(path: Path) -> None:
    """Remove a file or a directory as far as possible. Errors are ignored."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()


def _alive(process: int) -> bool:
    try:
        return bool(psutil.pid_exists(process))
    except OverflowError:
        # The process id is not valid on this host, so the file belongs to another host.
        return True


LOCK: Final = ".lock"
"""Name of the lock file. A killed process leaves the file behind, but not the lock."""


@contextmanager
def locked_folder(folder: Path, writer: str) -> Iterator[None]:
    """Make a folder, and lock it until the block ends or the process dies.

    Args:
        folder: the folder.
        writer: noun for the message, for example ``"training"``.

    Raises:
        OutputError: another process has the lock, or the folder cannot be made.
    """
    with output_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder / LOCK, folder, f"another {writer} is writing to this folder"):
        yield


@contextmanager
def locked_file(file: Path, writer: str, *, wait: float = 0) -> Iterator[None]:
    """Lock a file or a folder in an existing folder, until the block ends.

    Args:
        file: the file; it may be missing.
        writer: noun for the message.
        wait: seconds to wait for another writer.

    Raises:
        OutputError: another process has the lock.
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
            # On Windows, a locked file cannot be removed. There, filelock removes it when the lock is released.
            path.unlink()
        lock.release()
