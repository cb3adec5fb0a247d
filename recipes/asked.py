"""Ask an index, and keep the candidates with their features and names."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from nymlink.core.store.arrays import Bools, Ints
from nymlink.core.store.atomic import atomic_file
from nymlink.index.hits import NONE, Scores
from nymlink.index.index import Index
from nymlink.rank.ranker import Ranking
from nymlink.rank.retrieval import ConceptTable, Question, Retrieved

_NAMES: Final = 3
"""Names of a candidate that are kept: the two that are nearest, and its surest one."""

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

    @classmethod
    def of(cls, index: Index, asked: Questions) -> Asked:
        """Find the candidates of questions."""
        numbers: dict[tuple[Question, frozenset[int]], int] = {}
        questions, answers, mentions = asked
        distinct = [numbers.setdefault(key, len(numbers)) for key in zip(questions, answers, strict=True)]
        ranking = Ranking(index)
        described, concepts, names = [], [], list[list[str]]()
        for found, own in ranking.describe([question for question, _ in numbers]):
            described.append(own)
            concepts.append(found.matches.concepts)
            names += _names(found, index, ranking.table)
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
