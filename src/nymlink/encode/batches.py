"""The way of many names through a network: tokenised ahead, sorted by length, in batches."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from nymlink.core.errors import InputError, NymlinkError
from nymlink.core.prefetch import made_ahead
from nymlink.core.store.arrays import Vectors
from nymlink.encode.backends import Network
from nymlink.encode.model.tokens import Ids, Rows, Tokens, plan, tokenise

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_CHUNK: Final = 4
"""Names that are tokenised and sorted together, per token of a batch: enough for most batches to be full."""


class Batches:
    """Goes through names; iterated once.

    Args:
        names: N distinct names.
        network: what makes vectors of token ids.
        tokenizer: what makes token ids of names.
        silent: the tokens that say nothing (see :func:`~nymlink.encode.model.tokenizer.silent_tokens`).
        batch_tokens: how many tokens the network is given at once: fewer once memory does not suffice for them.

    Attributes:
        truncated: how many names were cut, of those gone through so far.
    """

    def __init__(
        self,
        names: Sequence[str],
        network: Network,
        tokenizer: Tokenizer,
        *,
        silent: Collection[int],
        batch_tokens: int,
    ) -> None:
        self.truncated = 0
        self._names = names
        self._network = network
        self._tokenizer = tokenizer
        self._silent = silent
        self._batch_tokens = batch_tokens

    def __iter__(self) -> Iterator[tuple[Rows, Vectors]]:
        """Yield some rows of the names and their vectors, until all have come of which a token says something.

        Raises:
            NymlinkError: a single name does not fit into memory.
            InputError: the network gives no numbers.
        """
        size = _CHUNK * self._batch_tokens
        starts = range(0, len(self._names), size)
        chunks = (self._names[start : start + size] for start in starts)
        for start, tokens in zip(starts, made_ahead(self._tokenise, chunks), strict=True):
            self.truncated += tokens.truncated
            own = tokens.saying(self._silent)
            for rows in plan(tokens.lengths[own], budget=self._batch_tokens, padding=self._network.padding):
                yield start + own[rows], self._vectors(tokens, own[rows])

    def _tokenise(self, names: Sequence[str]) -> Tokens:
        return tokenise(self._tokenizer, names)

    def _vectors(self, tokens: Tokens, rows: Rows) -> Vectors:
        """The vectors of some names, in halves where memory does not suffice for all at once."""
        ids, mask = tokens.padded(rows, pad_id=self._network.pad_id)
        if len(rows) == 1 or ids.size <= self._batch_tokens:
            vectors = self._tried(ids, mask)
            if vectors is not None:
                return vectors
        half = len(rows) // 2
        return np.concatenate([self._vectors(tokens, part) for part in (rows[:half], rows[half:])])

    def _tried(self, ids: Ids, mask: Ids) -> Vectors | None:
        """Vectors, or ``None`` where memory does not suffice: from then on batches are of half the tokens."""
        try:
            vectors = self._network.vectors(ids, mask)
        except MemoryError as error:
            if len(ids) == 1:
                raise NymlinkError(
                    f"out of memory on {self._network.device}: a name of {ids.shape[1]} tokens is too much: "
                    "free memory, choose another device, or lower max_length"
                ) from error
            self._batch_tokens = ids.size // 2
            return None
        if not np.isfinite(vectors).all():
            raise InputError(
                f"the model gives vectors that are no numbers in {self._network.precision}: "
                "its weights are damaged, or need the precision fp32"
            )
        return vectors
