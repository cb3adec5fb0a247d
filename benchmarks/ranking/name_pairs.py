"""Pairs of a mention and the names of a candidate, for the cross-encoder that ``name_cross_encoder.py`` measures.

Read are the first candidates, in the order of the shipped ranker, of mentions that it is not sure of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from zlib import crc32

import numpy as np

from nymlink.core.store.arrays import Ints
from nymlink.index.fusion.hits import Scores
from nymlink.rank.ranker import Ranker, softmax
from nymlink.train.ranking.labelled import LabelledQuestions
from recipes.asked import Asked

FIRST: Final = 5
"""Candidates of a mention that are read."""

SURE: Final = 0.9
"""A first candidate that is right with this probability is not read."""

Pair = tuple[str, str]
"""A mention, and the names of a candidate."""


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Questions, and the candidates of them that are read.

    Attributes:
        asked: the questions.
        weight: of each, where trees learn from them.
        read: int64 (R, FIRST + 1): a distinct question, and the places of its first candidates.
        numbers: int64 (R, FIRST): the number of the pair of each candidate that is read; -1 where there is none.
    """

    asked: Asked
    weight: float
    read: Ints
    numbers: Ints

    @classmethod
    def of(cls, asked: Asked, weight: float, ranker: Ranker, pairs: dict[Pair, int]) -> Part:
        """Number the pairs that are read of questions."""
        read = _read(asked, ranker)
        numbers = [
            [
                -1 if place < 0 else pairs.setdefault((asked.texts[row], asked.names[row][place]), len(pairs))
                for place in places
            ]
            for row, *places in read.tolist()
        ]
        return cls(asked, weight, read, np.array(numbers, np.int64).reshape(-1, FIRST))

    @property
    def counts(self) -> Scores:
        """How much each distinct question weighs."""
        return self.weight * np.bincount(self.asked.distinct, minlength=len(self.asked.texts))

    @property
    def at(self) -> tuple[Ints, Ints, Ints]:
        """Question, candidate and number of each pair."""
        there = self.numbers >= 0
        rows = np.broadcast_to(self.read[:, :1], there.shape)
        return rows[there], self.read[:, 1:][there], self.numbers[there]

    def logits(self, scores: Scores) -> Scores:
        """Spread the scores of all pairs over the candidates: float32 (D, K), NaN where one was not read."""
        rows, places, numbers = self.at
        spread = np.full(self.asked.right.shape, np.nan, np.float32)
        spread[rows, places] = scores[numbers]
        return spread

    def labelled(self, scores: Scores | None) -> LabelledQuestions:
        """Describe the candidates of the distinct questions, with what was read where scores are given."""
        described = self.asked.described
        if scores is not None:
            logits = self.logits(scores)
            best = np.where(np.isnan(logits), -np.inf, logits).max(axis=1, keepdims=True)
            described = np.concatenate([described, logits[..., None], (logits - best)[..., None]], axis=2)
        return LabelledQuestions(described, self.asked.right, self.counts)


def halves_of(pairs: Sequence[Pair]) -> Ints:
    """Divide pairs in two by the text of the mention, whatever it is asked of: int64 (N), 0 or 1."""
    return np.array([crc32(text.encode()) % 2 for text, _ in pairs])


def _read(asked: Asked, ranker: Ranker) -> Ints:
    """Choose the candidates to read.

    Returns:
        int64 (R, FIRST + 1): a distinct question, and the places of its first candidates, best first; -1 where
        it has fewer.
    """
    scores = ranker.scores(asked.described)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :FIRST]
    order[np.isneginf(np.take_along_axis(scores, order, 1))] = -1
    unsure = np.flatnonzero((softmax(scores).max(axis=1) < SURE) & (order[:, 0] >= 0))
    return np.column_stack([unsure, order[unsure]])
