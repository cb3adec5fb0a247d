"""Encode names in batches, and count truncated names."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from nymlink.core.computing import prefetch
from nymlink.core.errors import InputError, NymlinkError
from nymlink.core.problems import CollectedCounts
from nymlink.core.store.arrays import Vectors
from nymlink.encode.backend import Network
from nymlink.encode.model.token_batches import Ids, Rows, Tokens, plan_batches, tokenise

if TYPE_CHECKING:
    from tokenizers import Tokenizer


@dataclass(slots=True)
class TruncationCounts(CollectedCounts):
    """Counts of encoded names and of truncated names.

    Attributes:
        truncated: number of names with more tokens than the encoder takes.
        names: number of encoded names.
        max_length: most tokens of a name.
    """

    truncated: int = 0
    names: int = 0
    max_length: int = 0

    def _add(self, other: Self) -> None:
        self.truncated += other.truncated
        self.names += other.names
        self.max_length = other.max_length

    def _message(self) -> str | None:
        if not self.truncated:
            return None
        return (
            f"{self.truncated:,} of {self.names:,} names are longer than {self.max_length} tokens and were cut "
            "(max_length)"
        )


_CHUNK: Final = 4
"""Number of names tokenised and sorted together for each token of a batch, so that most batches are full."""


class Batches:
    """Encodes names batch by batch. It can be iterated only once.

    Args:
        names: N distinct names.
        network: token ids → vectors.
        tokenizer: names → token ids.
        uninformative: special and unknown tokens (see
            :func:`~nymlink.encode.model.tokenizer.uninformative_tokens`).
        batch_tokens: number of tokens in a batch. It is lowered when memory runs out.

    Attributes:
        truncated: number of truncated names so far.
    """

    def __init__(
        self,
        names: Sequence[str],
        network: Network,
        tokenizer: Tokenizer,
        *,
        uninformative: Collection[int],
        batch_tokens: int,
    ) -> None:
        self.truncated = 0
        self._names = names
        self._network = network
        self._tokenizer = tokenizer
        self._uninformative = uninformative
        self._batch_tokens = batch_tokens

    def __iter__(self) -> Iterator[tuple[Rows, Vectors]]:
        """Yield rows of names, int64 (B), and their vectors, float32 (B, D).

        Names that have only unknown tokens are left out.

        Raises:
            NymlinkError: a single name does not fit into memory.
            InputError: the network gives vectors that are not numbers.
        """
        size = _CHUNK * self._batch_tokens
        starts = range(0, len(self._names), size)
        chunks = (self._names[start : start + size] for start in starts)
        for start, tokens in zip(starts, prefetch(self._tokenise, chunks), strict=True):
            self.truncated += tokens.truncated
            informative = tokens.informative(self._uninformative)
            lengths = tokens.lengths[informative]
            planned = plan_batches(lengths, budget=self._batch_tokens, padding=self._network.padding)
            batches = [informative[batch] for batch in planned]
            for rows, vectors in zip(batches, self._encoded(tokens, batches), strict=True):
                yield start + rows, vectors

    def _tokenise(self, names: Sequence[str]) -> Tokens:
        return tokenise(self._tokenizer, names)

    def _encoded(self, tokens: Tokens, batches: Sequence[Rows]) -> Iterator[Vectors]:
        """Encode batches in their order, as many at once as is fastest for the network."""
        at_once = self._network.at_once
        if at_once == 1:
            return map(partial(self._vectors, tokens), batches)
        return prefetch(partial(self._vectors, tokens), batches, ahead=at_once, threads=at_once)

    def _vectors(self, tokens: Tokens, rows: Rows) -> Vectors:
        """Encode some names. If memory does not suffice, encode them in two halves."""
        ids, mask = tokens.padded(rows, pad_id=self._network.pad_id)
        if len(rows) == 1 or ids.size <= self._batch_tokens:
            vectors = self._try_vectors(ids, mask)
            if vectors is not None:
                return vectors
        half = len(rows) // 2
        return np.concatenate([self._vectors(tokens, part) for part in (rows[:half], rows[half:])])

    def _try_vectors(self, ids: Ids, mask: Ids) -> Vectors | None:
        """Run the network.

        If memory does not suffice, return ``None``, and make all later batches half as large.
        """
        try:
            vectors = self._network.vectors(ids, mask)
        except MemoryError as error:
            if len(ids) == 1:
                raise NymlinkError(
                    f"out of memory on {self._network.device}: a name of {ids.shape[1]} tokens does not fit: "
                    "free memory, choose another device, or lower max_length"
                ) from error
            self._batch_tokens = ids.size // 2
            return None
        if not np.isfinite(vectors).all():
            raise InputError(
                f"the model gives vectors that are not numbers in {self._network.precision}: "
                "its weights are damaged, or it needs the precision fp32"
            )
        return vectors
