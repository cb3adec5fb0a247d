"""Fetch published sources once, and keep them."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from nymlink.core.environment import user_cache
from nymlink.core.errors import InputError, OutputError
from nymlink.core.files import open_bytes, read_head, read_lines, sha256
from nymlink.core.json_files import member, to_dataclass
from nymlink.core.problems import Problems
from nymlink.core.registry import find_format
from nymlink.core.store.atomic import atomic_file, output_errors
from nymlink.sources.downloader import NotModifiedError, PartialDownload, ResumingDownloader, RetryPolicy, Stamp
from nymlink.sources.source import PublishedSource
from nymlink.vocabulary.mappings import is_header
from nymlink.vocabulary.readers import VOCABULARY_FORMATS

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
    """Read the record of a source's cached file; ``None`` if no file from this address is cached.

    The content of the file is not checked: see :func:`is_intact`.
    """
    path = cache_path(source, folder)
    try:
        values = json.loads(_record_path(path).read_text(encoding="utf-8"))
        stamp = to_dataclass(Stamp, member(values, "stamp", dict))
        fetched = to_dataclass(Fetched, {**values, "stamp": stamp, "path": path})
    except (OSError, ValueError, RecursionError):
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


_SHOWN: Final = 60
_CHUNK: Final = 1 << 20


def check_content(path: Path, source: PublishedSource) -> None:
    """Check that a file is in the format of its source, and that its compression is intact.

    Raises:
        InputError: it is not, for example because the server sent an error page instead of the file.
    """
    try:
        with open_bytes(path) as file:
            while file.read(_CHUNK):
                pass
        beginning = " ".join(read_head(path).split())[:_SHOWN]
    except InputError as error:
        raise InputError(f"the file that the server sent is damaged ({error.message})", path=source.url) from error
    if not beginning:
        raise InputError("the server sent an empty file: try again later", path=source.url)
    if not _is_in_format(path, source):
        raise InputError(
            f"the file that the server sent is not in the format {source.format}: it begins {beginning!r}. "
            "Open the address in a browser to see the cause",
            path=source.url,
        )


def _is_in_format(path: Path, source: PublishedSource) -> bool:
    if source.is_mappings:
        lines = (line for _, line in read_lines(path, Problems()) if line and not line.startswith("#"))
        header = next(lines, "")
        return is_header(header)
    try:
        return find_format(VOCABULARY_FORMATS, path).name == source.format
    except InputError:
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchOptions:
    """Options of downloads.

    Attributes:
        folder: the cache folder; ``None`` for the user's cache.
        offline: whether to use only the cache.
        refresh: whether to ask servers if files have changed since they were cached.
        retries: when to try a request again, and when to give up.
    """

    folder: Path | None = None
    offline: bool = False
    refresh: bool = False
    retries: RetryPolicy = field(default_factory=RetryPolicy)


def fetch(
    source: PublishedSource,
    *,
    options: FetchOptions | None = None,
    problems: Problems | None = None,
    progress: bool = False,
) -> Fetched:
    """Get the file of a source. If several processes need it, one downloads it and the others wait.

    Args:
        source: the source.
        options: the cache folder, and how to download.
        problems: receives a report if the server did not answer and the cached file is used.
        progress: whether to show progress when standard error is a terminal.

    Raises:
        InputError: the file cannot be downloaded, has unexpected content, or, offline, is not in the cache.
        OutputError: the cache cannot be written, for example because the disk is full.
    """
    options = options or FetchOptions()
    folder = options.folder or cache_folder()
    if options.offline:
        return _from_cache(source, folder)
    with locked(cache_path(source, folder)):
        cached = read_record(source, folder)
        if cached is not None and not is_intact(cached, source):
            cached = None
        if cached is not None and not options.refresh:
            return cached
        try:
            return _download(source, cache_path(source, folder), cached, options.retries, progress=progress)
        except InputError as error:
            if cached is None:
                raise
            if problems is not None:
                problems.repair(source.url, None, f"{error.message}. The copy of {cached.date} is used")
            return cached


def _from_cache(source: PublishedSource, folder: Path) -> Fetched:
    cached = read_record(source, folder)
    if cached is None:
        raise InputError("not in the cache: run once without --offline", path=source.name)
    if not is_intact(cached, source):
        raise InputError(
            "the file has changed since it was downloaded: run once without --offline to download it again",
            path=cached.path,
        )
    return cached


def _download(
    source: PublishedSource, target: Path, cached: Fetched | None, retries: RetryPolicy, *, progress: bool
) -> Fetched:
    downloader = ResumingDownloader(
        label=source.name,
        part=PartialDownload(target.with_name(target.name + ".part")),
        limit=source.limit,
        member=source.member,
        known=cached.stamp if cached is not None else None,
        retries=retries,
        progress=progress,
    )
    date = datetime.now(UTC).isoformat(timespec="seconds")
    try:
        with atomic_file(target) as partial:
            downloader.fetch(source.url, partial)
            digest = sha256(partial)
            if digest != (source.sha256 or digest):
                raise InputError(
                    f"the server sent another file than expected (its SHA-256 digest is not {source.sha256})",
                    path=source.url,
                )
            check_content(partial, source)
    except NotModifiedError:
        assert cached is not None, "conditional requests are made for cached files only"
        return cached
    fetched = Fetched(path=target, url=source.url, sha256=digest, stamp=downloader.stamp, date=date)
    write_record(fetched)
    return fetched
