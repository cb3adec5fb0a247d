"""The dual encoder as a scorer: a concept fits a mention as well as it is near to it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Final

import numpy as np

from nymlink.encode.cache.embedding_cache import EmbeddingCache
from nymlink.index.fusion.hits import Scores
from nymlink.rerank.concept_vectors import ConceptVectors
from nymlink.rerank.dual_encoder import DualEncoder
from nymlink.rerank.passages import Passage
from nymlink.vocabulary.vocabulary import Vocabulary

_AT_ONCE: Final = 256
"""Mentions of which inputs, and those of their concepts, are held at a time."""


class DualScorer:
    """Scores are minus the Euclidean distance between mention and concept.

    Args:
        model: encodes mentions and concepts; put into evaluation mode.
        vocabulary: has the concepts.
        cache: where vectors of concepts are kept; if ``None``, each is encoded once as long as this lives.
    """

    def __init__(self, model: DualEncoder, vocabulary: Vocabulary, *, cache: EmbeddingCache | None = None) -> None:
        self.model = model.eval()
        self.vocabulary = vocabulary
        self._concepts = ConceptVectors(model, vocabulary, cache)

    def scores(self, passages: Sequence[Passage], candidates: Sequence[Sequence[int]]) -> list[Scores]:
        """See :meth:`nymlink.rerank.scorer.ContextScorer.scores`."""
        found: list[Scores] = []
        for start in range(0, len(passages), _AT_ONCE):
            few = slice(start, start + _AT_ONCE)
            found += self._compared(passages[few], candidates[few])
        return found

    def _compared(self, passages: Sequence[Passage], candidates: Sequence[Sequence[int]]) -> list[Scores]:
        self._concepts.learn(chain.from_iterable(candidates))
        mentions = self.model.encode_passages(passages)
        return [
            -np.linalg.norm(self._concepts.of(rows) - mention, axis=1)
            for mention, rows in zip(mentions, candidates, strict=True)
        ]
