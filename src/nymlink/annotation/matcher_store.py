"""Keep matchers in the user's cache, so that the next process opens them at once."""

from __future__ import annotations

import warnings
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Final

import pyarrow as pa

from nymlink.annotation.matcher import Matcher
from nymlink.annotation.names.table import NameTable
from nymlink.annotation.words.lexicon import Lexicon
from nymlink.core.errors import OutputError, StoreError
from nymlink.core.files import sha256
from nymlink.core.store.manifest import read_manifest, require_files, write_directory
from nymlink.core.store.ownership import MANIFEST
from nymlink.core.user_cache import CACHE_HINT, user_cache
from nymlink.index.index import Index

KIND: Final = "matcher"
VERSION: Final = 2


def open_matcher(index: Index, *, language: str | None, progress: bool = False) -> Matcher:
    """Open the matcher of an index, building it first where the cache has none (seconds).

    Of an index in memory the matcher is built anew. Where the cache cannot be written, a warning says so.
    """
    vocabulary = index.vocabulary
    if index.directory is None:
        return Matcher.build(vocabulary, language=language, progress=progress)
    made_of = (sha256(index.directory / MANIFEST)[:24], version("nymlink"), str(VERSION), language or "any")
    directory = user_cache() / "matchers" / "-".join(made_of)
    with suppress(StoreError):
        return _load(directory, index, language)
    built = Matcher.build(vocabulary, language=language, progress=progress)
    try:
        with write_directory(directory, kind=KIND, version=VERSION, body={"language": language}) as partial:
            built.save(partial)
    except OutputError as error:
        warnings.warn(
            f"{directory}: the matcher is not kept for the next time ({error.message}); {CACHE_HINT}", stacklevel=2
        )
        return built
    return _load(directory, index, language)


def _load(directory: Path, index: Index, language: str | None) -> Matcher:
    """Map a matcher into memory.

    Raises:
        StoreError: it is missing or damaged.
    """
    manifest = read_manifest(directory, kind=KIND, version=VERSION)
    try:
        require_files(manifest, [*Lexicon.FILES, *NameTable.FILES])
        return Matcher.load(directory, index.vocabulary, language=language)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise StoreError(f"the matcher is damaged ({error}): remove it", path=directory) from error
