"""Batches of synonym pairs as tokenised names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nymlink.core.store.arrays import Ints
from nymlink.encode.model.tokens.token_batches import Tokens, tokenise
from nymlink.pairs.sequence import PairSequence
from nymlink.train.engine.distributed import SINGLE, Processes

if TYPE_CHECKING:
    from tokenizers import Tokenizer


@dataclass(frozen=True, slots=True)
class NameBatch:
    """The names of B pairs: R = 2 B rows, first the left names of all pairs, then their right names.

    Each of the U distinct names is encoded once. Each process encodes its share of them, and knows the rows of the
    whole batch.

    Attributes:
        labels: int64 (R): the concept of each row; equal numbers are one concept.
        groups: int64 (R): rows of one group are no negatives of each other; a concept is in one group.
        names: int64 (R): the number of each row's distinct name; those of process 0 come first.
        counts: the number of distinct names of each process; their sum is U.
        tokens: the distinct names of this process.
        place: where the batch's pairs come from, for messages.
    """

    labels: Ints
    groups: Ints
    names: Ints
    counts: tuple[int, ...]
    tokens: Tokens
    place: str

    @property
    def pairs(self) -> int:
        """B, the number of pairs."""
        return len(self.labels) // 2

    def __str__(self) -> str:
        return self.place


class NameBatches:
    """Cuts a sequence of pairs into batches.

    Args:
        pairs: the sequence of pairs.
        size: pairs in a batch, over all processes; the last batch of an epoch may have fewer.
        tokenizer: the tokenizer, set to truncate names.
        processes: this process, and the number of processes to share the names.
    """

    def __init__(
        self, pairs: PairSequence, *, size: int, tokenizer: Tokenizer, processes: Processes = SINGLE
    ) -> None:
        self._pairs = pairs
        self._size = size
        self._tokenizer = tokenizer
        self._processes = processes

    def __len__(self) -> int:
        """Count the batches of an epoch."""
        return -(-len(self._pairs) // self._size)

    def batch(self, number: int, *, epoch: int) -> NameBatch:
        """Make a batch of an epoch; it depends on these two numbers alone."""
        start = number * self._size
        stop = min(start + self._size, len(self._pairs))
        pairs = self._pairs.slice(start, stop, epoch=epoch)
        _, labels = np.unique(pairs.concepts, return_inverse=True)
        groups = labels if pairs.groups is None else pairs.groups
        distinct: dict[str, int] = {}
        rows = [distinct.setdefault(name, len(distinct)) for name in (*pairs.left, *pairs.right)]
        shares = _shares(list(distinct), self._processes.count)
        order = np.argsort(np.concatenate(shares))
        names = list(distinct)
        return NameBatch(
            labels=np.concatenate([labels, labels]),
            groups=np.concatenate([groups, groups]),
            names=order[rows],
            counts=tuple(map(len, shares)),
            tokens=tokenise(self._tokenizer, [names[row] for row in shares[self._processes.rank].tolist()]),
            place=f"epoch {epoch + 1}, pairs {start + 1:,} to {stop:,} of {len(self._pairs):,}",
        )


def _shares(names: Sequence[str], processes: int) -> list[Ints]:
    """Divide names between processes, so that each has as many short and long names as the others."""
    by_length = np.argsort([len(name) for name in names], kind="stable")
    return [by_length[rank::processes] for rank in range(processes)]
