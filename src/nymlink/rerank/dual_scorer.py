"""The dual encoder as a scorer: a concept fits a mention as well as it is near to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from nymlink.rerank.dual_encoder import DualEncoder
from nymlink.rerank.encoding import Vectors
from nymlink.rerank.entities import entities
from nymlink.rerank.passages import Passage
from nymlink.rerank.scorer import Scores
from nymlink.vocabulary.vocabulary import Vocabulary

_AT_ONCE: Final = 256
"""Mentions of which inputs, and those of their concepts, are held at a time."""


class DualScorer:
    """Scores are minus the Euclidean distance between mention and concept.

    Vectors of concepts are kept: each is encoded once.

    Args:
        model: encodes mentions and concepts; put into evaluation mode.
        vocabulary: has the concepts.
    """

    def __init__(self, model: DualEncoder, vocabulary: Vocabulary) -> None:
        self.model = model.eval()
        self.vocabulary = vocabulary
        self._known: dict[int, Vectors] = {}

    def scores(self, passages: Sequence[Passage], candidates: Sequence[Sequence[int]]) -> list[Scores]:
        """See :meth:`nymlink.rerank.scorer.ContextScorer.scores`."""
        found: list[Scores] = []
        for start in range(0, len(passages), _AT_ONCE):
            few = slice(start, start + _AT_ONCE)
            found += self._compared(passages[few], candidates[few])
        return found

    def _compared(self, passages: Sequence[Passage], candidates: Sequence[Sequence[int]]) -> list[Scores]:
        self._learn(row for rows in candidates for row in rows)
        mentions = self.model.encode_passages(passages)
        return [
            -np.linalg.norm(np.stack([self._known[row] for row in rows]) - mention, axis=1)
            for mention, rows in zip(mentions, candidates, strict=True)
        ]

    def _learn(self, rows: Iterable[int]) -> None:
        """Encode the concepts that are not known yet."""
        new = [row for row in dict.fromkeys(rows) if row not in self._known]
        self._known.update(zip(new, self.model.encode_entities(list(entities(self.vocabulary, new))), strict=True))
