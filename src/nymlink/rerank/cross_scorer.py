"""The context's scores of candidates by a cross-encoder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from nymlink.index.fusion.hits import Scores
from nymlink.rerank.cross_encoder import CrossEncoder
from nymlink.rerank.entities import entities
from nymlink.rerank.inputs import EntityIds
from nymlink.rerank.passages import Passage
from nymlink.vocabulary.vocabulary import Vocabulary

_AT_ONCE: Final = 256
"""Mentions of which inputs are held at a time."""


class CrossScorer:
    """Scores as many first candidates of each mention as the model's settings say; the others come after them.

    The first candidate that is not read scores 1 less than the lowest that was, and each further one 1 less than
    the one before it: they keep their order, and after a softmax each is e times less likely than that one.

    Token ids of concepts are kept: each is tokenised once.

    Args:
        model: reads mentions and concepts; it is put into evaluation mode.
        vocabulary: has the concepts: that of the index that gives the candidates.
    """

    def __init__(self, model: CrossEncoder, vocabulary: Vocabulary) -> None:
        self.model = model.eval()
        self.vocabulary = vocabulary
        self._known: dict[int, EntityIds] = {}

    def scores(self, passages: Sequence[Passage], candidates: Sequence[Sequence[int]]) -> list[Scores]:
        """The scores of N mentions' candidates, larger is better: for each an array, float32 (candidates).

        Args:
            passages: the mentions.
            candidates: rows of concepts of the vocabulary, of each mention at least one, the likeliest first.
        """
        first = self.model.settings.first
        found: list[Scores] = []
        for start in range(0, len(passages), _AT_ONCE):
            few = slice(start, start + _AT_ONCE)
            found += self._read(passages[few], [rows[:first] for rows in candidates[few]])
        return [_completed(read, len(rows)) for read, rows in zip(found, candidates, strict=True)]

    def _read(self, passages: Sequence[Passage], candidates: Sequence[Sequence[int]]) -> list[Scores]:
        self._learn(row for rows in candidates for row in rows)
        inputs = self.model.inputs
        ids = zip(inputs.passage_ids(passages), candidates, strict=True)
        scores = self.model.scores(inputs.joint((one, self._known[row]) for one, rows in ids for row in rows))
        return np.split(scores, np.cumsum([len(rows) for rows in candidates])[:-1])

    def _learn(self, rows: Iterable[int]) -> None:
        """Tokenise the concepts that are not known yet."""
        new = [row for row in dict.fromkeys(rows) if row not in self._known]
        self._known.update(
            zip(new, self.model.inputs.entity_ids(list(entities(self.vocabulary, new))), strict=True)
        )


def _completed(read: Scores, total: int) -> Scores:
    """Scores of all candidates from those of the first ones."""
    others = np.arange(1, total - len(read) + 1, dtype=np.float32)
    return np.concatenate([read, read.min() - others])
