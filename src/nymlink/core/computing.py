"""Prefetching, remembered results, and sessions of ONNX Runtime."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import cache, lru_cache, wraps
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar, TypeVarTuple, Unpack

from nymlink.core.environment import thread_limit

if TYPE_CHECKING:
    from onnxruntime import InferenceSession


Item = TypeVar("Item")
Made = TypeVar("Made")
More = TypeVarTuple("More")

_LONGEST: Final = 200
"""Length of the longest text whose result is remembered, in characters."""


def prefetch(
    make: Callable[[Item], Made], items: Iterable[Item], *, ahead: int = 1, threads: int = 1
) -> Iterator[Made]:
    """Yield ``map(make, items)``. Threads compute a few items ahead.

    An error is raised when its item is requested. Closing the iterator ends the threads. A single item is computed
    without a thread.

    Args:
        make: computes an item.
        items: its inputs.
        ahead: number of items that are computed before they are requested.
        threads: number of threads. One is enough for work that uses all cores, like that of tokenizers.
    """
    items = iter(items)
    # Take two items, because the first alone does not show whether there are more.
    first = list(islice(items, 2))
    if len(first) < 2:
        yield from map(make, first)
        return
    waiting: deque[Future[Made]] = deque()
    with ThreadPoolExecutor(threads, thread_name_prefix="ahead") as pool:
        try:
            for item in chain(first, items):
                waiting.append(pool.submit(make, item))
                if len(waiting) > ahead:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def remember(size: int) -> Callable[[Callable[[str, Unpack[More]], Made]], Callable[[str, Unpack[More]], Made]]:
    """Remember the results of a function for its latest texts, like :func:`functools.lru_cache`.

    Results for texts longer than 200 characters are not remembered, because clients choose the texts.
    """

    def decorate(function: Callable[[str, Unpack[More]], Made]) -> Callable[[str, Unpack[More]], Made]:
        remembered = lru_cache(size)(function)

        @wraps(function)
        def call(text: str, /, *more: *More) -> Made:
            return remembered(text, *more) if len(text) <= _LONGEST else function(text, *more)

        return call

    return decorate


def open_session(graph: Path | bytes, *, threads: int | None = None) -> InferenceSession:
    """Load a graph, given as a file or as its bytes, to run on the CPU.

    Args:
        graph: the graph.
        threads: threads of a run; ``None`` for the number in the environment, otherwise one for each core.

    Raises:
        Exception: the graph cannot be loaded; the runtime's errors have no public base class.
    """
    import onnxruntime

    # If onnxruntime was imported before nymlink, telemetry is on by now. This call stops all events except
    # essential ones.
    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    # Write no log, because errors are raised.
    options.log_severity_level = 4
    # 0 means one thread for each core. The runtime itself does not read the environment.
    options.intra_op_num_threads = threads or thread_limit() or 0
    # By default, idle threads of the runtime spin and take cores from other work.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    _share_memory()
    options.add_session_config_entry("session.use_env_allocators", "1")
    session = onnxruntime.InferenceSession(
        graph,
        options,
        providers=["CPUExecutionProvider"],
        # The fused operator is slower than separate addition and layer normalisation.
        disabled_optimizers=["SkipLayerNormFusion"],
    )
    # The session keeps the bytes to open itself again with other providers. nymlink never does that.
    session._model_bytes = None
    return session


@cache
def _share_memory() -> None:
    """Let all sessions take the memory of their runs from one arena.

    An arena keeps the memory that the largest run needed. An index of a million names has 25 sessions, and with an
    arena for each, they keep half a gigabyte more.
    """
    import onnxruntime

    memory = onnxruntime.OrtMemoryInfo(
        "Cpu", onnxruntime.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, onnxruntime.OrtMemType.DEFAULT
    )
    # Another library of this process may have made the arena already.
    with suppress(Exception):
        onnxruntime.create_and_register_allocator(memory, None)
