"""The order of candidates before it was learned: a log-linear sum of context, retrieval and document.

Kept to be compared with. By itself a mention means candidate c with probability p(c) ∝ exp(context · s + retrieval
· r), where s is the score of the context and r log(0.001 + the ranker's probability); candidates are ordered by
log p(c) + document · log(0.01 + e(c)), where e(c) is the highest p(c) of the other mentions of the type in the
document. The weight of the context is fitted by likelihood, the other two by Acc@1 on a grid.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt
from scipy.special import log_softmax

from nymlink.rerank.scorer import CONTEXT, document_support

if TYPE_CHECKING:
    from nymlink.core.store.arrays import Bools
    from nymlink.rerank.scorer import CandidatePool
    from nymlink.train.ranking.fit_reranking import LabelledLines

Floats = npt.NDArray[np.float64]

CONTEXTS: Final = tuple(2.0**power for power in np.arange(-6, 7.5, 0.5))
RETRIEVALS: Final = (0.0, *(2.0**power for power in np.arange(-1, 8.5, 0.5)))
DOCUMENTS: Final = (0.0, *(2.0**power for power in np.arange(-4, 1.5, 0.5)))
"""The grid of weights."""


def scores(data: LabelledLines, learned_from: Bools, *, document: bool) -> Floats:
    """Fit the weights to some lines, and score the candidates of all: float64 (M, k).

    Args:
        data: lines of candidates.
        learned_from: bool (M): lines to fit the weights to; whole documents.
        document: whether the other mentions of the document count.
    """
    pool = data.pool
    informative = learned_from & data.informative

    def likelihood(weight: float) -> float:
        own = _own(pool, weight, 0.0)[informative]
        right = np.where(data.right[informative], own, -np.inf)
        return float(np.logaddexp.reduce(right, axis=1).sum())

    context = max(CONTEXTS, key=lambda weight: (likelihood(weight), -weight))
    owners = np.unique(data.owner[learned_from & (data.owner >= 0)])

    def total(retrieval: float, weight: float) -> Floats:
        own = _own(pool, context, retrieval)
        support = document_support(pool.concepts, pool.groups, np.exp(own))
        return np.asarray(own + weight * np.log(0.01 + support))

    def accuracy(weights: tuple[float, float]) -> tuple[float, float, float]:
        retrieval, weight = weights
        return float(data.correct(total(retrieval, weight))[owners].mean()), -weight, -retrieval

    grid = list(product(RETRIEVALS, DOCUMENTS if document else (0.0,)))
    return total(*max(grid, key=accuracy))


def _own(pool: CandidatePool, context: float, retrieval: float) -> Floats:
    """Compute the log-probabilities of candidates without the document."""
    ranked = np.log(0.001 + np.nan_to_num(pool.known["ranked"]))
    own = context * np.nan_to_num(pool.known[CONTEXT]) + retrieval * ranked
    found: Floats = log_softmax(np.where(pool.valid, own, -np.inf), axis=1)
    return found
