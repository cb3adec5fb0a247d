"""Data-parallel training by several processes, started by ``torchrun``.

A batch is the same for any number of processes. Each process encodes its share of the names, gathers the vectors
of all processes, computes the loss of the whole batch with its gradient to every vector, and propagates the part
that belongs to its own names. The sum of the processes' gradients is then the gradient that a single process
computes: negatives come from the whole batch, and no gradient is sent through the gathering.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import torch
import torch.distributed as dist
from torch import Tensor, nn

from nymlink.core.errors import NymlinkError

_TIMEOUT: Final = timedelta(days=1)
"""Time that processes wait for the first one, which alone evaluates. Where one dies, torchrun ends the others."""


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
            pending.append(dist.all_reduce(parameter.grad, async_op=True))
        for reduction in pending:
            reduction.wait()

    def total(self, number: int, device: torch.device) -> int:
        """Add up a number over all processes."""
        if self.count == 1:
            return number
        shared = torch.tensor([number], device=device)
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
        dist.broadcast(shared, 0)
        return int(shared.item())

    @contextlib.contextmanager
    def fail_together(self, device: torch.device) -> Iterator[None]:
        """Raise in every process if one of them raises within the block, in which nothing may be exchanged.

        Raises:
            NymlinkError: another process failed; its own error says why.
        """
        try:
            yield
        except BaseException:
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
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo", timeout=_TIMEOUT)
    try:
        yield Processes(dist.get_rank(), dist.get_world_size())
    finally:
        dist.destroy_process_group()


def process_count() -> int:
    """Return the number of processes that ``torchrun`` started; 1 without it."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def local_rank() -> int:
    """Return the number of this process among those on its machine."""
    return int(os.environ.get("LOCAL_RANK", "0"))
