"""Scores of candidates by context, from a cross-encoder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from nymlink.index.fusion.hits import Scores
from nymlink.rerank.cross.cross_encoder import CrossEncoder
from nymlink.rerank.entities import entities
from nymlink.rerank.inputs import EntityIds
from nymlink.rerank.passages import Passage
from nymlink.vocabulary.vocabulary import Vocabulary

_AT_ONCE: Final = 256
"""Mentions whose inputs are held in memory at a time."""


class CrossScorer:
    """Scores the first candidates of each mention with a cross-encoder, and the rest below them.

    The model's setting ``first`` is the number that it scores. The next candidate gets the lowest of their scores
    minus 1, and each further one 1 less than the one before: they keep their order, and after a softmax each is e
    times less probable than the one before. Each concept is tokenised once.

    Args:
        model: the cross-encoder; it is put into evaluation mode.
        vocabulary: the vocabulary of the candidates.
    """

    def __init__(self, model: CrossEncoder, vocabulary: Vocabulary) -> None:
        self.model = model.eval()
        self.vocabulary = vocabulary
        self._known: dict[int, EntityIds] = {}

    def scores(self, passages: Sequence[Passage], candidates: Sequence[Sequence[int]]) -> list[Scores]:
        """Score the candidates of N mentions, larger is better: for each mention an array, float32 (candidates).

        Args:
            passages: the mentions in context.
            candidates: concept rows of each mention, at least one, the best of the index first.
        """
        first = self.model.settings.first
        scores: list[Scores] = []
        for start in range(0, len(passages), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            scores += self._score(passages[part], [rows[:first] for rows in candidates[part]])
        return [_extend(scored, len(rows)) for scored, rows in zip(scores, candidates, strict=True)]

    def _score(self, passages: Sequence[Passage], candidates: Sequence[Sequence[int]]) -> list[Scores]:
        self._tokenise(row for rows in candidates for row in rows)
        inputs = self.model.inputs
        pairs = zip(inputs.passage_ids(passages), candidates, strict=True)
        scores = self.model.scores(inputs.joint((ids, self._known[row]) for ids, rows in pairs for row in rows))
        return np.split(scores, np.cumsum([len(rows) for rows in candidates])[:-1])

    def _tokenise(self, rows: Iterable[int]) -> None:
        """Tokenise the concepts that are not tokenised yet."""
        new = [row for row in dict.fromkeys(rows) if row not in self._known]
        self._known.update(
            zip(new, self.model.inputs.entity_ids(list(entities(self.vocabulary, new))), strict=True)
        )


def _extend(scored: Scores, total: int) -> Scores:
    """Extend the scores of the first candidates to all candidates, in descending steps of 1."""
    steps = np.arange(1, total - len(scored) + 1, dtype=np.float32)
    return np.concatenate([scored, scored.min() - steps])
