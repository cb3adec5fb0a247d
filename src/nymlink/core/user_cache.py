"""The user's cache folder, for data that can be computed or downloaded again."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Final

from platformdirs import user_cache_path

VARIABLE: Final = "NYMLINK_CACHE"
"""The environment variable that names another folder for the cache."""

CACHE_HINT: Final = f"set {VARIABLE} to use another folder as the cache"
"""Advice in warnings about a cache that cannot be written. No error: the data are computed again."""


def user_cache() -> Path:
    """Return ``$NYMLINK_CACHE``, or else the system's cache folder for this user."""
    folder = Path(os.environ.get(VARIABLE) or user_cache_path("nymlink"))
    # A user without a home directory gets a folder named "~".
    with contextlib.suppress(RuntimeError):
        folder = folder.expanduser()
    return folder


def vector_cache() -> Path:
    """Return the cache folder of name vectors (:class:`nymlink.encode.cache.embedding_cache.EmbeddingCache`)."""
    return user_cache() / "vectors"
