"""Writing files and directories so that nothing half-made is ever seen.

A file is replaced in one step. A directory takes two, the old one aside and the new one in its place: between them
a reader may for an instant meet no directory at all, and one that opens file after file may meet the old and the
new. Trying again a moment later helps with both.
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
from pathlib import Path
from typing import Final

import psutil

from nymlink.core.errors import OutputError

_IN_USE: Final = frozenset({5, 32})
"""Windows' errors where it does not rename or replace what is open: access denied, sharing violation."""

_LEFTOVER: Final = re.compile(r"\..+\.\d+-[0-9a-f]+@.*\.(partial|retired)")


@contextlib.contextmanager
def atomic_directory(target: Path) -> Iterator[Path]:
    """Fill a temporary directory that becomes ``target`` when the block ends well, and vanishes otherwise.

    An existing ``target`` is replaced as a whole; where it is a link, what it points to. The temporary directory
    lies beside it, under a name of this process and this build, so that two builds at once, in threads too, do not
    meet and what a killed process left is cleared by the next build.

    Raises:
        OutputError: the directory cannot be written; the message says why (for example a full disk).
    """
    with output_errors(target):
        target = Path(os.path.realpath(target))
        target.parent.mkdir(parents=True, exist_ok=True)
        _clear_abandoned(target)
        partial = _beside(target)
        partial.mkdir()
        try:
            yield partial
            _replace_directory(partial, target)
        finally:
            _remove(partial)


@contextlib.contextmanager
def atomic_file(target: Path, *, sweep: bool = False) -> Iterator[Path]:
    """A temporary path that becomes ``target`` when the block ends well, and vanishes otherwise.

    Where ``target`` is a link, what it points to is replaced. A device or a pipe (``/dev/null``) is never
    replaced: it is written to as it is.

    Args:
        target: the file.
        sweep: clear what killed processes left of any other file in its folder, too: for files of which each has
            a new name, so that none would ever find what was left of another.

    Raises:
        OutputError: the file cannot be written.
    """
    with output_errors(target):
        if target.exists() and not target.is_file() and not target.is_dir():
            yield target
            return
        target = Path(os.path.realpath(target))
        _clear_abandoned(target, sweep=sweep)
        partial = _beside(target)
        try:
            yield partial
            os.replace(partial, target)
        finally:
            _remove(partial)


@contextlib.contextmanager
def output_errors(target: Path) -> Iterator[None]:
    """Turn errors of the operating system while ``target`` is written into :class:`OutputError`."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            # NumPy says only how many values it could not write.
            reason = f"{error} (the disk may be full)"
        elif error.errno == errno.ENOSPC:
            reason = "no space left on the disk: free some and run again"
        elif getattr(error, "winerror", None) in _IN_USE:
            reason = (
                "Windows denies it, as it does while a program has a file of it open (who loaded an index or a "
                "vocabulary has all of its files open): close that program, or choose another place"
            )
        else:
            reason = os.strerror(error.errno)
        raise OutputError(f"cannot write: {reason}; nothing was changed", path=target) from error


def is_leftover(name: str) -> bool:
    """Whether a file or a directory of that name is a temporary one of a process of nymlink's, maybe killed."""
    return _LEFTOVER.fullmatch(name) is not None


def _beside(target: Path, ending: str = "partial") -> Path:
    """A new hidden path of this process. The host is in it because containers share folders and reuse ids."""
    own = f"{os.getpid()}-{secrets.token_hex(4)}@{platform.node()}"
    return target.parent / f".{target.name}.{own}.{ending}"


def _replace_directory(partial: Path, target: Path) -> None:
    retired = _beside(target, "retired")
    try:
        _exchange(partial, target, retired)
    except BaseException:
        # Ctrl-C between the two renamings, too: readers must not be left without a directory.
        _settle(retired, target)
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
        # Another build of the same directory ended between the two renamings: this one replaces it.
        _remove(retired)


def _settle(retired: Path, target: Path) -> None:
    """Put back what was put aside if nothing has taken its place, and remove it otherwise."""
    if target.exists():
        _remove(retired)
    else:
        with contextlib.suppress(OSError):
            retired.rename(target)


def _clear_abandoned(target: Path, *, sweep: bool = False) -> None:
    """Remove what killed processes of this host left, but put back what they had not yet replaced."""
    name, host = ".+" if sweep else re.escape(target.name), re.escape(platform.node())
    ours = re.compile(rf"\.({name})\.(\d+)-[0-9a-f]+@{host}\.(partial|retired)")
    for left in target.parent.iterdir():
        found = ours.fullmatch(left.name)
        if found is None or _alive(int(found[2])):
            continue
        if found[3] == "retired":
            _settle(left, target.with_name(found[1]))
        else:
            _remove(left)


def _remove(path: Path) -> None:
    """Remove a file or a directory as far as that is possible."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()


def _alive(process: int) -> bool:
    try:
        return bool(psutil.pid_exists(process))
    except OverflowError:
        # No number of a process here: the file is not of this host, whatever its name says.
        return True
