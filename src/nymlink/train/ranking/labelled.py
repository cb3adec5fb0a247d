"""Questions with labelled candidates, to train rankers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from nymlink.core.errors import InputError
from nymlink.core.store.arrays import Bools
from nymlink.corpus.documents import Corpus, Mention
from nymlink.evaluation.outcomes import GoldResolver
from nymlink.index.hits import Scores
from nymlink.index.index import Index
from nymlink.linking.pipeline import Pipeline
from nymlink.rank.features import NAMES
from nymlink.rank.ranker import Ranking
from nymlink.rank.retrieval import CANDIDATES, Question
from nymlink.rank.trees import Trees
from nymlink.train.ranking.boosting import BoostingSettings, boost


@dataclass(frozen=True, slots=True, eq=False)
class LabelledQuestions:
    """Q questions with K candidates each.

    Attributes:
        described: float32 (Q, K, F): features of the candidates.
        right: bool (Q, K): right candidates; a question may have none.
        weights: float64 (Q): weights of the questions.
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
            index: the index to search.
            questions: Q questions.
            answers: rows of the right concepts of each question.
            without: rows of the entries that are hidden from each question; empty to hide nothing.
            weight: weight of each question.
        """
        described = [np.zeros((0, CANDIDATES, len(NAMES)), np.float32)]
        concepts = [np.zeros((0, CANDIDATES), np.int32)]
        for retrieved, own in Ranking(index).describe(questions, without=without):
            described.append(own)
            concepts.append(retrieved.matches.concepts)
        return cls.labelled(
            np.concatenate(described), np.concatenate(concepts), answers, np.full(len(questions), weight)
        )

    @classmethod
    def labelled(
        cls,
        described: Scores,
        concepts: npt.NDArray[np.int32],
        answers: Sequence[frozenset[int]],
        weights: npt.NDArray[np.float64],
    ) -> LabelledQuestions:
        """Label described candidates.

        Args:
            described: float32 (Q, K, F): features of the candidates.
            concepts: int32 (Q, K): rows of the candidates.
            answers: rows of the right concepts of each question.
            weights: float64 (Q).
        """
        right = [[row in answer for row in rows] for rows, answer in zip(concepts.tolist(), answers, strict=True)]
        return cls(described, np.array(right, bool).reshape(concepts.shape), weights)

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
    labelled: LabelledQuestions, settings: BoostingSettings, *, start: Scores | None = None, progress: bool = False
) -> Trees:
    """Learn trees that order the candidates of questions.

    Args:
        labelled: Q questions. Nothing is learned from questions without candidates.
        settings: settings of the boosting.
        start: float32 (Q, K): scores to which the trees add; ``None`` for scores of 0.
        progress: show progress if standard error is a terminal.
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


LEFT_OUT: Final = 0.1
"""Share of the annotated mentions that become a second question, with their gold concepts hidden."""


def annotated_questions(
    index: Index,
    corpus: Corpus,
    *,
    types: Collection[str] | None = None,
    language: str | None = None,
    seed: int = 0,
) -> LabelledQuestions:
    """Make questions from the annotated mentions of a corpus.

    A share :data:`LEFT_OUT` of the mentions also becomes a question without a right answer: their gold concepts
    are hidden.

    Mentions with unknown gold ids are left out, because the nearest concept may be right for them.

    Args:
        index: the index to search.
        corpus: documents with gold ids.
        types: mentions of these types only.
        language: language code of mentions without one; ``None`` for unknown.
        seed: seed of the draw.

    Raises:
        InputError: no mention has a gold id of the index.
    """
    resolver = GoldResolver(index.vocabulary)
    pipeline = Pipeline(index, language=language, composites="gold")
    asked = [
        (part, answer)
        for document in corpus.documents
        for mention, parts in zip(document.mentions, pipeline.queries(document), strict=True)
        if (types is None or mention.type in types) and (answer := resolver.rows(mention.concept_ids))
        # It is not known which part means a concept that the index lacks.
        if len(parts) == 1 or resolver.knows(mention.concept_ids)
        for part in parts
    ]
    if not asked:
        raise InputError(f"no mention of {corpus.name} has a gold id that the index has: nothing can be learned")
    questions = [part.question for part, _ in asked]
    answers = [answer for _, answer in asked]
    drawn = np.flatnonzero(np.random.default_rng(seed).random(len(asked)) < LEFT_OUT).tolist()
    lacking = LabelledQuestions.of(
        index,
        [questions[place] for place in drawn],
        [frozenset()] * len(drawn),
        without=[index.entries_of(answers[place]) for place in drawn],
    )
    return LabelledQuestions.joined([LabelledQuestions.of(index, questions, answers), lacking])


def unanswerable_questions(index: Index, names: Sequence[str], *, weight: float = 1.0) -> LabelledQuestions:
    """Make questions from names that mean no concept of an index."""
    asked = Pipeline(index).queries_of([Mention(name) for name in names])
    questions = [part.question for parts in asked for part in parts]
    return LabelledQuestions.of(index, questions, [frozenset()] * len(questions), weight=weight)
