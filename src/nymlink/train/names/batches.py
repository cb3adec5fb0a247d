"""Batches of names, ready to encode, from pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nymlink.core.store.arrays import Ints
from nymlink.encode.model.tokens import Tokens, tokenise
from nymlink.pairs.sequence import PairSequence
from nymlink.train.engine.distributed import SINGLE, Processes

if TYPE_CHECKING:
    from tokenizers import Tokenizer


@dataclass(frozen=True, slots=True)
class NameBatch:
    """The names of B pairs: R = 2 B rows, the left name of each pair and then the right name of each.

    A name that is there more than once is encoded once. Each process encodes some of the U distinct names; all of
    them know what the rows of the whole batch are.

    Attributes:
        labels: int64 (R): equal numbers are names of one concept.
        names: int64 (R): which of the distinct names a row is, those of process 0 counted first.
        counts: how many distinct names each process encodes, U altogether.
        tokens: those that this process encodes.
        place: where the batch comes from, for messages.
    """

    labels: Ints
    names: Ints
    counts: tuple[int, ...]
    tokens: Tokens
    place: str

    @property
    def pairs(self) -> int:
        """B."""
        return len(self.labels) // 2

    def __str__(self) -> str:
        return self.place


class NameBatches:
    """Cuts a sequence of pairs into batches.

    Args:
        pairs: where they come from.
        size: pairs in a batch, over all processes; the last one of an epoch may have fewer.
        tokenizer: set to cut names.
        processes: which share of the names to tokenise.
    """

    def __init__(
        self, pairs: PairSequence, *, size: int, tokenizer: Tokenizer, processes: Processes = SINGLE
    ) -> None:
        self._pairs = pairs
        self._size = size
        self._tokenizer = tokenizer
        self._processes = processes

    def __len__(self) -> int:
        """The number of batches in an epoch."""
        return -(-len(self._pairs) // self._size)

    def batch(self, number: int, *, epoch: int) -> NameBatch:
        """A batch of an epoch, the same whenever it is asked for."""
        start = number * self._size
        stop = min(start + self._size, len(self._pairs))
        pairs = self._pairs.stretch(start, stop, epoch=epoch)
        _, labels = np.unique(pairs.concepts, return_inverse=True)
        distinct: dict[str, int] = {}
        rows = [distinct.setdefault(name, len(distinct)) for name in (*pairs.left, *pairs.right)]
        shares = _shares(list(distinct), self._processes.count)
        order = np.argsort(np.concatenate(shares))
        own = list(distinct)
        return NameBatch(
            labels=np.concatenate([labels, labels]),
            names=order[rows],
            counts=tuple(map(len, shares)),
            tokens=tokenise(self._tokenizer, [own[at] for at in shares[self._processes.rank].tolist()]),
            place=f"epoch {epoch + 1}, pairs {start + 1:,} to {stop:,} of {len(self._pairs):,}",
        )


def _shares(names: Sequence[str], processes: int) -> list[Ints]:
    """Which names each process encodes: as many short and long ones as the others."""
    by_length = np.argsort([len(name) for name in names], kind="stable")
    return [by_length[rank::processes] for rank in range(processes)]
