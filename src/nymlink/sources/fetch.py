"""Get the file of a source from the cache, or download it into the cache."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from nymlink.core.errors import InputError
from nymlink.core.files import sha256
from nymlink.core.problems import Problems
from nymlink.core.store.atomic import atomic_file
from nymlink.sources.cache import Fetched, cache_folder, cache_path, is_intact, locked, read_record, write_record
from nymlink.sources.content import check_content
from nymlink.sources.downloader import NotModifiedError, ResumingDownloader, RetryPolicy
from nymlink.sources.partial_download import PartialDownload
from nymlink.sources.source import PublishedSource


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchOptions:
    """Options of downloads.

    Attributes:
        folder: the cache folder; ``None``: the user's cache.
        offline: use only the cache.
        refresh: ask servers whether files have changed since they were cached.
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
    """Get the file of a source. Of several processes that need it, one downloads it and the others wait.

    Args:
        source: the source.
        options: the cache folder, and how to download.
        problems: receives a report when a cached file is used because the server could not be asked.
        progress: whether to show progress when standard error is a terminal.

    Raises:
        InputError: the file cannot be downloaded, is not what it should be, or, offline, is not in the cache.
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
