"""Measure one peer, in a process of its own under its own Python: standard library only.

``began`` is what the parent's monotonic clock said before it started the process: start-up has the interpreter
and all imports in it.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from benchmarks.peers.dictionary import Dictionary

_PASSES: Final = 5
_ENOUGH: Final = 3.0
"""Most passes over all queries, and the seconds after which there is no further one."""

_SINGLE: Final = 50
_FEWEST: Final = 3
"""Most mentions that are asked alone, and the fewest."""


def build(module: str, folder: str, index: str, settings: dict[str, Any], began: float) -> dict[str, Any]:
    """Build the index of a peer; seconds are those of the whole process."""
    place = Path(index)
    place.mkdir(parents=True)
    import_module(module).build(Dictionary(folder), place, **settings)
    size = sum(path.stat().st_size for path in place.rglob("*") if path.is_file())
    return {"build_seconds": time.monotonic() - began, "disk_mb": size / 2**20}


def search(
    module: str, folder: str, index: str, settings: dict[str, Any], began: float, block: int
) -> dict[str, Any]:
    """Ask a linker for the mentions of a dictionary.

    Returns:
        ``found`` (of each distinct mention its concepts), ``start_seconds`` (until the first answer),
        ``per_second`` (distinct mentions, warm), ``single_ms`` (one mention alone, median).
    """
    dictionary = Dictionary(folder)
    ask = import_module(module).load(dictionary, Path(index), **settings)
    queries = dictionary.queries
    ask(queries[:1])
    return _measured(ask, queries, began, block=block)


def annotate(
    module: str, folder: str, index: str, settings: dict[str, Any], began: float, block: int
) -> dict[str, Any]:
    """Annotate the texts of a dictionary; the same figures as :func:`search`, of texts."""
    dictionary = Dictionary(folder)
    find = import_module(module).load(dictionary, Path(index), **settings)
    find(dictionary.texts[:1])
    return _measured(find, dictionary.texts, began, block=block)


def _measured(
    ask: Callable[[Sequence[str]], list[Any]], asked: Sequence[str], began: float, *, block: int
) -> dict[str, Any]:
    started = time.monotonic() - began
    ask(asked[:32])
    seconds: list[float] = []
    found: list[Any] = []
    while len(seconds) < _PASSES and sum(seconds) < _ENOUGH:
        # What was asked last may be remembered: it is to be something else.
        ask([f"pass {len(seconds)}"])
        start = time.perf_counter()
        found = [one for at in range(0, len(asked), block) for one in ask(asked[at : at + block])]
        seconds.append(time.perf_counter() - start)
    return {
        "start_seconds": started,
        "per_second": len(asked) / statistics.median(seconds),
        "single_ms": 1000 * _single(ask, asked),
        "found": found,
    }


def _single(ask: Callable[[Sequence[str]], list[Any]], asked: Sequence[str]) -> float:
    """Return the median seconds of one alone."""
    seconds: list[float] = []
    for one in asked[:_SINGLE]:
        start = time.perf_counter()
        ask([one])
        seconds.append(time.perf_counter() - start)
        if len(seconds) >= _FEWEST and sum(seconds) > _ENOUGH:
            break
    return statistics.median(seconds)
