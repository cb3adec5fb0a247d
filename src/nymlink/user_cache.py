"""Where things are kept that can be made or fetched again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from platformdirs import user_cache_path

VARIABLE: Final = "NYMLINK_CACHE"
"""The environment variable that names another folder for the cache."""


def user_cache() -> Path:
    """``$NYMLINK_CACHE``, else the user's cache as the system has it."""
    return Path(os.environ.get(VARIABLE) or user_cache_path("nymlink")).expanduser()


def vector_cache() -> Path | None:
    """Where vectors of names are kept (:class:`nymlink.encode.cache.EmbeddingCache`); ``None`` if nowhere can be.

    Where nothing can be written, a container for example, names are encoded each time.
    """
    folder = user_cache() / "vectors"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None
