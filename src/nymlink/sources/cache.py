"""The user's cache of downloaded files, each with a JSON record of its origin beside it."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from nymlink.core.errors import OutputError
from nymlink.core.files import sha256
from nymlink.core.json_objects import member, to_dataclass
from nymlink.core.store.atomic import atomic_file, output_errors
from nymlink.core.user_cache import user_cache
from nymlink.sources.partial_download import Stamp
from nymlink.sources.source import PublishedSource

_PATIENCE: Final = 6 * 3600
"""Seconds to wait for another process that downloads the same file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A downloaded file.

    Attributes:
        path: its path in the cache.
        url: the address it was downloaded from.
        sha256: its SHA-256 digest.
        stamp: the server's entity tag and modification date.
        date: time of the download, ISO 8601, UTC.
    """

    path: Path
    url: str
    sha256: str
    stamp: Stamp
    date: str


def cache_folder() -> Path:
    """Return the folder of downloaded sources in the user's cache."""
    return user_cache() / "sources"


def cache_path(source: PublishedSource, folder: Path) -> Path:
    """Return the path of a source's file in the cache, whether it exists or not."""
    return folder / source.name / source.file_name


def read_record(source: PublishedSource, folder: Path) -> Fetched | None:
    """Read the record of a source's cached file; ``None`` where no file from this address is cached.

    The content of the file is not checked: see :func:`is_intact`.
    """
    path = cache_path(source, folder)
    try:
        values = json.loads(_record_path(path).read_text(encoding="utf-8"))
        stamp = to_dataclass(Stamp, member(values, "stamp", dict))
        fetched = to_dataclass(Fetched, {**values, "stamp": stamp, "path": path})
    except (OSError, ValueError):
        return None
    return fetched if fetched.url == source.url and path.is_file() else None


def is_intact(fetched: Fetched, source: PublishedSource) -> bool:
    """Whether a cached file is unchanged and has the digest, if any, that the table of sources gives."""
    return (source.sha256 or fetched.sha256) == fetched.sha256 == sha256(fetched.path)


def write_record(fetched: Fetched) -> None:
    """Write the record of a downloaded file, atomically.

    Raises:
        OutputError: it cannot be written.
    """
    values = asdict(replace(fetched, path=Path()))
    del values["path"]
    with atomic_file(_record_path(fetched.path)) as partial:
        partial.write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock a file of the cache, so that other processes and threads wait before they download it.

    The system releases the lock when a process dies.

    Raises:
        OutputError: the cache cannot be written, or another process has downloaded the file for hours.
    """
    lock = FileLock(path.with_name(path.name + ".lock"))
    with output_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire(timeout=_PATIENCE)
        except Timeout as error:
            raise OutputError(
                f"another process has been downloading this for {_PATIENCE // 3600} hours: end it", path=path
            ) from error
    try:
        yield
    finally:
        lock.release()


def _record_path(path: Path) -> Path:
    return path.with_name(path.name + ".json")
