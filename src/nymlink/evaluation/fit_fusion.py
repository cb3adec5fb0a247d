"""Fit the weights of the searches of an index to a development corpus."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Final

import numpy as np

from nymlink.core.store.arrays import Bools
from nymlink.corpus.documents import Corpus
from nymlink.evaluation.evaluation import evaluate
from nymlink.evaluation.outcomes import DEPTH, Outcome, Ranks, accuracy
from nymlink.index.fusion import Fusion, weighted_sum
from nymlink.index.hits import NONE, Rows, Scores
from nymlink.index.index import Index
from nymlink.linking.linker import Linker

STEPS: Final = 20
"""Weights on the grid are multiples of 1 / 20."""


@dataclass(frozen=True, slots=True)
class Weighting:
    """The accuracies of one choice of weights.

    Attributes:
        fusion: the weights.
        acc_1: share of the mentions whose first name is right (by name, lenient: one of its concepts is gold).
        acc_5: share of the mentions with a right name among the first five.
    """

    fusion: Fusion
    acc_1: float
    acc_5: float


@dataclass(frozen=True, slots=True)
class FusionFit:
    """The result of fitting the weights of the searches.

    Attributes:
        mentions: the number of scored mentions.
        before: the weights that the index had.
        after: the best weights.
        tried: the number of weightings that were compared.
    """

    mentions: int
    before: Weighting
    after: Weighting
    tried: int


def fit_fusion(
    index: Index,
    corpus: Corpus,
    *,
    method: str | None = None,
    types: Collection[str] | None = None,
    language: str | None = None,
) -> FusionFit:
    """Find the weights of searches with which an index links the mentions of a corpus best.

    Each search runs once. Then all weights on a grid (multiples of 1 / 20 that sum to 1) are compared on the
    results. The best weights have the highest Acc@1 (by name, lenient). Ties are decided by Acc@5, then by the
    smallest distance from the present weights, because on few mentions many weights do equally well. Fit on
    training or development mentions, never on mentions of a final evaluation.

    Args:
        index: the index.
        corpus: documents with gold ids.
        method: the fusion, one of :data:`~nymlink.index.fusion.METHODS`; ``None`` for the present method. Another
            method starts from its default weights.
        types: score mentions of these types only.
        language: default language code of mentions; ``None`` if it is unknown, see
            :class:`~nymlink.linking.linker.Linker`.

    Raises:
        UnknownNameError: there is no such method.
        InputError: nothing is left to score; the message says why.
    """
    fusion = index.fusion if method in (None, index.fusion.method) else Fusion.of(index.search.parts, method)
    index = index.with_fusion(fusion)
    outcomes = evaluate(Linker(index, language=language), corpus, types=types).outcomes
    texts = list(dict.fromkeys(part for outcome in outcomes for part in outcome.query.parts))
    collected = index.search.collect(texts, DEPTH)
    places, starts = _places(texts, outcomes)
    values = {name: scores[places] for name, scores in collected.values.items()}
    rows = collected.rows[places]
    right = _right(index, outcomes, rows)

    def weighting(weights: Mapping[str, float]) -> Weighting:
        ranks = np.maximum.reduceat(_ranks(rows, weighted_sum(values, weights), right), starts)
        return Weighting(Fusion(fusion.method, weights), accuracy(ranks, 1), accuracy(ranks, 5))

    before = weighting(fusion.weights)
    tried = [before, *map(weighting, _grid(list(fusion.weights)))]
    after = max(tried, key=lambda result: (result.acc_1, result.acc_5, -_distance(result.fusion, fusion)))
    return FusionFit(len(outcomes), before, after, len(tried))


def _places(texts: Sequence[str], outcomes: Sequence[Outcome]) -> tuple[list[int], list[int]]:
    """Return for each part its place in ``texts``, and for each mention the number of its first part."""
    place = {text: number for number, text in enumerate(texts)}
    places = [place[part] for outcome in outcomes for part in outcome.query.parts]
    counts = [len(outcome.query.parts) for outcome in outcomes]
    return places, np.cumsum([0, *counts[:-1]]).tolist()


def _right(index: Index, outcomes: Sequence[Outcome], rows: Rows) -> Bools:
    """For the entries (P, m) of each part, tell whether they are names of a gold concept: bool (P, m)."""
    owners = index.vocabulary.columns.names["concept"].to_numpy()
    golds = [outcome.gold for outcome in outcomes for _ in outcome.query.parts]
    right = np.zeros(rows.shape, bool)
    known: dict[int, frozenset[int]] = {}
    for part, (gold, line) in enumerate(zip(golds, rows.tolist(), strict=True)):
        for place, row in enumerate(line):
            if row == NONE:
                continue
            if row not in known:
                known[row] = index.entries.concepts(row, owners)
            right[part, place] = not gold.isdisjoint(known[row])
    return right


def _ranks(rows: Rows, total: Scores, right: Bools) -> Ranks:
    """Find the rank of the first right entry of each part: float64 (P).

    Entries are ordered as in :func:`nymlink.index.hits.best`.
    """
    keys = np.where(rows == NONE, -np.inf, np.round(total.astype(np.float64), 6))
    best = np.where(right, keys, -np.inf)
    # Of entries with equal scores, the smallest row is first. Rows ascend, so argmax finds it.
    place = best.argmax(axis=1)[:, None]
    reached = np.take_along_axis(best, place, 1)
    ahead = (keys > reached) | ((keys == reached) & (np.arange(rows.shape[1]) < place))
    ranks = ahead.sum(axis=1).astype(np.float64)
    return np.where(right.any(axis=1) & (ranks < DEPTH), ranks, np.inf)


def _grid(names: Sequence[str]) -> Iterator[dict[str, float]]:
    """Yield all weights that are multiples of 1 / :data:`STEPS` and add up to 1."""
    for bars in combinations(range(STEPS + len(names) - 1), len(names) - 1):
        counts = [after - before - 1 for before, after in pairwise([-1, *bars, STEPS + len(names) - 1])]
        yield {name: count / STEPS for name, count in zip(names, counts, strict=True)}


def _distance(left: Fusion, right: Fusion) -> float:
    return sum((left.weights[name] - right.weights[name]) ** 2 for name in left.weights)
