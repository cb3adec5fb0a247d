"""Questions whose candidates are labelled: what a ranker learns from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from nymlink.core.store.arrays import Bools
from nymlink.index.fusion.hits import Scores
from nymlink.index.index import Index
from nymlink.rank.concept_table import ConceptTable
from nymlink.rank.features import NAMES, features_of
from nymlink.rank.question import Question
from nymlink.rank.retrieval import CANDIDATES, retrieve
from nymlink.rank.trees import Trees
from nymlink.train.ranking.boosting import BoostingSettings, boost


@dataclass(frozen=True, slots=True, eq=False)
class LabelledQuestions:
    """Q questions with K candidates each.

    Attributes:
        described: float32 (Q, K, F): the features of their candidates.
        right: bool (Q, K): which of them are right; none where the right one was not found, or there is none.
        weights: float64 (Q): how much each counts.
    """

    described: Scores
    right: Bools
    weights: npt.NDArray[np.float64]

    @classmethod
    def of(
        cls,
        index: Index,
        questions: Sequence[Question],
        answers: Sequence[frozenset[int]],
        *,
        without: Sequence[Sequence[int]] = (),
        weight: float = 1.0,
    ) -> LabelledQuestions:
        """Describe and label the candidates of questions.

        Args:
            index: to search.
            questions: Q questions.
            answers: of each, the rows of the concepts that are right.
            without: for each question, rows of entries that are taken for absent; empty for none.
            weight: of each question.
        """
        table = ConceptTable.of(index)
        described = [np.zeros((0, CANDIDATES, len(NAMES)), np.float32)]
        concepts = [np.zeros((0, CANDIDATES), np.int32)]
        for retrieved in retrieve(index, questions, without=without):
            described.append(features_of(retrieved, index, table))
            concepts.append(retrieved.matches.concepts)
        right = [
            [row in answer for row in rows]
            for rows, answer in zip(np.concatenate(concepts).tolist(), answers, strict=True)
        ]
        return cls(
            np.concatenate(described),
            np.array(right, bool).reshape(-1, CANDIDATES),
            np.full(len(questions), weight),
        )

    @classmethod
    def joined(cls, parts: Sequence[LabelledQuestions]) -> LabelledQuestions:
        """Join labelled questions."""
        return cls(
            np.concatenate([part.described for part in parts]),
            np.concatenate([part.right for part in parts]),
            np.concatenate([part.weights for part in parts]),
        )

    def chosen(self, which: Bools) -> LabelledQuestions:
        """Select questions."""
        return LabelledQuestions(self.described[which], self.right[which], self.weights[which])

    def weighted(self, weight: float) -> LabelledQuestions:
        """Give each question another weight."""
        return replace(self, weights=np.full(len(self.weights), weight))


def learn_trees(
    labelled: LabelledQuestions,
    settings: BoostingSettings,
    *,
    start: Scores | None = None,
    progress: bool = False,
) -> Trees:
    """Learn to order the candidates of questions; those without any candidate teach nothing.

    Args:
        labelled: Q questions.
        settings: of the boosting.
        start: float32 (Q, K): scores that the trees are added to; ``None`` for 0.
        progress: show progress when standard error is a terminal.
    """
    there = ~np.isnan(labelled.described).all(axis=2)
    counts = there.sum(axis=1)
    found = counts > 0
    starts = np.cumsum(counts[found]) - counts[found]
    return boost(
        labelled.described[there],
        starts,
        labelled.right[there],
        labelled.weights[found],
        settings,
        start=None if start is None else start[there].astype(np.float64),
        progress=progress,
    )
