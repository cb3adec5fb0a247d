"""Candidates in another order: that of what the context says."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from nymlink.corpus.model import Document
from nymlink.errors import UnknownNameError
from nymlink.link.model import Link
from nymlink.rerank.dual_encoder import DualEncoder, Vectors
from nymlink.rerank.entities import entities
from nymlink.rerank.passages import passages
from nymlink.vocabulary.vocabulary import Vocabulary

CONTEXT: Final = "context"
"""The score part that a re-ranker adds."""


class Reranker:
    """Re-orders the candidates of mentions by their distance from the mention in its context.

    Vectors of concepts are kept: each is encoded once.

    Args:
        model: encodes mentions and concepts.
        vocabulary: has the concepts: that of the index that gives the candidates.
    """

    def __init__(self, model: DualEncoder, vocabulary: Vocabulary) -> None:
        self.model = model.eval()
        self.vocabulary = vocabulary
        self._known: dict[int, Vectors] = {}

    @classmethod
    def load(cls, folder: str | Path, vocabulary: Vocabulary) -> Reranker:
        """A re-ranker of a folder that :meth:`~nymlink.rerank.dual_encoder.DualEncoder.save` or a training wrote.

        Raises:
            StoreError: it is missing, damaged, or of another format version.
        """
        return cls(DualEncoder.load(folder), vocabulary)

    def rerank(self, document: Document, links: Sequence[Link]) -> list[Link]:
        """The links of a document with their candidates in the order of the context, the likeliest first.

        Each candidate gets the score part ``context``, minus the Euclidean distance; its score stays what the
        index gave it. A confidence says how sure the first candidate is: it goes where another one comes first.
        A mention without a context that can be used (see :func:`~nymlink.rerank.passages.passages`), and a
        composite one, whose parts are not marked in the text, keep their links as they are.

        Args:
            document: the document.
            links: the links of its mentions, in their order, as a linker gives them.

        Raises:
            ValueError: there is not one link for each mention.
            UnknownNameError: a candidate is not in the vocabulary.
            MissingExtraError: the sentence splitter is not installed.
        """
        found = {
            place: passage
            for place, (passage, link) in enumerate(zip(passages(document), links, strict=True))
            if passage is not None and link.candidates
        }
        if not found:
            return list(links)
        self._learn(candidate.concept_id for place in found for candidate in links[place].candidates)
        mentions = self.model.encode_passages(list(found.values()))
        changed = {
            place: self._reordered(links[place], mention) for place, mention in zip(found, mentions, strict=True)
        }
        return [changed.get(place, link) for place, link in enumerate(links)]

    def _reordered(self, link: Link, mention: Vectors) -> Link:
        concepts = np.stack([self._known[self._row(one.concept_id)] for one in link.candidates])
        scores = -np.linalg.norm(concepts - mention, axis=1)
        scored = [
            replace(one, parts={**one.parts, CONTEXT: round(float(score), 6)})
            for one, score in zip(link.candidates, scores, strict=True)
        ]
        # Stable: what is equally near stays in the order of the index.
        order = np.argsort(-scores, kind="stable").tolist()
        confidence = link.confidence if order[0] == 0 else None
        return replace(link, candidates=tuple(scored[place] for place in order), confidence=confidence)

    def _learn(self, concept_ids: Iterable[str]) -> None:
        """Encode the concepts that are not known yet."""
        rows = dict.fromkeys(map(self._row, concept_ids))
        new = [row for row in rows if row not in self._known]
        self._known.update(zip(new, self.model.encode_entities(list(entities(self.vocabulary, new))), strict=True))

    def _row(self, concept_id: str) -> int:
        row = self.vocabulary.row(concept_id)
        if row is None:
            raise UnknownNameError(f"no concept {concept_id!r} in the vocabulary: is it that of the index?")
        return row
