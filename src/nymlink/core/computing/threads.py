"""How many threads and processes to compute with."""

from __future__ import annotations

import os
from typing import Final

import psutil

_LIMIT: Final = "OMP_NUM_THREADS"
"""The environment variable by which whoever starts processes side by side (Ray, torchrun) says how many threads
each may compute with."""


def usable_cores() -> int:
    """Count the cores that this process may use."""
    # Not on every system a process can be kept to some of the cores.
    affinity = getattr(psutil.Process(), "cpu_affinity", None)
    return len(affinity()) if affinity is not None else os.cpu_count() or 1


def thread_limit() -> int | None:
    """Return the number of threads that this process was told to compute with; ``None`` where it was not told."""
    told = os.environ.get(_LIMIT, "")
    return int(told) if told.isdecimal() and int(told) > 0 else None


def compute_threads() -> int:
    """Return the number of threads to compute with: as this process was told, else one a core."""
    return thread_limit() or usable_cores()
