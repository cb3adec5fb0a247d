"""What nymlink takes from its surroundings: a cache folder, a number of threads, and no telemetry.

They read the environment when they are imported, so importing :mod:`nymlink` does this before any of them.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import psutil
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
    """Return the cache folder of name vectors (:class:`nymlink.encode.cached_vectors.EmbeddingCache`)."""
    return user_cache() / "vectors"


_LIMIT: Final = "OMP_NUM_THREADS"
"""The environment variable by which whoever starts processes side by side (Ray, torchrun) says how many threads
each may compute with."""


def usable_cores() -> int:
    """Count the cores that this process may use."""
    # Not on every system a process can be kept to some of the cores.
    affinity = getattr(psutil.Process(), "cpu_affinity", None)
    return len(affinity()) if affinity is not None else os.cpu_count() or 1


def thread_limit() -> int | None:
    """Return the number of threads that this process was told to compute with; ``None`` if it was not told."""
    told = os.environ.get(_LIMIT, "")
    return int(told) if told.isdecimal() and int(told) > 0 else None


def compute_threads() -> int:
    """Return the number of threads to compute with: as this process was told, else one a core."""
    return thread_limit() or usable_cores()


VARIABLES: Final[Mapping[str, str]] = {
    "ORT_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
}
"""Environment variables that turn telemetry off, each with the value that does.

The first is for ONNX Runtime, whose wheels otherwise store an identifier of the machine in the user's cache and
send it with a description of the machine. The second is for huggingface_hub and transformers, whose requests for a
model otherwise name the program and the installed packages. The third is for Ray, which otherwise sends a
description of the cluster and of the libraries used every hour.
"""


def disable_telemetry() -> None:
    """Turn telemetry off in this process and its child processes, whatever the environment says."""
    os.environ.update(VARIABLES)
