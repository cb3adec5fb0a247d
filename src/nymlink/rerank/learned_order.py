"""The learned order of candidates: trees over all evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from nymlink.core.json_objects import member
from nymlink.index.fusion.hits import Scores
from nymlink.linking.candidates import RANKED
from nymlink.rank.ranker import Reason
from nymlink.rank.trees import Trees
from nymlink.rerank.candidate_pool import CandidatePool
from nymlink.rerank.evidence import FEATURES, NAMES, VERSION, TypeShares, describe, ranker_log_odds


@dataclass(frozen=True, slots=True, eq=False)
class LearnedOrder:
    """The log-odds that the ranker of the index gives, and trees over all evidence that correct them.

    Attributes:
        trees: over :data:`~nymlink.rerank.evidence.FEATURES`.
        types: which semantic types of concepts go with which types of mentions.
        learned_from: what it learned from, for people to read.

    Raises:
        ValueError: the trees ask for evidence that there is not, or a share is not from 0 to 1.
    """

    trees: Trees
    types: TypeShares
    learned_from: str

    def __post_init__(self) -> None:
        if self.trees.features.max(initial=-1) >= len(NAMES):
            raise ValueError("its trees ask for evidence that there is not")
        shares = [share for own in self.types.values() for share in own.values()]
        if not all(isinstance(share, int | float) and 0 <= share <= 1 for share in shares):
            raise ValueError("the shares of types must be numbers from 0 to 1")

    def scores(self, pool: CandidatePool) -> Scores:
        """Score candidates: 0 is as likely as that none of a mention's is right.

        Returns:
            float32 (M, k): minus infinity where there is no candidate.
        """
        scores = np.full(pool.concepts.shape, -np.inf, np.float32)
        if pool.valid.any():
            corrections = self.trees.evaluate(describe(pool, self.types)[pool.valid])
            scores[pool.valid] = ranker_log_odds(pool)[pool.valid] + corrections
        return scores

    def reasons(self, pool: CandidatePool, mention: int, first: int, second: int) -> tuple[Reason, ...]:
        """Say what moved one candidate of a mention before another, the strongest first.

        Args:
            pool: mentions with their candidates.
            mention: row of the mention.
            first: place of one candidate in the pool.
            second: place of the other.
        """
        described = describe(pool, self.types)[mention, [first, second]]
        moved = self.trees.contributions(described, len(NAMES))[:, :-1]
        moved[:, NAMES.index(RANKED)] += ranker_log_odds(pool)[mention, [first, second]]
        difference = moved[0] - moved[1]
        one, other = described.astype(float).tolist()
        return tuple(
            Reason(FEATURES[place], one[place], other[place], round(float(difference[place]), 6))
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
