"""Match two vocabularies: find the concepts of the second that concepts of the first mean.

First come concepts with equal names, then concepts whose names are the most similar for both. The concepts that are
already mapped above and below a pair change its confidence. At last each concept keeps its surest partner.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from nymlink.core.errors import InputError
from nymlink.corpus.documents import Mention
from nymlink.encode.model.folder import MINI
from nymlink.index.index import Index
from nymlink.index.index_folder import KIND as INDEX
from nymlink.linking.candidates import WRITING
from nymlink.linking.link import Candidate, Link, Relation
from nymlink.linking.links import Links
from nymlink.linking.matching.names import KnownName, Names, Pair, Shared, shared_names
from nymlink.linking.matching.similar import Similar, similar_names
from nymlink.linking.matching.structure import Hierarchy, Support
from nymlink.text.writing import writing_likeness
from nymlink.vocabulary.read import open_vocabulary
from nymlink.vocabulary.subset import part_of
from nymlink.vocabulary.vocabulary import Vocabulary

if TYPE_CHECKING:
    from nymlink.encode.encoder import Encoder

MIN_CONFIDENCE: Final = 0.5

_ANCHOR: Final = 0.7
"""Smallest confidence of a pair that is evidence for the pairs above and below it."""

_ABOVE, _BELOW = 0.7, 1.2
"""Weights of the hierarchy in log-odds: of mapped ancestors, which agree or not, and of mapped descendants, which
agree or not."""


@dataclass(frozen=True, slots=True)
class Evidence:
    names: tuple[KnownName, KnownName]
    prior: float
    score: float
    parts: Mapping[str, float]
    contradiction: str | None = None


def match(a, b, *, many=False, min_confidence=MIN_CONFIDENCE, encoder=MINI, progress=False) -> Links:
    one, _ = _opened(a)
    other, index = (one, None) if a is b else _opened(b)
    same = one is other
    names = Names(one)
    others = names if same else Names(other)
    common = names.languages() & others.languages()
    pool = {pair: _of_shared(shared) for pair, shared in shared_names(names, others, common).items()}
    hierarchies = Hierarchy(one), Hierarchy(other)
    chosen = _select(_weigh(pool, hierarchies), same=same)
    taken = [{pair[side] for pair, c in chosen.items() if c >= min_confidence} for side in (0, 1)]
    free = np.ones(len(other), bool)
    if not same:
        free[list(taken[1])] = False
    queries = [name for name in names.all if name.concept not in taken[0]]
    if same: queries=[n for n in names.all if n.kind=='preferred']
    if queries and free.any():
        rows = np.flatnonzero(free[other.columns.names["concept"].to_numpy()])
        index = Index.build(part_of(other, free), encoder=encoder, progress=progress)
        for pair, similar in similar_names(queries, index, rows, others, common=common, same=same).items():
            pool.setdefault(pair, _of_similar(similar))
    weighed = _weigh(pool, hierarchies)
    chosen = weighed if many else _select(weighed, same=same)
    return {p: (c, pool[p]) for p, c in chosen.items() if c >= min_confidence}


def _opened(what):
    if isinstance(what, Index):
        return what.vocabulary, what
    if isinstance(what, Vocabulary):
        return what, None
    return open_vocabulary(what), None


def _of_shared(shared: Shared) -> Evidence:
    name, other = shared.names
    return Evidence(shared.names, shared.strength, 1.0, {})


def _of_similar(similar: Similar) -> Evidence:
    odds = -0.8 + 15 * min(similar.lead, 0.15) + 3 * (similar.score - 0.75)
    if similar.contradiction: odds -= 1.5
    return Evidence(similar.names, 1 / (1 + exp(-odds)), similar.score, similar.parts, similar.contradiction)


def _select(weighed: Mapping[Pair, float], *, same: bool) -> dict[Pair, float]:
    """Take the surest pairs first; each concept is in one pair at most."""
    used = (set(), set())
    if same:
        used = (used[0], used[0])
    chosen = {}
    for pair in sorted(weighed, key=lambda pair: (-weighed[pair], pair)):
        if pair[0] not in used[0] and pair[1] not in used[1]:
            chosen[pair] = weighed[pair]
            used[0].add(pair[0])
            used[1].add(pair[1])
    return chosen


def _weigh(pool: Mapping[Pair, Evidence], hierarchies, rounds=2) -> dict[Pair, float]:
    weighed = {pair: each.prior for pair, each in pool.items()}
    if not all(hierarchies):
        return weighed
    for _ in range(rounds):
        anchors = {pair[0]: pair[1] for pair, c in _select(weighed, same=False).items() if c >= _ANCHOR}
        support = Support(*hierarchies, anchors)
        weighed = {pair: _adjusted(each.prior, support.above(pair), support.below(pair)) for pair, each in pool.items()}
    return weighed


def _adjusted(prior, above, below):
    p = min(max(prior, .01), 0.995)
    odds = log(p / (1 - p))
    if above is not None: odds += _ABOVE * (2 * above - 1)
    if below is not None: odds -= _BELOW * (1 - below)
    return 1 / (1 + exp(-odds))
