"""Fitting the weights of an index's searches on a development corpus."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Final

import numpy as np

from nymlink.core.store.arrays import Bools
from nymlink.corpus.model import Corpus
from nymlink.evaluate.evaluation import evaluate
from nymlink.evaluate.metrics import Ranks, accuracy
from nymlink.evaluate.outcomes import DEPTH, Outcome
from nymlink.index.fusion.fusion import Fusion
from nymlink.index.fusion.hits import NONE, Rows, Scores
from nymlink.index.fusion.hybrid import total
from nymlink.index.index import Index

STEPS: Final = 20
"""Weights are multiples of a twentieth."""


@dataclass(frozen=True, slots=True)
class Weighting:
    """What some weights reach.

    Attributes:
        fusion: the weights.
        acc_1: share of the mentions whose first name is right (by name, lenient).
        acc_5: share of those with a right name among the first five.
    """

    fusion: Fusion
    acc_1: float
    acc_5: float


@dataclass(frozen=True, slots=True)
class Fit:
    """The weights that a corpus prefers.

    Attributes:
        mentions: how many were scored.
        before: what the index had.
        after: the best.
        tried: how many weightings were compared.
    """

    mentions: int
    before: Weighting
    after: Weighting
    tried: int


def fit(index: Index, corpus: Corpus, *, method: str | None = None, types: Collection[str] | None = None) -> Fit:
    """Find the weights by which an index links the mentions of a corpus best.

    Every part searches once; then all weights of a grid over the simplex are compared on what was found. Best is
    the highest Acc@1 (by name, lenient), then the highest Acc@5, then what is nearest to the weights one has: on
    few mentions many weights do equally well.

    Fit on training or development mentions, never on those that are to be reported.

    Args:
        index: whose searches.
        corpus: documents with gold ids.
        method: how the searches are to be joined, one of :data:`~nymlink.index.fusion.fusion.METHODS`; as they
        are if
            ``None``. Another method starts from its default weights.
        types: score mentions of these types only.

    Raises:
        UnknownNameError: there is no such method.
        InputError: nothing is left to score; the message says why.
    """
    fusion = index.fusion if method in (None, index.fusion.method) else Fusion.of(index.search.parts, method)
    index = index.with_fusion(fusion)
    outcomes = evaluate(index, corpus, types=types).outcomes
    texts = list(dict.fromkeys(part for outcome in outcomes for part in outcome.query.parts))
    found = index.search.collect(texts, DEPTH)
    places, starts = _places(texts, outcomes)
    values = {name: scores[places] for name, scores in found.values.items()}
    rows = found.rows[places]
    right = _right(index, outcomes, rows)

    def weighting(weights: Mapping[str, float]) -> Weighting:
        ranks = np.maximum.reduceat(_ranks(rows, total(values, weights), right), starts)
        return Weighting(Fusion(fusion.method, weights), accuracy(ranks, 1), accuracy(ranks, 5))

    before = weighting(fusion.weights)
    tried = [before, *map(weighting, _grid(list(fusion.weights)))]
    after = max(tried, key=lambda one: (one.acc_1, one.acc_5, -_distance(one.fusion, fusion)))
    return Fit(len(outcomes), before, after, len(tried))


def _places(texts: Sequence[str], outcomes: Sequence[Outcome]) -> tuple[list[int], list[int]]:
    """For each part of each mention the place of its text, and where the parts of each mention start."""
    place = {text: number for number, text in enumerate(texts)}
    places = [place[part] for outcome in outcomes for part in outcome.query.parts]
    counts = [len(outcome.query.parts) for outcome in outcomes]
    return places, np.cumsum([0, *counts[:-1]]).tolist()


def _right(index: Index, outcomes: Sequence[Outcome], rows: Rows) -> Bools:
    """Whether one of the concepts of an entry is gold for a part of a mention: bool (P, m)."""
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
    """float64 (P): the rank of the first right entry, in the order of :func:`nymlink.index.fusion.hits.best`."""
    keys = np.where(rows == NONE, -np.inf, np.round(total.astype(np.float64), 6))
    best = np.where(right, keys, -np.inf)
    # The first of equals is that of the smallest row: rows ascend.
    place = best.argmax(axis=1)[:, None]
    reached = np.take_along_axis(best, place, 1)
    ahead = (keys > reached) | ((keys == reached) & (np.arange(rows.shape[1]) < place))
    ranks = ahead.sum(axis=1).astype(np.float64)
    return np.where(right.any(axis=1) & (ranks < DEPTH), ranks, np.inf)


def _grid(names: Sequence[str]) -> Iterator[dict[str, float]]:
    """All weights of a sum of 1 that are multiples of 1 / :data:`STEPS`."""
    for bars in combinations(range(STEPS + len(names) - 1), len(names) - 1):
        counts = [after - before - 1 for before, after in pairwise([-1, *bars, STEPS + len(names) - 1])]
        yield {name: count / STEPS for name, count in zip(names, counts, strict=True)}


def _distance(one: Fusion, other: Fusion) -> float:
    return sum((one.weights[name] - other.weights[name]) ** 2 for name in one.weights)
