"""Token ids of names, and their batches."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from nymlink.core.errors import InputError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Ids = npt.NDArray[np.int64]
Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Tokens:
    """The token ids of N names, one after another.

    Attributes:
        ids: int32 (sum of lengths): the token ids, special tokens included.
        offsets: int64 (N + 1): name ``n`` is ``ids[offsets[n]:offsets[n + 1]]``.
        truncated: number of names that were truncated.
    """

    ids: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int64]
    truncated: int

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Number of tokens of each name: int64 (N)."""
        return np.diff(self.offsets)

    def informative(self, uninformative: Collection[int]) -> Rows:
        """Find the rows of the names that have a token which is not among the given ones: int64, ascending."""
        told = np.ones(len(self.ids), bool)
        # There are only a few, and comparing with each is faster than a search.
        for token in uninformative:
            told &= self.ids != token
        before = np.append(0, np.cumsum(told))[self.offsets]
        return np.flatnonzero(before[1:] > before[:-1])

    def padded(self, rows: Rows, *, pad_id: int) -> tuple[Ids, Ids]:
        """Pad the ids of some names to the length of the longest of them.

        Args:
            rows: int64 (B): the names.
            pad_id: the token id for padding.

        Returns:
            int64 (B, T): the ids; and int64 (B, T): 1 for a real token, 0 for padding.
        """
        starts, lengths = self.offsets[rows], self.offsets[rows + 1] - self.offsets[rows]
        columns = np.arange(lengths.max(initial=0))
        real = columns < lengths[:, None]
        positions = np.where(real, starts[:, None] + columns, 0)
        return np.where(real, self.ids[positions], pad_id).astype(np.int64), real.astype(np.int64)


def tokenise(tokenizer: Tokenizer, names: Sequence[str]) -> Tokens:
    """Tokenise names.

    They are truncated to the length that :func:`~nymlink.encode.model.tokenizer.load_tokenizer` has set.

    Raises:
        InputError: the tokenizer fails, for example by patterns of exponential cost.
    """
    try:
        encodings = tokenizer.encode_batch_fast([_without_surrogates(name) for name in names])
    # A panic of the tokenizers library is not an Exception, and has no public name. Its message may quote a text.
    except BaseException as error:
        if isinstance(error, (KeyboardInterrupt, SystemExit, MemoryError)):
            raise
        raise InputError(
            f"the tokenizer of the encoder fails ({type(error).__name__}): it is damaged, or its patterns take "
            "too long; fetch the model again"
        ) from error
    ids = [encoding.ids for encoding in encodings]
    lengths = np.fromiter(map(len, ids), np.int64, len(ids))
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    # Only names of the greatest length need a check, because truncated names have this length.
    longest = np.flatnonzero(lengths == lengths.max(initial=0)).tolist()
    truncated = sum(bool(encodings[at].overflowing) for at in longest)
    try:
        joined = np.fromiter(chain.from_iterable(ids), np.int32, offsets[-1])
    except OverflowError as error:
        raise InputError(
            f"the tokenizer of the encoder has a token of id {max(chain.from_iterable(ids)):,}, which no model "
            "has: fetch the model again"
        ) from error
    return Tokens(joined, offsets, truncated)


def plan_batches(lengths: npt.NDArray[np.int64], *, budget: int, padding: float = 0.0) -> Iterator[Rows]:
    """Group names of similar length into batches, the longest first.

    With the longest names first, a lack of memory is noticed at once.

    Args:
        lengths: int64 (N): tokens of each name.
        budget: most tokens in a batch, padding included. A batch has at least one name, even if it is longer.
        padding: largest share of padding in a batch. With 0, only names of equal length are in one batch.

    Yields:
        int64 (B): the names of a batch. Each name is in exactly one batch.
    """
    order = np.argsort(-lengths, kind="stable")
    descending = lengths[order].tolist()
    start, tokens = 0, 0
    for end, length in enumerate(descending):
        area = descending[start] * (end + 1 - start)
        if end > start and (area > budget or area - tokens - length > padding * area):
            yield order[start:end]
            start, tokens = end, 0
        tokens += length
    if len(order):
        yield order[start:]


def _without_surrogates(name: str) -> str:
    """Replace lone surrogates, which undecodable input has and the tokenizers library does not accept."""
    return name if name.isascii() else name.encode("utf-8", "replace").decode("utf-8")
