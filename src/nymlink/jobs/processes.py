"""The engine of one machine. Worker processes take shards one by one; reports come in the order of the shards."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.connection import wait
from typing import Any, Final

from nymlink.core.environment import threads_of_new_processes
from nymlink.jobs.engine import TRIES, Order, R, S, Worker, WorkerEndedError, Workers

_WAITING: Final = 3
"""Number of shards that are read ahead for each process."""


class Processes:
    """Gives shards to processes of this machine, of one thread each. A few shards for each are in memory."""

    waits_for = "processes start"

    def __init__(self, count: int) -> None:
        self._count = count

    @contextmanager
    def started(self, order: Order[S, R], own: Worker[S, R], needs: Sequence[str] = ()) -> Iterator[Workers[S, R]]:
        """Start the processes. They end when this process ends, even if it is killed."""
        pool = _Pool(order, self._count)
        try:
            yield pool
        finally:
            # End at once, so that a caller that stops early need not wait.
            pool.end()


class _Pool(Workers[S, R]):
    def __init__(self, order: Order[S, R], count: int) -> None:
        self._order = order
        self._count = count
        self._executor = self._new()

    def do(self, shards: Iterable[S]) -> Iterator[R]:
        """Do shards, and report them in their order."""
        shards = iter(shards)
        waiting: deque[tuple[S, Future[R]]] = deque()
        more = True
        while more or waiting:
            while more and len(waiting) < self._count * _WAITING:
                if (shard := next(shards, None)) is None:
                    more = False
                else:
                    waiting.append((shard, self._submit(shard)))
            if not waiting:
                break
            shard, future = waiting[0]
            try:
                report = future.result()
            except BrokenProcessPool:
                # It is not known which shard made a process end, so each waiting shard is done alone.
                for shard, future in waiting:
                    is_done = future.done() and future.exception() is None
                    yield future.result() if is_done else self._alone(shard)
                waiting.clear()
                continue
            waiting.popleft()
            yield report

    def end(self) -> None:
        """End the processes at once."""
        self._executor.shutdown(wait=False, cancel_futures=True)

    def _alone(self, shard: S) -> R:
        for _ in range(TRIES):
            try:
                return self._submit(shard).result()
            except BrokenProcessPool:
                continue
        raise WorkerEndedError(shard.number, TRIES)

    def _submit(self, shard: S) -> Future[R]:
        # The executor starts a process when it gets a shard.
        with threads_of_new_processes(1):
            try:
                return self._executor.submit(_do, shard)
            except BrokenProcessPool:
                self._executor.shutdown(wait=False)
                self._executor = self._new()
                return self._executor.submit(_do, shard)

    def _new(self) -> ProcessPoolExecutor:
        # Do not fork: the copy would lack the threads of ONNX Runtime and Arrow.
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(self._count, mp_context=context, initializer=_open, initargs=(self._order,))


_worker: Worker[Any, Any]
"""The worker of this process, if this process was started to do shards."""


def _open(order: Order[Any, Any]) -> None:
    global _worker
    # Ignore Ctrl-C here: the parent process handles it, and ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _worker = order.open()


def _end_with_parent() -> None:
    """End this process when its parent is killed. Otherwise it would wait for work for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _do(shard: Any) -> Any:
    return _worker.do(shard)
