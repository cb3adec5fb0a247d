"""Settings from the environment: the cache folder, the number of threads, and telemetry, which is turned off.

Libraries read the environment when they are imported, so :mod:`nymlink` imports this module before them.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import psutil
from platformdirs import user_cache_path

VARIABLE: Final = "NYMLINK_CACHE"
"""Environment variable that names another cache folder."""

CACHE_HINT: Final = f"set {VARIABLE} to use another folder as the cache"
"""Advice in warnings about a cache that cannot be written. This is no error: the data are computed again."""


def user_cache() -> Path:
    """Return the cache folder: ``$NYMLINK_CACHE``, or if it is not set the system's cache folder for this user."""
    folder = Path(os.environ.get(VARIABLE) or user_cache_path("nymlink"))
    # Without a home directory, the path begins with "~".
    with contextlib.suppress(RuntimeError):
        folder = folder.expanduser()
    return folder


INDEX: Final = "NYMLINK_INDEX"
"""Environment variable for the folder of the default index."""


def chosen_index() -> Path | None:
    """Return the folder in ``$NYMLINK_INDEX``; ``None`` if it is not set."""
    folder = os.environ.get(INDEX)
    return Path(folder) if folder else None


def vector_cache() -> Path:
    """Return the cache folder of name vectors (:class:`nymlink.encode.cached_vectors.EmbeddingCache`)."""
    return user_cache() / "vectors"


_LIMIT: Final = "OMP_NUM_THREADS"
"""Environment variable for the number of threads of a process.

Programs that start several processes (Ray, torchrun) set it.
"""


def usable_cores() -> int:
    """Count the cores that this process may use."""
    # Not every system can restrict a process to some cores.
    affinity = getattr(psutil.Process(), "cpu_affinity", None)
    return len(affinity()) if affinity is not None else os.cpu_count() or 1


def thread_limit() -> int | None:
    """Return the number of threads that the environment asks for; ``None`` if it asks for none."""
    told = os.environ.get(_LIMIT, "")
    return int(told) if told.isdecimal() and int(told) > 0 else None


@contextlib.contextmanager
def threads_of_new_processes(count: int) -> Iterator[None]:
    """Give the processes that are started in the block a number of threads, unless the environment has one."""
    if _LIMIT in os.environ:
        yield
        return
    os.environ[_LIMIT] = str(count)
    try:
        yield
    finally:
        os.environ.pop(_LIMIT, None)


def compute_threads() -> int:
    """Return the number of threads to compute with: the number in the environment, otherwise one for each core."""
    return thread_limit() or usable_cores()


VARIABLES: Final[Mapping[str, str]] = {
    "ORT_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
}
"""Environment variables that turn telemetry off, with their values.

Without them, ONNX Runtime stores an identifier of the machine in the user's cache, and sends it with a description
of the machine. When huggingface_hub and transformers request a model, they name the program and the installed
packages. Ray sends a description of the cluster and of the libraries every hour.
"""


def disable_telemetry() -> None:
    """Turn telemetry off in this process and its child processes, whatever the environment says."""
    os.environ.update(VARIABLES)
