"""Several processes that learn from one batch together, started by ``torchrun``.

A batch is the same whatever the number of processes. Each encodes its share of the names; all of them gather all
vectors, compute the loss of the whole batch with its gradient to every vector, and send back the part that belongs
to their own names. The sum of what then arrives at the parameters is the gradient that one process would have
computed: negatives are found in the whole batch, and no gradient has to cross from one process to another.
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

_PATIENCE: Final = timedelta(days=1)
"""How long processes wait for the first one, which alone measures. Where one dies, torchrun ends the others."""


@dataclass(frozen=True, slots=True)
class Processes:
    """The processes of a training.

    Attributes:
        rank: this one's number, from 0; number 0 writes what is written.
        count: how many there are.
    """

    rank: int = 0
    count: int = 1

    @property
    def first(self) -> bool:
        """Whether this is the process that writes."""
        return self.rank == 0

    def gather(self, vectors: Tensor, counts: Sequence[int]) -> Tensor:
        """The vectors of all processes, those of process 0 first; without a graph.

        Args:
            vectors: (n, D): this process's; n is ``counts[rank]``.
            counts: how many each process has.

        Returns:
            (sum of counts, D).
        """
        vectors = vectors.detach()
        if self.count == 1:
            return vectors
        # All must send as much: what is missing is filled.
        padded = vectors.new_zeros(max(counts), vectors.shape[1])
        padded[: len(vectors)] = vectors
        received = [torch.empty_like(padded) for _ in counts]
        dist.all_gather(received, padded)
        return torch.cat([part[:count] for part, count in zip(received, counts, strict=True)])

    def add_up(self, parameters: Iterable[nn.Parameter]) -> None:
        """Replace the gradients of parameters by their sums over all processes."""
        if self.count == 1:
            return
        sent = []
        for parameter in parameters:
            if parameter.grad is None:  # a process whose share of a small batch is empty
                parameter.grad = torch.zeros_like(parameter)
            sent.append(dist.all_reduce(parameter.grad, async_op=True))
        for one in sent:
            one.wait()

    def total(self, number: int, device: torch.device) -> int:
        """The sum of the numbers that the processes have."""
        if self.count == 1:
            return number
        told = torch.tensor([number], device=device)
        dist.all_reduce(told)
        return int(told.item())

    def any(self, holds: bool, device: torch.device) -> bool:
        """Whether something holds in any process."""
        return self.total(int(holds), device) > 0

    def agree(self, number: int, device: torch.device) -> int:
        """The number that the first process has."""
        if self.count == 1:
            return number
        told = torch.tensor([number], device=device)
        dist.broadcast(told, 0)
        return int(told.item())

    @contextlib.contextmanager
    def as_one(self, device: torch.device) -> Iterator[None]:
        """Within it, where nothing is exchanged, an error of one process ends all of them.

        Raises:
            NymlinkError: another process failed, and says why.
        """
        try:
            yield
        except BaseException:
            self.any(True, device)
            raise
        if self.any(False, device):
            raise NymlinkError("another process of this training failed; it says why")


SINGLE: Final = Processes()
"""One process by itself."""


@contextlib.contextmanager
def joined(device: torch.device) -> Iterator[Processes]:
    """The processes that ``torchrun`` started, connected; a single one when it did not."""
    if process_count() == 1:
        yield SINGLE
        return
    if device.type == "cuda":
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo", timeout=_PATIENCE)
    try:
        yield Processes(dist.get_rank(), dist.get_world_size())
    finally:
        dist.destroy_process_group()


def process_count() -> int:
    """How many processes ``torchrun`` started; 1 when it did not."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def local_rank() -> int:
    """This process's number among those on its machine."""
    return int(os.environ.get("LOCAL_RANK", "0"))
