"""The interface between re-rankers and scorers: mentions with candidates, and scores of the candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from nymlink.core.store.arrays import Bools, Ints
from nymlink.index.hits import NONE, Scores
from nymlink.rerank.passages import Passage

DUAL: Final = "reranker"
CROSS: Final = "cross-encoder"
VERSIONS: Final = {DUAL: 2, CROSS: 2}
"""Kind of re-ranker → version of the format of its folder."""


DEFAULT_CANDIDATES: Final = 64
"""The default number of candidates of a mention, as in Le & Nguyen (2023)."""


class ContextScorer(Protocol):
    """Scores concepts of a vocabulary as candidates of mentions in context."""

    def scores(self, passages: Sequence[Passage], candidates: Sequence[Sequence[int]]) -> list[Scores]:
        """Score the candidates of N mentions: an array float32 (candidates) for each. A larger score is better.

        Args:
            passages: the mentions in context.
            candidates: concept rows of each mention, at least one.
        """
        ...


Floats = npt.NDArray[np.float64]

CONTEXT: Final = "context"
"""Name of the score part with the score of the context."""


@dataclass(frozen=True, slots=True, eq=False)
class CandidatePool:
    """M mentions with 1 to k candidates each, in the order of the index.

    Attributes:
        concepts: int64 (M, k): concept rows. :data:`~nymlink.index.hits.NONE` fills the places after the last
            candidate.
        known: name of the evidence → float64 (M, k), NaN if unknown. The evidence is ``score``, the score parts
            (including ``ranked``), and :data:`CONTEXT`.
        groups: int64 (M): the group of each mention. The mentions of one type in one document are a group, and are
            evidence for each other.
        mention_types: the type of each mention; "" if it has none.
        concept_types: concept row → its semantic types; only for concepts that have types.
    """

    concepts: Ints
    known: Mapping[str, Floats]
    groups: Ints
    mention_types: tuple[str, ...]
    concept_types: Mapping[int, tuple[str, ...]]

    @property
    def valid(self) -> Bools:
        """Whether there is a candidate at each place: bool (M, k)."""
        valid: Bools = self.concepts != NONE
        return valid

    @classmethod
    def joined(cls, pools: Sequence[CandidatePool]) -> CandidatePool:
        """Join pools of different documents. Mentions of different pools stay in different groups."""
        width = max(pool.concepts.shape[1] for pool in pools)
        starts = np.cumsum([0, *(pool.groups.max(initial=-1) + 1 for pool in pools[:-1])])

        def padded(arrays: Sequence[npt.NDArray[Any]], fill: float) -> npt.NDArray[Any]:
            return np.concatenate(
                [np.pad(array, ((0, 0), (0, width - array.shape[1])), constant_values=fill) for array in arrays]
            )

        return cls(
            padded([pool.concepts for pool in pools], NONE),
            {name: padded([pool.known[name] for pool in pools], np.nan) for name in pools[0].known},
            np.concatenate([pool.groups + start for pool, start in zip(pools, starts, strict=True)]),
            tuple(type_ for pool in pools for type_ in pool.mention_types),
            {row: types for pool in pools for row, types in pool.concept_types.items()},
        )

    def chosen(self, which: Bools) -> CandidatePool:
        """Select mentions."""
        return CandidatePool(
            self.concepts[which],
            {name: values[which] for name, values in self.known.items()},
            self.groups[which],
            tuple(type_ for type_, wanted in zip(self.mention_types, which.tolist(), strict=True) if wanted),
            self.concept_types,
        )


def document_support(concepts: Ints, groups: Ints, chances: Floats) -> Floats:
    """For each candidate, find the highest chance that another mention of the group gives to its concept.

    Args:
        concepts: int64 (M, k): concept rows.
        groups: int64 (M): the group of each mention.
        chances: float64 (M, k): chance of each candidate of a mention, 0 to 1.

    Returns:
        float64 (M, k): 0 if no other mention of the group has the concept among its candidates.
    """
    real = concepts != NONE
    own, values = concepts[real], chances[real]
    keys = groups[np.nonzero(real)[0]] * (own.max(initial=0) + 1) + own
    # Find the two highest values of each concept in a group. The mention with the highest value gets the second
    # highest.
    order = np.lexsort((-values, keys))
    keys, values = keys[order], values[order]
    first = np.diff(keys, prepend=-1) != 0
    highest = np.flatnonzero(first)
    shared = np.flatnonzero(~np.append(first, True)[highest + 1])
    second = np.zeros(len(highest))
    second[shared] = values[highest[shared] + 1]
    concept = np.cumsum(first) - 1
    support = np.empty(len(values))
    support[order] = np.where(first, second[concept], values[highest][concept])
    result = np.zeros(concepts.shape)
    result[real] = support
    return result
