"""The user's cache of fetched files: beside each lies what is known of it, in JSON."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from filelock import FileLock

from nymlink.core.files import sha256
from nymlink.core.json_objects import member, record
from nymlink.core.store.atomic import atomic_file, output_errors
from nymlink.core.user_cache import user_cache
from nymlink.sources.part import Stamp
from nymlink.sources.source import PublishedSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A fetched file.

    Attributes:
        path: where it lies.
        url: where it came from.
        sha256: its digest.
        stamp: what the server said of it.
        date: when it was fetched, ISO 8601, UTC.
    """

    path: Path
    url: str
    sha256: str
    stamp: Stamp
    date: str


def cache_folder() -> Path:
    """Where sources are kept."""
    return user_cache() / "sources"


def place_of(source: PublishedSource, folder: Path) -> Path:
    """Where the file of a source lies in the cache, once it is there."""
    return folder / source.name / source.file_name


def recall(source: PublishedSource, folder: Path) -> Fetched | None:
    """What is known of the cached file of a source; ``None`` where there is none from this address.

    The file itself is not looked at: see :func:`is_whole`.
    """
    path = place_of(source, folder)
    try:
        said = json.loads(_record(path).read_text(encoding="utf-8"))
        stamp = record(Stamp, member(said, "stamp", dict))
        fetched = record(Fetched, {**said, "stamp": stamp, "path": path})
    except (OSError, ValueError):
        return None
    return fetched if fetched.url == source.url and path.is_file() else None


def is_whole(fetched: Fetched, source: PublishedSource) -> bool:
    """Whether a cached file is still what was fetched, and what the table of sources says it should be."""
    return (source.sha256 or fetched.sha256) == fetched.sha256 == sha256(fetched.path)


def remember(fetched: Fetched) -> None:
    """Write down what is known of a file, atomically.

    Raises:
        OutputError: it cannot be written.
    """
    said = asdict(replace(fetched, path=Path()))
    del said["path"]
    with atomic_file(_record(fetched.path)) as partial:
        partial.write_text(json.dumps(said, indent=2) + "\n", encoding="utf-8")


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep other processes, and threads, from fetching the same file until the block ends: they wait.

    The system lets go of the lock when a process dies.

    Raises:
        OutputError: the cache cannot be written.
    """
    lock = FileLock(path.with_name(path.name + ".lock"))
    with output_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _record(path: Path) -> Path:
    return path.with_name(path.name + ".json")
