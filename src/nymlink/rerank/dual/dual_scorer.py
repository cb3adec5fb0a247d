"""Scores of candidates by context, from a dual encoder."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Final

import numpy as np

from nymlink.encode.cache.embedding_cache import EmbeddingCache
from nymlink.index.fusion.hits import Scores
from nymlink.rerank.dual.concept_vectors import ConceptVectors
from nymlink.rerank.dual.dual_encoder import DualEncoder
from nymlink.rerank.passages import Passage
from nymlink.vocabulary.vocabulary import Vocabulary

_AT_ONCE: Final = 256
"""Mentions whose inputs, and those of their candidates, are held in memory at a time."""


class DualScorer:
    """Scores candidates by the negative Euclidean distance between mention and concept.

    Args:
        model: the dual encoder; it is put into evaluation mode.
        vocabulary: the vocabulary of the candidates.
        cache: keeps vectors of concepts between processes; ``None`` to keep them in memory only.
    """

    def __init__(self, model: DualEncoder, vocabulary: Vocabulary, *, cache: EmbeddingCache | None = None) -> None:
        self.model = model.eval()
        self.vocabulary = vocabulary
        self._concepts = ConceptVectors(model, vocabulary, cache)

    def scores(self, passages: Sequence[Passage], candidates: Sequence[Sequence[int]]) -> list[Scores]:
        """Score candidates; see :meth:`nymlink.rerank.scorer.ContextScorer.scores`."""
        scores: list[Scores] = []
        for start in range(0, len(passages), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            scores += self._score(passages[part], candidates[part])
        return scores

    def _score(self, passages: Sequence[Passage], candidates: Sequence[Sequence[int]]) -> list[Scores]:
        self._concepts.add(chain.from_iterable(candidates))
        mentions = self.model.encode_passages(passages)
        return [
            -np.linalg.norm(self._concepts.get(rows) - mention, axis=1)
            for mention, rows in zip(mentions, candidates, strict=True)
        ]
