"""A log-linear model of candidates: it combines the scores of context, index and document.

Without the document, the probability of a candidate is proportional to ``exp(context · s + retrieval · r)``, where
s is the score of the context and r that of the index. With the document, ``document · log(floor + e)`` is added to
the log-probability, where e is the highest probability of the same concept for another mention of the same type in
the same document: a concept that is mentioned once is likely to be mentioned again. A mention without context has
s =
    0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy.special import log_softmax

from nymlink.core.errors import InputError
from nymlink.core.store.arrays import Ints
from nymlink.index.fusion.hits import NONE

Floats = npt.NDArray[np.float64]

_FLOOR: Final = 0.01
"""Keeps a concept that no other mention has from becoming impossible."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceWeights:
    """The weights of the pieces of evidence. By default only the context counts.

    Attributes:
        context: weight of the context's score: log-odds of one unit of it; above 0.
        retrieval: weight of the index's score: log-odds of one unit of it; 0 for none.
        document: weight of the other mentions of the document; 0 for none.

    Raises:
        InputError: a weight is out of range.
    """

    context: float = 1.0
    retrieval: float = 0.0
    document: float = 0.0

    def __post_init__(self) -> None:
        for name, value in self.to_dict().items():
            expected = "above 0" if name == "context" else "at least 0"
            if not isfinite(value) or value < 0 or (name == "context" and value == 0):
                raise InputError(f"the weight {name} must be {expected} and finite, not {value}")

    def to_dict(self) -> dict[str, float]:
        return asdict(self)


@dataclass(frozen=True, slots=True, eq=False)
class CandidatePool:
    """M mentions with 1 to k candidates each, in the order of the index.

    Attributes:
        concepts: int64 (M, k): concept rows, :data:`~nymlink.index.fusion.hits.NONE` after the last candidate.
        context: float64 (M, k): scores of the context; 0 for a mention without a usable context.
        retrieval: float64 (M, k): scores of the index.
        groups: int64 (M): the group of each mention: the mentions of one type in one document, which are evidence
            for each other.
    """

    concepts: Ints
    context: Floats
    retrieval: Floats
    groups: Ints


def join_pools(pools: Sequence[CandidatePool]) -> CandidatePool:
    """Join pools of different documents to one; mentions of different pools stay in different groups."""
    width = max(pool.concepts.shape[1] for pool in pools)
    starts = np.cumsum([0, *(pool.groups.max(initial=-1) + 1 for pool in pools[:-1])])

    def padded(arrays: Sequence[npt.NDArray[Any]], fill: int) -> npt.NDArray[Any]:
        return np.concatenate(
            [np.pad(array, ((0, 0), (0, width - array.shape[1])), constant_values=fill) for array in arrays]
        )

    return CandidatePool(
        padded([pool.concepts for pool in pools], NONE),
        padded([pool.context for pool in pools], 0),
        padded([pool.retrieval for pool in pools], 0),
        np.concatenate([pool.groups + start for pool, start in zip(pools, starts, strict=True)]),
    )


def log_probabilities(pool: CandidatePool, weights: EvidenceWeights) -> Floats:
    """Compute the candidates' log-probabilities by context and index: float64 (M, k), −inf after the last."""
    scores = weights.context * pool.context + weights.retrieval * pool.retrieval
    result: Floats = log_softmax(np.where(pool.concepts == NONE, -np.inf, scores), axis=1)
    return result


def document_support(pool: CandidatePool, own: Floats) -> Floats:
    """Compute the highest probability that another mention of the group gives to each candidate's concept.

    Args:
        pool: the mentions.
        own: float64 (M, k): the mentions' own :func:`log_probabilities`.

    Returns:
        float64 (M, k), 0 to 1: 0 where no other mention of the group has the concept among its candidates.
    """
    real = pool.concepts != NONE
    concepts, values = pool.concepts[real], np.exp(own[real])
    keys = pool.groups[np.nonzero(real)[0]] * (concepts.max(initial=0) + 1) + concepts
    # The two highest values of each concept in a group: a mention that has the highest is supported by the second.
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
    result = np.zeros(pool.concepts.shape)
    result[real] = support
    return result


def total_scores(own: Floats, support: Floats, weights: EvidenceWeights) -> Floats:
    """Compute the scores that candidates are ordered by: float64 (M, k), larger is better, −inf after the last.

    Args:
        own: float64 (M, k): :func:`log_probabilities`.
        support: float64 (M, k): :func:`document_support`.
        weights: the weight of the document.
    """
    return own + weights.document * np.log(_FLOOR + support)
