"""The learned ranker, which orders the candidates of a question by all evidence and gives them probabilities.

Trees give each candidate a score. The statement "no candidate is right" has the score 0. The softmax of these
scores gives the probability of each. So the order, the confidence and the decision that no candidate is right come
from one model.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from nymlink.core.errors import StoreError
from nymlink.core.json_files import member
from nymlink.core.store.arrays import Bools
from nymlink.index.hits import Scores
from nymlink.index.index import Index
from nymlink.index.walk import Matches
from nymlink.rank.features import FEATURES, NAMES, VERSION, Feature, features_of
from nymlink.rank.retrieval import CANDIDATES, ConceptTable, Question, Retrieved, retrieve
from nymlink.rank.trees import Trees
from nymlink.rank.uses import USED, Uses

_EQUALITY: Final = [NAMES.index(name) for name in ("writing", "exact", "rewritten", "guessed")]
"""Places of the features that say how a question equals a name."""


@dataclass(frozen=True, slots=True, eq=False)
class Ranker:
    """Trees over the features of candidates.

    Attributes:
        trees: trees whose features are :data:`~nymlink.rank.features.FEATURES`.
        learned_from: description of the training data, for people to read.

    Raises:
        ValueError: the trees use unknown features.
    """

    trees: Trees
    learned_from: str

    def __post_init__(self) -> None:
        if self.trees.features.max(initial=-1) >= len(NAMES):
            raise ValueError("its trees use unknown features")

    @classmethod
    def of(cls, index: Index) -> Ranker | None:
        """Load the ranker of an index; ``None`` if it has none.

        Raises:
            StoreError: it is damaged, or learned from other features.
        """
        return None if index.ranker is None else cls.from_dict(index.ranker)

    def scores(self, described: Scores) -> Scores:
        """Score candidates. The score of "no candidate is right" is 0.

        Args:
            described: float32 (Q, K, F): the features of the candidates.

        Returns:
            float32 (Q, K): scores; minus infinity at places without a candidate.
        """
        there = ~np.isnan(described).all(axis=2)
        scores = np.full(there.shape, -np.inf, np.float32)
        if there.any():
            scores[there] = self.trees.evaluate(described[there])
        return scores

    def with_trees(self, trees: Trees, learned_from: str) -> Ranker:
        """Add trees that correct the ranker. They were trained on other data."""
        return Ranker(Trees.joined([self.trees, trees]), f"{self.learned_from}; {learned_from}")

    def to_dict(self) -> dict[str, Any]:
        return {
            "version": VERSION,
            "features": list(NAMES),
            "trees": self.trees.to_dict(),
            "learned_from": self.learned_from,
        }

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Ranker:
        """Read the result of :meth:`to_dict`.

        Raises:
            StoreError: the ranker is damaged, or learned from other features than this version of nymlink
                computes.
        """
        if value.get("version") != VERSION or value.get("features") != list(NAMES):
            raise StoreError(
                "the ranker learned from other features than this version of nymlink computes: build the index "
                "again, or train its ranker again (`nymlink train rank`)"
            )
        try:
            return cls(Trees.from_dict(member(value, "trees", dict)), member(value, "learned_from", str))
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise StoreError(f"the ranker is damaged ({error}): build the index again") from error


@dataclass(frozen=True, slots=True, eq=False)
class RankedMatches:
    """The candidates of Q questions, the best first.

    Attributes:
        matches: the candidates in the order of the ranker. Their search scores may be in another order.
        probabilities: float32 (Q, k): the probability that each candidate is right. For each question, they sum to
            at most 1. They are 0 for candidates that were not ranked, and NaN if the ranker was not used. ``None``
            if candidates are ordered by their scores.
    """

    matches: Matches
    probabilities: Scores | None

    @classmethod
    def concatenated(cls, blocks: Sequence[RankedMatches]) -> RankedMatches:
        """Join blocks of questions. All must have the same k, and either all have probabilities or none has."""
        chances = [block.probabilities for block in blocks if block.probabilities is not None]
        matches = Matches.concatenated([block.matches for block in blocks])
        return cls(matches, np.concatenate(chances) if chances else None)

    def take(self, questions: Sequence[int]) -> RankedMatches:
        """Select questions by their numbers."""
        places = np.array(questions, np.int64)
        return RankedMatches(
            self.matches.take(places), None if self.probabilities is None else self.probabilities[places]
        )


class Reason(NamedTuple):
    """A feature as a reason why the first candidate comes before the second.

    Attributes:
        feature: description of the feature.
        first: its value for the first candidate; NaN if it is missing.
        second: its value for the second candidate; NaN if it is missing.
        moved: its effect on the first candidate minus its effect on the second, in log-odds. It is below 0 if the
            feature favours the second.
    """

    feature: Feature
    first: float
    second: float
    moved: float


class Ranking:
    """Finds candidates in an index, and orders them by the ranker of the index. Without a ranker, scores decide.

    Several threads may share a ranking.

    Raises:
        StoreError: the ranker of the index is damaged, or learned from other features.
    """

    def __init__(self, index: Index) -> None:
        self.index = index
        self.ranker = index.once(Ranker.of)
        self.uses = index.once(Uses.of)

    @property
    def table(self) -> ConceptTable:
        """Properties of the concepts that are independent of questions."""
        return self.index.once(ConceptTable.of)

    def describe(
        self, questions: Sequence[Question], *, without: Sequence[Collection[int]] = ()
    ) -> Iterator[tuple[Retrieved, Scores]]:
        """Find the candidates of questions and describe them, block by block.

        Args:
            questions: Q questions.
            without: see :meth:`match`.

        Returns:
            For each block of q questions, their K candidates, and the features of these: float32 (q, K, F), see
            :func:`~nymlink.rank.features.features_of`.
        """
        for retrieved in retrieve(self.index, questions, without=without):
            yield retrieved, features_of(retrieved, self.index, self.table)

    def match(
        self, questions: Sequence[Question], k: int, *, without: Sequence[Collection[int]] = ()
    ) -> RankedMatches:
        """Find the k best distinct concepts of each question, best first.

        The first :data:`~nymlink.rank.retrieval.CANDIDATES` candidates of the index are ranked. Later candidates
        follow in the order of the index. A candidate comes first, whatever its score, if its name is written
        exactly like the mention, or if it is the only candidate whose name equals the mention.

        Args:
            questions: Q questions.
            k: number of concepts, at least 1. If ``without`` is given, k is at most the number of ranked
                candidates.
            without: for each question, rows of entries to skip, as if the vocabulary did not have these names;
                empty to skip nothing.
        """
        if self.ranker is None:
            if len(without):
                return RankedMatches(self._unranked_without(questions, k, without), None)
            return RankedMatches(self.used_first(questions, self._unranked(questions, k)), None)
        if not questions:
            return RankedMatches(self._unranked(questions, k), np.zeros((0, k), np.float32))
        ranked = [
            self.ranked(retrieved.questions, retrieved.matches, described, self.ranker.scores(described))
            for retrieved, described in self.describe(questions, without=without)
        ]
        matches = Matches.concatenated([each.matches for each in ranked])
        chances = np.concatenate([each.probabilities for each in ranked if each.probabilities is not None])
        if k <= CANDIDATES:
            return RankedMatches(matches.cut(k), chances[:, :k])
        deeper = matches.extended(self._unranked(questions, k))
        return RankedMatches(deeper, np.pad(chances, ((0, 0), (0, k - CANDIDATES))))

    def ranked(
        self, questions: Sequence[Question], matches: Matches, described: Scores, scores: Scores
    ) -> RankedMatches:
        """Order candidates by scores, and by the uses that the index knows.

        Args:
            questions: Q questions.
            matches: K candidates of each, in the order of the index.
            described: float32 (Q, K, F): the features of the candidates.
            scores: float32 (Q, K): minus infinity at places without a candidate.
        """
        if self.uses is None:
            return rank(matches, described, scores)
        used, scores = self.uses.raised(questions, matches.concepts, scores)
        return rank(matches, described, scores, used)

    def explain(self, question: Question) -> tuple[Reason, ...]:
        """Explain why the first candidate of a question comes before the second.

        Returns:
            The features that separated the two, the strongest first. There are none without a ranker or a second
            candidate.
        """
        if self.ranker is None:
            return ()
        [(retrieved, described)] = self.describe([question])
        own = scores = self.ranker.scores(described)
        used = None
        if self.uses is not None:
            used, scores = self.uses.raised([question], retrieved.matches.concepts, scores)
        order = order_of(described, scores, used)[0, :2]
        if not retrieved.valid[0, order].all() or len(order) < 2:
            return ()
        first, second = described[0, order]
        moved = self.ranker.trees.contributions(np.stack([first, second]), len(NAMES))[:, :-1]
        difference = moved[0] - moved[1]
        reasons = [
            Reason(FEATURES[place], float(first[place]), float(second[place]), round(float(difference[place]), 6))
            for place in np.argsort(-np.abs(difference), kind="stable").tolist()
            # A feature with equal values is no reason by itself: it separates the two only together with others.
            if difference[place] and first[place] != second[place]
        ]
        if self.uses is not None and used is not None and used[0, order].any():
            shares = [self.uses.share(question.text, row) for row in retrieved.matches.concepts[0, order].tolist()]
            raised = (scores - own)[0, order]
            reasons.insert(0, Reason(USED, shares[0], shares[1], round(float(raised[0] - raised[1]), 6)))
        return tuple(reasons)

    def used_first(self, questions: Sequence[Question], matches: Matches) -> Matches:
        """Put the concepts first that people mean by the texts of questions; keep the order of all others."""
        if self.uses is None:
            return matches
        used, _ = self.uses.raised(questions, matches.concepts, matches.scores)
        return matches.reordered(np.argsort(~used, axis=1, kind="stable"))

    def _unranked(self, questions: Sequence[Question], k: int) -> Matches:
        texts = [question.text for question in questions]
        return self.index.match(texts, k, surfaces=[question.surface for question in questions])

    def _unranked_without(
        self, questions: Sequence[Question], k: int, without: Sequence[Collection[int]]
    ) -> Matches:
        return Matches.concatenated(
            [found.matches.cut(k) for found in retrieve(self.index, questions, without=without)]
        )


def rank(matches: Matches, described: Scores, scores: Scores, used: Bools | None = None) -> RankedMatches:
    """Order candidates: first those that :meth:`Ranking.match` always puts first, then all others by score.

    Args:
        matches: K candidates of each of Q questions, in the order of the index.
        described: float32 (Q, K, F): the features of the candidates.
        scores: float32 (Q, K): minus infinity at places without a candidate.
        used: bool (Q, K): candidates that people mean by the text of the question.
    """
    order = order_of(described, scores, used)
    return RankedMatches(matches.reordered(order), softmax(scores)[np.arange(len(order))[:, None], order])


def order_of(described: Scores, scores: Scores, used: Bools | None = None) -> npt.NDArray[np.int64]:
    """Order the candidates of questions: those that :meth:`Ranking.match` always puts first, then by score.

    Args:
        described: float32 (Q, K, F): the features of the candidates.
        scores: float32 (Q, K): minus infinity at places without a candidate.
        used: bool (Q, K): candidates that people mean by the text of the question.

    Returns:
        int64 (Q, K): element k is the former place of the candidate that is now at place k.
    """
    writing, exact, rewritten, guessed = (described[:, :, place] for place in _EQUALITY)
    equal = (exact == 1) & (rewritten == 0) & (guessed == 0)
    alone = equal & (equal.sum(axis=1, keepdims=True) == 1)
    first = alone | (writing == 1)
    order: npt.NDArray[np.int64] = np.lexsort((-scores, ~(first if used is None else first | used)), axis=1)
    return order


def softmax(scores: Scores) -> Scores:
    """Turn the scores of candidates into probabilities. "No candidate is right" has the score 0.

    Args:
        scores: float32 (Q, K): minus infinity without a candidate.

    Returns:
        float32 (Q, K).
    """
    largest = np.maximum(scores.max(axis=1, keepdims=True, initial=0), 0)
    exponentials = np.exp(scores - largest)
    shares: Scores = exponentials / (exponentials.sum(axis=1, keepdims=True) + np.exp(-largest))
    return shares
