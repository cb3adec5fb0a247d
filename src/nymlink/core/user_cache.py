"""Where things are kept that can be made or fetched again."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Final

from platformdirs import user_cache_path

VARIABLE: Final = "NYMLINK_CACHE"
"""The environment variable that names another folder for the cache."""

ELSEWHERE: Final = f"{VARIABLE} names another folder for the user's cache"
"""What to say where the cache cannot be written. Nothing ends for that: what is not kept is made again."""


def user_cache() -> Path:
    """``$NYMLINK_CACHE``, else the user's cache as the system has it."""
    folder = Path(os.environ.get(VARIABLE) or user_cache_path("nymlink"))
    # Of a user who has no home it is a folder of that name.
    with contextlib.suppress(RuntimeError):
        folder = folder.expanduser()
    return folder


def vector_cache() -> Path:
    """Where vectors of names are kept (:class:`nymlink.encode.cache.embedding_cache.EmbeddingCache`)."""
    return user_cache() / "vectors"
