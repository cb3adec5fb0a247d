"""Reading text files as they come, and writing files and directories so that nothing half-made is ever seen."""

from __future__ import annotations

import contextlib
import errno
import gzip
import hashlib
import io
import os
import shutil
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

from nymlink.errors import InputError, OutputError
from nymlink.problems import Problems

_GZIP_MAGIC = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"
_BATCH_BYTES = 1 << 16


@contextlib.contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """Open a plain or gzip-compressed file for reading; which of the two is told by content, not by name.

    Raises:
        InputError: the file is missing, is a directory, may not be read, or its compression is damaged.
    """
    try:
        with open(path, "rb") as raw:
            compressed = raw.read(2) == _GZIP_MAGIC
            raw.seek(0)
            yield cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if compressed else raw
    except FileNotFoundError as error:
        raise InputError("no such file", path=path) from error
    except IsADirectoryError as error:
        raise InputError("this is a directory, not a file", path=path) from error
    except PermissionError as error:
        raise InputError("permission denied", path=path) from error
    except EOFError as error:
        raise InputError("the compressed file is truncated: fetch it again", path=path) from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"the compressed file is damaged ({error}): fetch it again", path=path) from error


def read_head(path: Path, size: int = 8192) -> str:
    """The first ``size`` bytes of a plain or gzip file as text, for telling its format.

    Bytes that are not UTF-8 are replaced.
    """
    with open_bytes(path) as file:
        return file.read(size).removeprefix(_BOM).decode("utf-8", errors="replace")


def read_lines(path: Path, problems: Problems) -> Iterator[tuple[int, str]]:
    """Yield ``(line number, line without its end)`` of a plain or gzip text file.

    Lines end at a line feed (after a carriage return or not) and nothing else. A line that is not UTF-8 is read as
    Windows-1252 and reported as repaired.

    Raises:
        InputError: see :func:`open_bytes`.
    """
    with open_bytes(path) as file:
        for number, raw in enumerate(file, start=1):
            yield number, _decode(raw, path, number, problems)


def read_batches(file: IO[bytes], path: Path, problems: Problems) -> Iterator[list[tuple[int, str]]]:
    """Like :func:`read_lines` of an open file, but in batches of what there is to read just now.

    A slow pipe gives its lines as they come, a file gives some hundred kilobytes at a time.
    """
    if not isinstance(file, (io.BufferedReader, io.BytesIO, gzip.GzipFile)):
        raise TypeError("batches can only be read from a buffered file")
    number, rest = 0, b""
    while chunk := file.read1(_BATCH_BYTES):
        *lines, rest = (rest + chunk).split(b"\n")
        if lines:
            yield [
                (number + place, _decode(raw, path, number + place, problems))
                for place, raw in enumerate(lines, 1)
            ]
            number += len(lines)
    if rest:
        yield [(number + 1, _decode(rest, path, number + 1, problems))]


def _decode(raw: bytes, path: Path, number: int, problems: Problems) -> str:
    if number == 1:
        raw = raw.removeprefix(_BOM)
    try:
        line = raw.decode("utf-8")
    except UnicodeDecodeError:
        line = raw.decode("cp1252", errors="replace")
        problems.repair(path, number, "not UTF-8; read as Windows-1252")
    return line.rstrip("\r\n")


def sha256(path: Path) -> str:
    """Hex digest of a file's bytes as they lie on disk."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextlib.contextmanager
def atomic_directory(target: Path) -> Iterator[Path]:
    """Fill a temporary directory that becomes ``target`` when the block ends well, and vanishes otherwise.

    An existing ``target`` is replaced as a whole. The temporary directory lies beside it, named after this
    process, so that two builds at once do not meet and what a killed build left is cleared by the next one.

    Raises:
        OutputError: the directory cannot be written; the message says why (for example a full disk).
    """
    target = Path(os.path.abspath(target))
    partial = target.parent / f".{target.name}.{os.getpid()}.partial"
    with _output_errors(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        _clear_abandoned(target)
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir()
        try:
            yield partial
            _replace_directory(partial, target)
        finally:
            shutil.rmtree(partial, ignore_errors=True)


@contextlib.contextmanager
def atomic_file(target: Path) -> Iterator[Path]:
    """A temporary path that becomes ``target`` when the block ends well, and vanishes otherwise.

    Raises:
        OutputError: the file cannot be written.
    """
    target = Path(os.path.abspath(target))
    partial = target.parent / f".{target.name}.{os.getpid()}.partial"
    with _output_errors(target):
        try:
            yield partial
            os.replace(partial, target)
        finally:
            partial.unlink(missing_ok=True)


def _replace_directory(partial: Path, target: Path) -> None:
    retired = target.parent / f".{target.name}.{os.getpid()}.retired.partial"
    if target.exists():
        target.rename(retired)
    try:
        partial.rename(target)
    except OSError:
        if retired.exists():
            retired.rename(target)
        raise
    shutil.rmtree(retired, ignore_errors=True)


def _clear_abandoned(target: Path) -> None:
    for left in target.parent.glob(f".{target.name}.*.partial"):
        pid = left.name.removeprefix(f".{target.name}.").split(".")[0]
        if pid.isdigit() and not _alive(int(pid)):
            shutil.rmtree(left, ignore_errors=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


@contextlib.contextmanager
def _output_errors(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno == errno.ENOSPC:
            reason = "no space left on the disk: free some and run again"
        else:
            reason = error.strerror or str(error)
        raise OutputError(f"cannot write: {reason}; nothing was changed", path=target) from error
