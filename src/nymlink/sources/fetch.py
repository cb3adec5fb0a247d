"""A source's file: from the cache, or from its publisher into the cache."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from nymlink.core.errors import InputError
from nymlink.core.files import sha256
from nymlink.core.problems import Problems
from nymlink.core.store.atomic import atomic_file
from nymlink.sources.cache import Fetched, cache_folder, is_whole, locked, place_of, recall, remember
from nymlink.sources.content import check_content
from nymlink.sources.download import NotModifiedError, Patience, ResumingDownloader
from nymlink.sources.part import Part
from nymlink.sources.source import PublishedSource


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchOptions:
    """How files are fetched.

    Attributes:
        folder: the cache; ``None``: the user's.
        offline: use only what is in the cache.
        refresh: ask servers whether they have something newer than the cache.
        patience: how long to bear with a server.
    """

    folder: Path | None = None
    offline: bool = False
    refresh: bool = False
    patience: Patience = field(default_factory=Patience)


def fetch(
    source: PublishedSource,
    *,
    options: FetchOptions | None = None,
    problems: Problems | None = None,
    progress: bool = False,
) -> Fetched:
    """The file of a source. Several processes may fetch the same at once: one does, the others wait for it.

    Args:
        source: which.
        options: where and how.
        problems: told when an old file is used because a newer one could not be asked for.
        progress: whether to show progress when standard error is a terminal.

    Raises:
        InputError: it cannot be fetched, is not what it should be, or, offline, is not in the cache.
        OutputError: the cache cannot be written, a full disk for example.
    """
    options = options or FetchOptions()
    folder = options.folder or cache_folder()
    if options.offline:
        return _from_cache(source, folder)
    with locked(place_of(source, folder)):
        cached = recall(source, folder)
        if cached is not None and not is_whole(cached, source):
            cached = None
        if cached is not None and not options.refresh:
            return cached
        try:
            return _download(source, place_of(source, folder), cached, options.patience, progress=progress)
        except InputError as error:
            if cached is None:
                raise
            if problems is not None:
                problems.repair(source.url, None, f"{error.message}. The copy of {cached.date} is used")
            return cached


def _from_cache(source: PublishedSource, folder: Path) -> Fetched:
    cached = recall(source, folder)
    if cached is None:
        raise InputError("not in the cache: run once without --offline", path=source.name)
    if not is_whole(cached, source):
        raise InputError(
            "no longer what was fetched: run once without --offline to fetch it again", path=cached.path
        )
    return cached


def _download(
    source: PublishedSource, target: Path, cached: Fetched | None, patience: Patience, *, progress: bool
) -> Fetched:
    downloader = ResumingDownloader(
        label=source.name,
        part=Part(target.with_name(target.name + ".part")),
        member=source.member,
        known=cached.stamp if cached is not None else None,
        patience=patience,
        progress=progress,
    )
    date = datetime.now(UTC).isoformat(timespec="seconds")
    try:
        with atomic_file(target) as partial:
            downloader.fetch(source.url, partial)
            digest = sha256(partial)
            if digest != (source.sha256 or digest):
                raise InputError(
                    f"the server sent another file than the one expected, whose SHA-256 digest is {source.sha256}",
                    path=source.url,
                )
            check_content(partial, source)
    except NotModifiedError:
        assert cached is not None, "only what is known is asked about"
        return cached
    fetched = Fetched(path=target, url=source.url, sha256=digest, stamp=downloader.stamp, date=date)
    remember(fetched)
    return fetched
