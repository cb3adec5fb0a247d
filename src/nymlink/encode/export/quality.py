"""Measuring how well an encoder finds concepts by synonyms, in fp32 and int8."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from nymlink.core.errors import InputError
from nymlink.core.store.arrays import Vectors
from nymlink.text.normalisation.normalise import normalise
from nymlink.vocabulary.vocabulary import Vocabulary

_NAMES: Final = 20_000
_FEWEST: Final = 200
"""With fewer queries, half a per cent of them would be less than one."""

_BLOCK: Final = 500


@dataclass(frozen=True, slots=True)
class Int8Quality:
    """Recall@1 of an encoder in fp32 and in int8.

    Attributes:
        queries: how many names were searched, each among all others of a :class:`SynonymSample`.
        recall_fp32: recall@1 in fp32, between 0 and 1.
        recall_int8: recall@1 in int8.
    """

    queries: int
    recall_fp32: float
    recall_int8: float

    @property
    def drop(self) -> float:
        """Recall@1 lost by int8."""
        # Rounded, since 0.79 - 0.785 is more than 0.005.
        return round(self.recall_fp32 - self.recall_int8, 9)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class SynonymSample:
    """Names of a vocabulary, of which those with a synonym are searched among all others.

    Attributes:
        names: N names, no two of the same normal form.
        concepts: int64 (N): the row of each name's concept.
        queries: int64 (Q): the rows of names with a synonym.
    """

    names: Sequence[str]
    concepts: npt.NDArray[np.int64]
    queries: npt.NDArray[np.int64]

    @classmethod
    def of(cls, vocabulary: Vocabulary, *, seed: int = 0) -> SynonymSample:
        """Draw concepts at random, those with several names first, and take all their names.

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
        concept_of = np.array(concepts, np.int64)
        queries = np.flatnonzero(np.bincount(concept_of, minlength=1)[concept_of] > 1)
        if len(queries) < _FEWEST:
            raise InputError(
                f"the vocabulary has {len(queries)} names with a synonym, and measuring an encoder needs at least "
                f"{_FEWEST}: choose a larger one"
            )
        return cls(names, concept_of, queries)

    def recall(self, vectors: Vectors) -> float:
        """Compute recall@1: the share of queries whose nearest other name is of the same concept.

        Args:
            vectors: float32 (N, D): unit vectors of the names.
        """
        hits = 0
        for start in range(0, len(self.queries), _BLOCK):
            queries = self.queries[start : start + _BLOCK]
            cosines = vectors[queries] @ vectors.T
            cosines[np.arange(len(queries)), queries] = -np.inf
            hits += int(np.count_nonzero(self.concepts[cosines.argmax(1)] == self.concepts[queries]))
        return hits / len(self.queries)
