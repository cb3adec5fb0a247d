"""The interface through which a training reads pairs: computed, from a file, or in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from nymlink.pairs.pairs import Pairs


@dataclass(frozen=True, slots=True)
class NamedPairs:
    """A batch of n pairs as text.

    Attributes:
        concepts: (n): identifiers of the concepts, integers or texts.
        left: the first name of each pair.
        right: the second name of each pair.
        groups: (n): pairs of one number have no negatives in each other; ``None``: only pairs of one concept.
    """

    concepts: npt.NDArray[Any]
    left: list[str]
    right: list[str]
    groups: npt.NDArray[Any] | None = None


class PairSequence(Protocol):
    """Numbered pairs in a shuffled order that differs in each epoch, with random access."""

    def __len__(self) -> int:
        """Count the pairs."""
        ...

    def slice(self, start: int, stop: int, *, epoch: int) -> NamedPairs:
        """Return the pairs ``start`` to ``stop - 1`` in the order of an epoch."""
        ...


class VocabularyPairs:
    """The synonym pairs of a vocabulary as a :class:`PairSequence`."""

    def __init__(self, pairs: Pairs) -> None:
        self._pairs = pairs

    def __len__(self) -> int:
        return len(self._pairs)

    def slice(self, start: int, stop: int, *, epoch: int) -> NamedPairs:
        concepts, left, right = self._pairs.rows(start, stop, epoch=epoch)
        names = self._pairs.texts(np.concatenate([left, right]))
        return NamedPairs(concepts, names[: len(left)], names[len(left) :])
