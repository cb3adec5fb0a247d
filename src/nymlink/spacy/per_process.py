"""Keep what each process of a pipeline loads for itself."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Generic, TypeVar

Loaded = TypeVar("Loaded")


class PerProcess(Generic[Loaded]):
    """Loads something when it is first needed, in each process of ``nlp.pipe(n_process=…)`` anew.

    The threads of a process do not come with it to another: what was inherited from another process is not used,
    and not let go either, as it would wait for threads that only the other has.

    Args:
        load: loads it; a function of a module, with its arguments, that another process can be given.
    """

    def __init__(self, load: Callable[[], Loaded]) -> None:
        self._load = load
        self._loaded: dict[int, Loaded] = {}

    def get(self) -> Loaded:
        """Return what this process has loaded."""
        process = os.getpid()
        if process not in self._loaded:
            self._loaded[process] = self._load()
        return self._loaded[process]

    def __getstate__(self) -> dict[str, Any]:
        # Another process loads it itself.
        return {"_load": self._load, "_loaded": {}}
