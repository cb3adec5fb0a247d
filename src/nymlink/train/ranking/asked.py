"""Mentions with known answers, as an index links them: examples for its order and its confidences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nymlink.core.store.arrays import Ints
from nymlink.corpus.documents import Mention
from nymlink.evaluation.calibration_data import LabelledMentions
from nymlink.index.hits import Scores
from nymlink.index.walk import Matches
from nymlink.linking.pipeline import Pipeline
from nymlink.linking.queries import MentionQuery
from nymlink.rank.ranker import RankedMatches
from nymlink.train.ranking.labelled import LabelledQuestions


class AskedMention(NamedTuple):
    """A mention with a known answer, or a part of one.

    Attributes:
        mention: the mention.
        query: its query.
        answer: rows of the right concepts; empty if it means no concept.
        fold: its fold in cross-validation.
        corpus: name of its corpus.
    """

    mention: Mention
    query: MentionQuery
    answer: frozenset[int]
    fold: int
    corpus: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """The candidates of Q mentions. Each mention is linked by an index that has not learned from it.

    Attributes:
        mentions: the mentions.
        parts: pipelines, and the numbers of the mentions that each was asked for.
        matches: K candidates of each mention.
        labelled: their features, and whether each is right.
        scores: float32 (Q, K): scores of a ranker; ``None`` for the order of the index.
    """

    mentions: Sequence[AskedMention]
    parts: Sequence[tuple[Pipeline, Ints]]
    matches: Matches
    labelled: LabelledQuestions
    scores: Scores | None

    @classmethod
    def of(
        cls,
        mentions: Sequence[AskedMention],
        parts: Sequence[tuple[Pipeline, Ints]],
        found: Sequence[tuple[Matches, Scores]],
        weights: npt.NDArray[np.float64] | None = None,
    ) -> Asked:
        """Label candidates.

        Args:
            mentions: Q mentions.
            parts: pipelines, and the numbers of the mentions that each was asked for.
            found: for each pipeline, the candidates of its mentions, and their features.
            weights: float64 (Q): weights of the mentions; ``None`` for equal ones.
        """
        back = np.argsort(np.concatenate([own for _, own in parts]))
        matches = Matches.concatenated([each for each, _ in found]).take(back)
        described = np.concatenate([each for _, each in found])[back]
        labelled = LabelledQuestions.labelled(
            described,
            matches.concepts,
            [each.answer for each in mentions],
            np.ones(len(mentions)) if weights is None else weights,
        )
        ranker = parts[0][0].ranking.ranker
        return cls(mentions, parts, matches, labelled, None if ranker is None else ranker.scores(described))

    def __len__(self) -> int:
        return len(self.mentions)

    @property
    def folds(self) -> Ints:
        """Fold of each mention: int64 (Q)."""
        return np.array([each.fold for each in self.mentions])

    def scored(self, scores: Scores) -> Asked:
        """Order the candidates by other scores: float32 (Q, K)."""
        return replace(self, scores=scores)

    def ranked(self, pipeline: Pipeline, own: Ints) -> RankedMatches:
        """Order the candidates of the mentions that a pipeline was asked for."""
        questions = [self.mentions[place].query.question for place in own]
        matches = self.matches.take(own)
        if self.scores is None:
            return RankedMatches(pipeline.ranking.used_first(questions, matches), None)
        return pipeline.ranking.ranked(questions, matches, self.labelled.described[own], self.scores[own])

    def labelled_mentions(self) -> LabelledMentions:
        """Describe the first concepts for a calibration. Mentions whose correction is a guess are left out."""
        found = []
        for pipeline, own in self.parts:
            mentions = [self.mentions[place].mention for place in own]
            queries = [self.mentions[place].query for place in own]
            found.append(pipeline.evidence(self.ranked(pipeline, own), queries, mentions))
        # No feature measures the reliability of a guess.
        known = np.flatnonzero([each.query.fallback is None for each in self.mentions])
        back = np.argsort(np.concatenate([own for _, own in self.parts]))[known]
        kept = [self.mentions[place] for place in known.tolist()]
        return LabelledMentions(
            mentions=[each.mention for each in kept],
            asked=[each.query for each in kept],
            gold=[each.answer for each in kept],
            features=np.concatenate([each.features for each in found])[back],
            factors=np.concatenate([each.factors for each in found])[back],
            across=np.concatenate([each.across for each in found])[back],
            right=self.right(1).astype(bool)[known],
            starts=np.arange(len(kept)),
            groups=self.folds[known],
        )

    def right(self, depth: int) -> npt.NDArray[np.float64]:
        """For each mention, whether one of the first concepts is right: float64 (Q), 0 or 1."""
        found = np.zeros(len(self.mentions))
        for pipeline, own in self.parts:
            rows = self.ranked(pipeline, own).matches.concepts[:, :depth].tolist()
            found[own] = [
                any(row in self.mentions[place].answer for row in first)
                for place, first in zip(own, rows, strict=True)
            ]
        return found
