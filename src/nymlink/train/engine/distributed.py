"""The processes of a training: exchange of vectors and gradients, and heartbeats.

A batch is the same for any number of processes. Each process encodes its share of the names, and gathers the
vectors of all processes. It computes the loss of the whole batch, and the gradient of this loss to every vector.
It then propagates the gradient back through its own names only. The processes' gradients add up to the gradient
that a single process would compute: negatives come from the whole batch, and the gathering passes no gradient.

If a process dies, its connections close, and the other processes notice at once. If a machine loses power or
network, no connection closes. The others would wait a day for it, because an evaluation may take that long. So
each process sends heartbeats, and the others end if a process sends none.
"""

from __future__ import annotations

import contextlib
import os
import platform
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, Protocol, Self

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.rendezvous import rendezvous

from nymlink.core.errors import InputError, NymlinkError
from nymlink.core.store.digests import json_digest
from nymlink.core.terminal import tell

_EVERY: Final = 5.0
"""Seconds between heartbeats."""

_SILENT: Final = 45.0
"""Seconds without a heartbeat after which a process counts as lost. A busy process still sends heartbeats."""

_DONE: Final = "done"

LOST: Final = (
    "give the same command on every machine again: the training goes on from its last checkpoint, to the same "
    "weights"
)
"""What to do when a process was lost."""


class Store(Protocol):
    """A store of torch that processes share."""

    def set(self, key: str, value: str, /) -> object: ...

    def get(self, key: str, /) -> bytes: ...

    def check(self, keys: list[str], /) -> bool: ...

    def clone(self) -> Self: ...


@contextmanager
def heartbeat(
    store: Store, rank: int, count: int, *, every: float = _EVERY, silent: float = _SILENT
) -> Iterator[None]:
    """Send heartbeats until the block ends. End this process if another process stops sending them.

    Args:
        store: shared by all processes.
        rank: number of this process.
        count: number of processes.
        every: seconds between heartbeats.
        silent: seconds without a heartbeat after which a process counts as lost.
    """
    stop = threading.Event()
    beats = store.clone()
    beats.set(_key(rank), "0")
    thread = threading.Thread(
        target=_beat, args=(beats, rank, count, stop, every, silent), name="heartbeat", daemon=True
    )
    thread.start()
    try:
        yield
    except BaseException:
        # Do not send "done": the waiting processes must notice that this process is lost.
        stop.set()
        thread.join()
        raise
    stop.set()
    thread.join()
    _set(beats, rank, _DONE)


def _beat(store: Store, rank: int, count: int, stop: threading.Event, every: float, silent: float) -> None:
    started = time.monotonic()
    heard: dict[int, tuple[bytes, float]] = {other: (b"", started) for other in range(count) if other != rank}
    number = 0
    while not stop.wait(every):
        number += 1
        values = _set(store, rank, str(number)) and _values(store, heard)
        now = time.monotonic()
        # The store is on the first machine. If the store cannot be reached, process 0 counts as silent.
        for other, value in (values or {}).items():
            if value != heard[other][0] or value == _DONE.encode():
                heard[other] = (value, now)
        silent_ones = [other for other, (_, last) in heard.items() if now - last > silent]
        if silent_ones and not stop.is_set():
            _end(silent_ones[0] if values else 0, silent)


def _set(store: Store, rank: int, value: str) -> bool:
    try:
        store.set(_key(rank), value)
    except RuntimeError:
        return False
    return True


def _values(store: Store, ranks: dict[int, tuple[bytes, float]]) -> dict[int, bytes]:
    try:
        return {rank: store.get(_key(rank)) for rank in ranks if store.check([_key(rank)])}
    except RuntimeError:
        return {}


def _end(rank: int, silent: float) -> None:
    """End this process at once.

    An exception would not reach the main thread while it waits for another process.
    """
    tell(
        f"process {rank} of this training has been silent for {silent:.0f} seconds: its machine or its "
        f"network is down; {LOST}",
        level="error",
    )
    os._exit(2)


def _key(rank: int) -> str:
    return f"nymlink/heartbeat/{rank}"


_TIMEOUT: Final = timedelta(days=1)
"""Longest time that a process waits for the others. The first process alone evaluates, while the others wait."""


class LostProcessError(NymlinkError):
    """Another process of the training ended, or cannot be reached."""


@dataclass(frozen=True, slots=True)
class Processes:
    """The processes of a training.

    Attributes:
        rank: number of this process, from 0; process 0 writes all files.
        count: number of processes.
    """

    rank: int = 0
    count: int = 1

    @property
    def first(self) -> bool:
        """Whether this is process 0, which evaluates and writes."""
        return self.rank == 0

    def gather(self, vectors: Tensor, counts: Sequence[int]) -> Tensor:
        """Gather the vectors of all processes, in the order of the processes, without a computation graph.

        Args:
            vectors: (n, D): vectors of this process; n is ``counts[rank]``.
            counts: number of vectors of each process.

        Returns:
            (sum of counts, D).
        """
        vectors = vectors.detach()
        if self.count == 1:
            return vectors
        # Every process must send a tensor of the same size.
        padded = vectors.new_zeros(max(counts), vectors.shape[1])
        padded[: len(vectors)] = vectors
        received = [torch.empty_like(padded) for _ in counts]
        with _exchange():
            dist.all_gather(received, padded)
        return torch.cat([part[:count] for part, count in zip(received, counts, strict=True)])

    def sum_gradients(self, parameters: Iterable[nn.Parameter]) -> None:
        """Replace the gradients of parameters by their sums over all processes."""
        if self.count == 1:
            return
        pending = []
        for parameter in parameters:
            if parameter.grad is None:  # a small batch may leave no names for this process
                parameter.grad = torch.zeros_like(parameter)
            with _exchange():
                pending.append(dist.all_reduce(parameter.grad, async_op=True))
        for reduction in pending:
            with _exchange():
                reduction.wait()

    def total(self, number: int, device: torch.device) -> int:
        """Add up a number over all processes."""
        if self.count == 1:
            return number
        shared = torch.tensor([number], device=device)
        with _exchange():
            dist.all_reduce(shared)
        return int(shared.item())

    def any(self, holds: bool, device: torch.device) -> bool:
        """Tell whether a condition holds in any process."""
        return self.total(int(holds), device) > 0

    def from_first(self, number: int, device: torch.device) -> int:
        """Broadcast a number from process 0 to all."""
        if self.count == 1:
            return number
        shared = torch.tensor([number], device=device)
        with _exchange():
            dist.broadcast(shared, 0)
        return int(shared.item())

    def require_same(self, values: Mapping[str, Any], device: torch.device) -> None:
        """Check that each process has the same values as process 0, since machines may have different files.

        Args:
            values: name → JSON value; the same names in each process.
            device: device of the exchanged numbers.

        Raises:
            InputError: a value differs.
            NymlinkError: a value differs in another process.
        """
        own = {name: int(json_digest(value)[:15], 16) for name, value in values.items()}
        first = {name: self.from_first(digest, device) for name, digest in own.items()}
        with self.fail_together(device):
            differing = [name for name in own if own[name] != first[name]]
            if differing:
                raise InputError(
                    f"{platform.node()} has another {differing[0]} than the first machine of this training: put "
                    "the same on every machine"
                )

    @contextlib.contextmanager
    def fail_together(self, device: torch.device) -> Iterator[None]:
        """Raise an error in every process if one process raises within the block.

        The block must not exchange anything between processes.

        Raises:
            NymlinkError: another process failed; its own error says why.
        """
        try:
            yield
        except BaseException:
            # Show this process's own error, even if others are gone.
            with contextlib.suppress(LostProcessError):
                self.any(True, device)
            raise
        if self.any(False, device):
            raise NymlinkError("another process of this training failed: see the error message of that process")


SINGLE: Final = Processes()


@contextlib.contextmanager
def process_group(device: torch.device) -> Iterator[Processes]:
    """Connect the processes that ``torchrun`` started. Without ``torchrun``, yield a single process."""
    if process_count() == 1:
        yield SINGLE
        return
    if device.type == "cuda":
        torch.cuda.set_device(device)
    with _exchange():
        store, rank, count = next(iter(rendezvous("env://")))
        backend = "nccl" if device.type == "cuda" else "gloo"
        dist.init_process_group(backend, store=store, rank=rank, world_size=count, timeout=_TIMEOUT)
    try:
        with heartbeat(store, rank, count):
            yield Processes(rank, count)
    finally:
        dist.destroy_process_group()


@contextlib.contextmanager
def _exchange() -> Iterator[None]:
    """Turn torch's errors of an exchange into :class:`LostProcessError`."""
    try:
        yield
    except RuntimeError as error:
        reason = str(error).partition("\n")[0].rpartition(".cc:")[2].partition("] ")[2].partition(". ")[0]
        reason = reason or type(error).__name__
        raise LostProcessError(
            f"another process of this training ended or cannot be reached ({reason}): see its own message; {LOST}"
        ) from error


def process_count() -> int:
    """Return the number of processes that ``torchrun`` started; 1 without it."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def local_rank() -> int:
    """Return the number of this process among those on its machine."""
    return int(os.environ.get("LOCAL_RANK", "0"))
