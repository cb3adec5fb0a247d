"""What a training takes its pairs from, whether they are computed, in a file, or in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from nymlink.pairs.pairs import Pairs


@dataclass(frozen=True, slots=True)
class NamedPairs:
    """Some pairs, spelt out.

    Attributes:
        concepts: (n): what tells the concept of each pair from others, integers or texts.
        left: one name of each.
        right: the other name of each.
    """

    concepts: npt.NDArray[Any]
    left: list[str]
    right: list[str]


class PairSequence(Protocol):
    """Numbered pairs in a shuffled order that differs from epoch to epoch; any stretch of it can be asked for."""

    def __len__(self) -> int:
        """The number of pairs."""
        ...

    def stretch(self, start: int, stop: int, *, epoch: int) -> NamedPairs:
        """The pairs from ``start`` to before ``stop`` in the order of an epoch."""
        ...


class VocabularyPairs:
    """The synonym pairs of a vocabulary as a sequence."""

    def __init__(self, pairs: Pairs) -> None:
        self._pairs = pairs

    def __len__(self) -> int:
        return len(self._pairs)

    def stretch(self, start: int, stop: int, *, epoch: int) -> NamedPairs:
        concepts, left, right = self._pairs.rows(start, stop, epoch=epoch)
        names = self._pairs.texts(np.concatenate([left, right]))
        return NamedPairs(concepts, names[: len(left)], names[len(left) :])
