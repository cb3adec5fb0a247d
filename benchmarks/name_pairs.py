"""Pairs of a mention and the names of a candidate, for the cross-encoder that ``name_cross_encoder.py`` measures.

Read are the first candidates, in the order of the shipped ranker, of mentions that it is not sure of.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from zlib import crc32

import numpy as np

from nymlink.core.store.arrays import Bools, Ints
from nymlink.core.store.atomic import atomic_file
from nymlink.index.fusion.hits import NONE, Scores
from nymlink.index.index import Index
from nymlink.rank.concept_table import ConceptTable
from nymlink.rank.features import features_of
from nymlink.rank.question import Question
from nymlink.rank.ranker import Ranker, softmax
from nymlink.rank.retrieval import Retrieved, retrieve
from nymlink.train.ranking.labelled import LabelledQuestions

FIRST: Final = 5
"""Candidates of a mention that are read."""

SURE: Final = 0.9
"""A first candidate that is right with this probability is not read."""

_NAMES: Final = 3
"""Names of a candidate that are read: the two that are nearest, and its surest one."""

Pair = tuple[str, str]
"""A mention, and the names of a candidate."""

Questions = tuple[Sequence[Question], Sequence[frozenset[int]], Sequence[int]]
"""Questions, the rows of the concepts that are right for each, and the number of its mention."""


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """The candidates of D distinct questions, and Q questions.

    Attributes:
        described: float32 (D, K, F): features of the candidates.
        right: bool (D, K).
        texts: (D): what is asked.
        names: (D, K): the names of each candidate, the nearest first; empty where there is none.
        distinct: int64 (Q): the distinct question of each.
        mentions: int64 (Q): the mention of each.
    """

    described: Scores
    right: Bools
    texts: list[str]
    names: list[list[str]]
    distinct: Ints
    mentions: Ints

    def read(self, ranker: Ranker) -> Ints:
        """Choose the candidates to read.

        Returns:
            int64 (R, FIRST + 1): a distinct question, and the places of its first candidates, best first; -1 where
            it has fewer.
        """
        scores = ranker.scores(self.described)
        order = np.argsort(-scores, axis=1, kind="stable")[:, :FIRST]
        order[np.isneginf(np.take_along_axis(scores, order, 1))] = -1
        unsure = np.flatnonzero((softmax(scores).max(axis=1) < SURE) & (order[:, 0] >= 0))
        return np.column_stack([unsure, order[unsure]])

    @classmethod
    def of(cls, index: Index, asked: Questions) -> Asked:
        """Find the candidates of questions."""
        numbers: dict[tuple[Question, frozenset[int]], int] = {}
        questions, answers, mentions = asked
        distinct = [numbers.setdefault(key, len(numbers)) for key in zip(questions, answers, strict=True)]
        table = ConceptTable.of(index)
        described, concepts, names = [], [], list[list[str]]()
        for found in retrieve(index, [question for question, _ in numbers]):
            described.append(features_of(found, index, table))
            concepts.append(found.matches.concepts)
            names += _names(found, index, table)
        right = [
            [row in answer for row in rows]
            for (_, answer), rows in zip(numbers, np.concatenate(concepts).tolist(), strict=True)
        ]
        return cls(
            np.concatenate(described),
            np.array(right),
            [question.text for question, _ in numbers],
            names,
            np.array(distinct),
            np.array(mentions),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Questions, and the candidates of them that are read.

    Attributes:
        asked: the questions.
        weight: of each, where trees learn from them.
        read: see :meth:`Asked.read`.
        numbers: int64 (R, FIRST): the number of the pair of each candidate that is read; -1 where there is none.
    """

    asked: Asked
    weight: float
    read: Ints
    numbers: Ints

    @classmethod
    def of(cls, asked: Asked, weight: float, ranker: Ranker, pairs: dict[Pair, int]) -> Part:
        """Number the pairs that are read of questions."""
        read = asked.read(ranker)
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


def kept(path: Path, make: Callable[[], Asked]) -> Asked:
    """Read questions and their candidates, or make them first."""
    if not path.exists():
        made = make()
        texts = json.dumps([made.texts, made.names])
        with atomic_file(path) as partial, partial.open("wb") as file:
            np.savez(
                file,
                described=made.described,
                right=made.right,
                texts=np.frombuffer(texts.encode(), np.uint8),
                distinct=made.distinct,
                mentions=made.mentions,
            )
        print(f"{path.name}: {len(made.distinct):,} questions, {len(made.texts):,} distinct", flush=True)
    with np.load(path) as arrays:
        texts, names = json.loads(arrays["texts"].tobytes())
        return Asked(arrays["described"], arrays["right"], texts, names, arrays["distinct"], arrays["mentions"])


def halves_of(pairs: Sequence[Pair]) -> Ints:
    """Divide pairs in two by the text of the mention, whatever it is asked of: int64 (N), 0 or 1."""
    return np.array([crc32(text.encode()) % 2 for text, _ in pairs])


def _names(found: Retrieved, index: Index, table: ConceptTable) -> Iterator[list[str]]:
    """List the names of the candidates of each question, those of a candidate as one text."""
    k = found.matches.concepts.shape[1]
    starts = np.searchsorted(found.candidate_of_pair, np.arange(found.valid.size + 1))
    for question, concepts in enumerate(found.matches.concepts.tolist()):
        own = []
        for place, concept in enumerate(concepts):
            if concept == NONE:
                own.append("")
                continue
            at = question * k + place
            near = found.entry_of_hit[found.hit_of_pair[starts[at] : starts[at + 1]]].tolist()[: _NAMES - 1]
            rows = dict.fromkeys([*near, int(table.preferred_entry[concept])])
            own.append("; ".join(index.entries.text(row) for row in rows if row != NONE))
        yield own
