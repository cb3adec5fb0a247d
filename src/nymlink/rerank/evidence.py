"""Evidence on candidates from context, document and types, and the order that is learned from the evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from nymlink.core.json_files import member
from nymlink.core.store.arrays import Bools
from nymlink.index.fusion import DENSE, EXACT_MATCH
from nymlink.index.hits import Scores
from nymlink.linking.candidates import RANKED, WRITING
from nymlink.rank.features import Feature, behind_best
from nymlink.rank.ranker import Reason
from nymlink.rank.trees import Trees
from nymlink.rerank.scorer import CONTEXT, CandidatePool, Floats, document_support

VERSION: Final = 1
"""Version of the evidence. An order that was learned from another version is refused."""

TypeShares = Mapping[str, Mapping[str, float]]
"""Type of a mention → semantic type of a concept → share of the right candidates of such mentions that have this
semantic type.
"""

SCORE: Final = "score"
DOCUMENT: Final = "document"
TYPE: Final = "type"
TIED: Final = "tied"
MEANINGS: Final = "meanings"
GUESSED: Final = "guessed"

_IMPROBABLE: Final = 0.001
"""Number added to the probabilities of the ranker, so that no candidate is impossible."""

_SHARE: Final = "0 to 1"
_BEHIND: Final = "-1 to 0"
_YES: Final = "0 or 1"

EVIDENCE: Final = (
    Feature(RANKED, "logarithm of how probable the ranker of the index takes it to be, plus 0.001", "-7 to 0"),
    Feature("ahead_ranked", "ranked less the best of the other candidates", "-7 to 7"),
    Feature("place", "place in the order of the index: how many candidates it has before", "0, 1, 2 …"),
    Feature(SCORE, "score of the index: the weighted mean of its searches", _SHARE),
    Feature("behind_score", "score less the best of all candidates", _BEHIND),
    Feature(EXACT_MATCH, "whether the name that matched equals the query", _YES),
    Feature("sparse", "likeness in spelling of the name that matched", _SHARE),
    Feature("behind_sparse", "likeness in spelling less the best of all candidates", _BEHIND),
    Feature(DENSE, "likeness in meaning of the name that matched", "-1 to 1"),
    Feature("behind_dense", "likeness in meaning less the best of all candidates", "-2 to 0"),
    Feature(WRITING, "how alike the mention and a name that equals it are written", _SHARE),
    Feature(CONTEXT, "score of the context", "of the scorer"),
    Feature("ahead_context", "context less the best of the other candidates", "of the scorer"),
    Feature("share_context", "share of the exponentials of context (softmax)", _SHARE),
    Feature(DOCUMENT, "highest probability by the ranker that another mention of the type means it", _SHARE),
    Feature("ahead_document", "document less the best of the other candidates", "-1 to 1"),
    Feature(TYPE, "share of right concepts of such mentions that have its semantic type", _SHARE),
    Feature("behind_type", "type less the best of all candidates", _BEHIND),
    Feature(TIED, "concepts that have the query for a name, none written more like the mention", "0 to 10"),
    Feature(MEANINGS, "concepts that an abbreviation may stand for that no definition wrote out", "0, 1, 2 …"),
    Feature(GUESSED, "whether a misspelt word of the query was guessed", _YES),
)
NAMES: Final = tuple(feature.name for feature in EVIDENCE)

KNOWN: Final = (RANKED, SCORE, EXACT_MATCH, "sparse", DENSE, WRITING, CONTEXT, TIED, MEANINGS, GUESSED)
"""Names of the evidence that is taken from links (:attr:`CandidatePool.known`).

All other evidence is computed from it.
"""


def describe(pool: CandidatePool, types: TypeShares) -> Scores:
    """Make the table of evidence: float32 (M, k, F), in the order of :data:`EVIDENCE`, NaN for what is not known.

    Args:
        pool: M mentions with their candidates.
        types: says how often concepts of a semantic type are right for mentions of a type.
    """
    valid, known = pool.valid, pool.known
    missing = np.full(valid.shape, np.nan)
    values = {name: known.get(name, missing) for name in NAMES}
    chances = known.get(RANKED, missing)
    values[RANKED] = np.log(_IMPROBABLE + chances)
    values["place"] = np.broadcast_to(np.arange(valid.shape[1]), valid.shape)
    values["share_context"] = _shares(values[CONTEXT])
    # If there is no ranker, the score of the index replaces its probability.
    surest = np.where(np.isnan(chances), known[SCORE], chances)
    values[DOCUMENT] = document_support(pool.concepts, pool.groups, np.where(valid, surest, 0))
    values[TYPE] = _type_agreement(pool, types)
    for name in NAMES:
        kind, _, of = name.partition("_")
        if kind == "behind":
            values[name] = behind_best(values[of], valid)
        elif kind == "ahead":
            values[name] = _ahead(values[of], valid)
    table = np.stack([values[name] for name in NAMES], axis=2)
    table[~valid] = np.nan
    return table.astype(np.float32)


def ranker_log_odds(pool: CandidatePool) -> Floats:
    """Compute the ranker's log-odds of each candidate against "no candidate is right": float64 (M, k).

    Without a ranker, they are 0. A learned order starts from these log-odds, so that few training mentions change
    the order little.
    """
    chances = np.nan_to_num(pool.known[RANKED])
    none = np.maximum(1 - chances.sum(axis=1, keepdims=True), 0)
    odds = np.log(_IMPROBABLE + chances) - np.log(_IMPROBABLE + none)
    return np.where(np.isnan(pool.known[RANKED]), 0.0, odds)


def type_shares(pool: CandidatePool, right: Bools) -> dict[str, dict[str, float]]:
    """For each type of mention, compute the shares of semantic types among right candidates.

    Args:
        pool: M mentions with their candidates.
        right: bool (M, k): which candidates are right.
    """
    counts: dict[str, dict[str, int]] = {}
    totals: dict[str, int] = {}
    for mention, place in zip(*(places.tolist() for places in np.nonzero(right)), strict=True):
        types = pool.concept_types.get(int(pool.concepts[mention, place]), ())
        type_ = pool.mention_types[mention]
        if type_ and types:
            totals[type_] = totals.get(type_, 0) + 1
            own = counts.setdefault(type_, {})
            for each in types:
                own[each] = own.get(each, 0) + 1
    return {
        type_: {each: round(count / totals[type_], 6) for each, count in sorted(own.items())}
        for type_, own in sorted(counts.items())
    }


def _type_agreement(pool: CandidatePool, types: TypeShares) -> Floats:
    """Look up the share of each candidate: float64 (M, k).

    A concept with several semantic types gets the largest of their shares. The share is NaN if the mention or the
    concept has no type.
    """
    rows, places = np.unique(pool.concepts, return_inverse=True)
    places = places.reshape(pool.concepts.shape)
    agreement = np.full(pool.concepts.shape, np.nan)
    mention_types = np.array(pool.mention_types, dtype=np.object_)
    for type_, shares in types.items():
        own = [pool.concept_types.get(row, ()) for row in rows.tolist()]
        of_rows = np.array([max((shares.get(each, 0.0) for each in each_row), default=np.nan) for each_row in own])
        chosen = mention_types == type_
        agreement[chosen] = of_rows[places[chosen]]
    return agreement


def _ahead(values: Floats, valid: Bools) -> Floats:
    """Subtract from each value the best value of the mention's other candidates; NaN if there are no others."""
    known = np.pad(_known(values, valid), ((0, 0), (0, 2)), constant_values=-np.inf)
    second, best = np.partition(known, -2, axis=1)[:, -2:].T[:, :, None]
    other = np.where(values == best, second, best)
    return np.asarray(values - np.where(np.isfinite(other), other, np.nan))


def _shares(values: Floats) -> Floats:
    """Compute the softmax of the known values of each mention; NaN for values that are not known."""
    known = np.where(np.isnan(values), -np.inf, values)
    best = known.max(axis=1, keepdims=True, initial=-np.inf)
    exponentials = np.exp(known - np.where(np.isfinite(best), best, 0))
    total = exponentials.sum(axis=1, keepdims=True)
    shares: Floats = np.where(np.isnan(values), np.nan, exponentials / np.where(total > 0, total, 1))
    return shares


def _known(values: Floats, valid: Bools) -> npt.NDArray[np.float64]:
    return np.where(valid & ~np.isnan(values), values, -np.inf)


@dataclass(frozen=True, slots=True, eq=False)
class LearnedOrder:
    """An order of candidates: log-odds of the index's ranker, corrected by trees over all evidence.

    Attributes:
        trees: trees whose features are :data:`~nymlink.rerank.evidence.EVIDENCE`.
        types: for each type of mention, the shares of semantic types of concepts.
        learned_from: description of the training data, for people to read.

    Raises:
        ValueError: the trees use unknown evidence, or a share is not from 0 to 1.
    """

    trees: Trees
    types: TypeShares
    learned_from: str

    def __post_init__(self) -> None:
        if self.trees.features.max(initial=-1) >= len(NAMES):
            raise ValueError("its trees use unknown evidence")
        shares = [share for own in self.types.values() for share in own.values()]
        if not all(isinstance(share, int | float) and 0 <= share <= 1 for share in shares):
            raise ValueError("the shares of types must be numbers from 0 to 1")

    def scores(self, pool: CandidatePool) -> Scores:
        """Score candidates. The score of "no candidate is right" is 0.

        Returns:
            float32 (M, k): scores; minus infinity where there is no candidate.
        """
        scores = np.full(pool.concepts.shape, -np.inf, np.float32)
        if pool.valid.any():
            corrections = self.trees.evaluate(describe(pool, self.types)[pool.valid])
            scores[pool.valid] = ranker_log_odds(pool)[pool.valid] + corrections
        return scores

    def reasons(self, pool: CandidatePool, mention: int, first: int, second: int) -> tuple[Reason, ...]:
        """List the reasons why one candidate of a mention comes before another, the strongest reason first.

        Args:
            pool: mentions with their candidates.
            mention: row of the mention.
            first: place of one candidate in the pool.
            second: place of the other candidate.
        """
        described = describe(pool, self.types)[mention, [first, second]]
        moved = self.trees.contributions(described, len(NAMES))[:, :-1]
        moved[:, NAMES.index(RANKED)] += ranker_log_odds(pool)[mention, [first, second]]
        difference = moved[0] - moved[1]
        one, other = described.astype(float).tolist()
        return tuple(
            Reason(EVIDENCE[place], one[place], other[place], round(float(difference[place]), 6))
            for place in np.argsort(-np.abs(difference), kind="stable").tolist()
            if difference[place] and one[place] != other[place]
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "version": VERSION,
            "features": list(NAMES),
            "trees": self.trees.to_dict(),
            "types": {type_: dict(own) for type_, own in self.types.items()},
            "learned_from": self.learned_from,
        }

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> LearnedOrder:
        """Read the result of :meth:`to_dict`.

        Raises:
            ValueError: it is damaged, or learned from other evidence than this version of nymlink has.
        """
        if member(value, "version", int) != VERSION or value.get("features") != list(NAMES):
            raise ValueError("it was learned from other evidence than this version of nymlink has")
        types = member(value, "types", dict)
        return cls(
            Trees.from_dict(member(value, "trees", dict)),
            {type_: dict(member(types, type_, dict)) for type_ in types},
            member(value, "learned_from", str),
        )
