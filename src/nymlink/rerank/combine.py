"""How probable each candidate of a mention is: by its context, by the index, and by the rest of its document.

A log-linear model. On its own, a mention means each of its candidates with a probability in proportion to
``exp(context · s + retrieval · r)``, where s is the score of the context and r that of the index. To the logarithm
of this comes ``document · log(floor + e)``, where e is the highest probability with which another mention of the
same type in the same document means that concept, on its own: what a document says once it is likely to say again.
A mention without a context has an s of 0: it says what the index says.
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
"""So that a concept that no other mention means is less likely, not impossible."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """What each piece of evidence counts. By default the order is that of the context alone.

    Attributes:
        context: log-odds of one unit of the context's score; more than 0.
        retrieval: log-odds of one unit of the index's score; 0 leaves it out.
        document: what the other mentions of the document count; 0 leaves them out.

    Raises:
        InputError: a number is not what it must be.
    """

    context: float = 1.0
    retrieval: float = 0.0
    document: float = 0.0

    def __post_init__(self) -> None:
        for name, value in self.to_dict().items():
            least = "more than 0" if name == "context" else "at least 0"
            if not isfinite(value) or value < 0 or (name == "context" and value == 0):
                raise InputError(f"the weight {name} must be {least} and finite, not {value}")

    def to_dict(self) -> dict[str, float]:
        return asdict(self)


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """M mentions with at most k candidates each, those of the index in its order; each at least one.

    Attributes:
        concepts: int64 (M, k): rows of the vocabulary, :data:`~nymlink.index.fusion.hits.NONE` after the last.
        context: float64 (M, k): scores of the context; 0 for a mention without one that can be used.
        retrieval: float64 (M, k): scores of the index.
        groups: int64 (M): mentions of one group are of one type in one document, and inform each other.
    """

    concepts: Ints
    context: Floats
    retrieval: Floats
    groups: Ints


def joined(pools: Sequence[Pool]) -> Pool:
    """The mentions of several pools as one; those of different pools do not inform each other."""
    width = max(pool.concepts.shape[1] for pool in pools)
    starts = np.cumsum([0, *(pool.groups.max(initial=-1) + 1 for pool in pools[:-1])])

    def padded(values: Sequence[npt.NDArray[Any]], missing: int) -> npt.NDArray[Any]:
        return np.concatenate(
            [np.pad(one, ((0, 0), (0, width - one.shape[1])), constant_values=missing) for one in values]
        )

    return Pool(
        padded([pool.concepts for pool in pools], NONE),
        padded([pool.context for pool in pools], 0),
        padded([pool.retrieval for pool in pools], 0),
        np.concatenate([pool.groups + start for pool, start in zip(pools, starts, strict=True)]),
    )


def log_probabilities(pool: Pool, weights: Weights) -> Floats:
    """What each mention means on its own: float64 (M, k), -inf after the last candidate."""
    scores = weights.context * pool.context + weights.retrieval * pool.retrieval
    found: Floats = log_softmax(np.where(pool.concepts == NONE, -np.inf, scores), axis=1)
    return found


def elsewhere(pool: Pool, own: Floats) -> Floats:
    """For each candidate the highest probability that another mention of its group gives the same concept.

    Args:
        pool: the mentions.
        own: float64 (M, k): :func:`log_probabilities`.

    Returns:
        float64 (M, k), 0 to 1: 0 where no other mention has that candidate.
    """
    real = pool.concepts != NONE
    concepts, values = pool.concepts[real], np.exp(own[real])
    keys = pool.groups[np.nonzero(real)[0]] * (concepts.max(initial=0) + 1) + concepts
    # Of each concept of a group the two highest: the second is what all others tell the first.
    order = np.lexsort((-values, keys))
    keys, values = keys[order], values[order]
    first = np.diff(keys, prepend=-1) != 0
    highest = np.flatnonzero(first)
    shared = np.flatnonzero(~np.append(first, True)[highest + 1])
    second = np.zeros(len(highest))
    second[shared] = values[highest[shared] + 1]
    concept = np.cumsum(first) - 1
    found = np.empty(len(values))
    found[order] = np.where(first, second[concept], values[highest][concept])
    result = np.zeros(pool.concepts.shape)
    result[real] = found
    return result


def totals(own: Floats, heard: Floats, weights: Weights) -> Floats:
    """What candidates are ordered by, larger is better: float64 (M, k), -inf after the last.

    Args:
        own: float64 (M, k): :func:`log_probabilities`.
        heard: float64 (M, k): what :func:`elsewhere` makes of them.
        weights: what the document counts.
    """
    return own + weights.document * np.log(_FLOOR + heard)
