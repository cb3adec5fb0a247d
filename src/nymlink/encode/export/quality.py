"""How well an encoder finds concepts by synonyms: what a coarser precision must not spoil."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from nymlink.core.errors import InputError
from nymlink.core.store.arrays import Vectors
from nymlink.text.normalise import normalise
from nymlink.vocabulary.vocabulary import Vocabulary

_NAMES: Final = 20_000
_FEWEST: Final = 200
"""Queries below which half a per cent of them is not even one."""

_BLOCK: Final = 500


@dataclass(frozen=True, slots=True)
class Quality:
    """What int8 costs.

    Attributes:
        queries: how many names were looked for, each among all others of a :class:`Sample`.
        recall_fp32: recall@1 of the encoder in fp32.
        recall_int8: recall@1 of it in int8.
    """

    queries: int
    recall_fp32: float
    recall_int8: float

    @property
    def drop(self) -> float:
        """The recall@1 lost."""
        return self.recall_fp32 - self.recall_int8

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Sample:
    """Names of a vocabulary: those with a synonym are each looked for among all others.

    Attributes:
        names: N names, no two of the same normal form.
        concepts: int64 (N): the row of each name's concept.
        queries: int64 (Q): the names with a synonym.
    """

    names: Sequence[str]
    concepts: npt.NDArray[np.int64]
    queries: npt.NDArray[np.int64]

    @classmethod
    def of(cls, vocabulary: Vocabulary, *, seed: int = 0) -> Sample:
        """All names of concepts drawn at random, first of those that have several.

        Raises:
            InputError: the vocabulary has too few concepts with several names.
        """
        columns = vocabulary.columns
        drawn = np.random.default_rng(seed).permutation(len(vocabulary))
        drawn = drawn[~columns.concepts["obsolete"].to_numpy()[drawn]]
        several = np.diff(columns.name_offsets)[drawn] > 1
        seen: set[str] = set()
        names: list[str] = []
        concepts: list[int] = []
        for row in chain(drawn[several].tolist(), drawn[~several].tolist()):
            start, end = columns.name_offsets[row : row + 2].tolist()
            for name in columns.names["text"][start:end].to_pylist():
                if normalise(name) not in seen:
                    seen.add(normalise(name))
                    names.append(name)
                    concepts.append(row)
            if len(names) >= _NAMES:
                break
        of = np.array(concepts, np.int64)
        queries = np.flatnonzero(np.bincount(of, minlength=1)[of] > 1)
        if len(queries) < _FEWEST:
            raise InputError(
                f"the vocabulary has {len(queries)} names with a synonym; to say how good an encoder is takes "
                f"{_FEWEST}: choose a larger one"
            )
        return cls(names, of, queries)

    def recall(self, vectors: Vectors) -> float:
        """The share of queries whose nearest other name is of the same concept.

        Args:
            vectors: float32 (N, D): unit vectors of the names.
        """
        found = 0
        for start in range(0, len(self.queries), _BLOCK):
            queries = self.queries[start : start + _BLOCK]
            similar = vectors[queries] @ vectors.T
            similar[np.arange(len(queries)), queries] = -np.inf
            found += int(np.count_nonzero(self.concepts[similar.argmax(1)] == self.concepts[queries]))
        return found / len(self.queries)
