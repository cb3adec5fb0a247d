"""Data-parallel training by several processes on one machine or on many, started by ``torchrun``.

A batch is the same for any number of processes. Each process encodes its share of the names, gathers the vectors
of all processes, computes the loss of the whole batch with its gradient to every vector, and propagates the part
that belongs to its own names. The sum of the processes' gradients is then the gradient that a single process
computes: negatives come from the whole batch, and no gradient is sent through the gathering.
"""

from __future__ import annotations

import contextlib
import os
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.rendezvous import rendezvous

from nymlink.core.errors import InputError, NymlinkError
from nymlink.core.store.digests import json_digest
from nymlink.train.engine.heartbeat import LOST, heartbeat

_TIMEOUT: Final = timedelta(days=1)
"""Time that processes wait for the first one, which alone evaluates. Where one dies, the others end at once or, if
it closes no connection, after some heartbeats."""


class LostProcessError(NymlinkError):
    """Another process of the training ended, or cannot be reached."""


@dataclass(frozen=True, slots=True)
class Processes:
    """The processes of a training.

    Attributes:
        rank: the number of this process, from 0; process 0 writes all files.
        count: the number of processes.
    """

    rank: int = 0
    count: int = 1

    @property
    def first(self) -> bool:
        """Whether this is process 0, which evaluates and writes."""
        return self.rank == 0

    def gather(self, vectors: Tensor, counts: Sequence[int]) -> Tensor:
        """Gather the vectors of all processes, those of process 0 first, without a graph.

        Args:
            vectors: (n, D): the vectors of this process; n is ``counts[rank]``.
            counts: the number of vectors of each process.

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
            if parameter.grad is None:  # a process whose share of a small batch is empty
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
        """Check that each process has the values of process 0, where machines may have different files.

        Args:
            values: name → JSON value; the same names in each process.
            device: the device that numbers are exchanged by.

        Raises:
            InputError: a value differs.
            NymlinkError: one differs in another process.
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
        """Raise in every process if one of them raises within the block, in which nothing may be exchanged.

        Raises:
            NymlinkError: another process failed; its own error says why.
        """
        try:
            yield
        except BaseException:
            # Its own error is the one to be seen, whoever is gone.
            with contextlib.suppress(LostProcessError):
                self.any(True, device)
            raise
        if self.any(False, device):
            raise NymlinkError("another process of this training failed: see the error message of that process")


SINGLE: Final = Processes()
"""A single process."""


@contextlib.contextmanager
def process_group(device: torch.device) -> Iterator[Processes]:
    """Connect the processes that ``torchrun`` started; a single process without ``torchrun``."""
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
    """Turn errors of an exchange between processes into one that says what to do.

    Raises:
        LostProcessError: another process ended, or cannot be reached.
    """
    try:
        yield
    except RuntimeError as error:
        reason = str(error).partition("\n")[0].rpartition(".cc:")[2].partition("] ")[2].partition(". ")[0]
        reason = reason or type(error).__name__
        raise LostProcessError(
            f"another process of this training ended, or cannot be reached ({reason}): its own message says why; "
            f"{LOST}"
        ) from error


def process_count() -> int:
    """Return the number of processes that ``torchrun`` started; 1 without it."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def local_rank() -> int:
    """Return the number of this process among those on its machine."""
    return int(os.environ.get("LOCAL_RANK", "0"))
