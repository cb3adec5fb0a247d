"""The re-ranker: it re-orders the candidates of mentions by their context."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from nymlink.core.errors import InputError, UnknownNameError
from nymlink.corpus.model import Document
from nymlink.index.fusion.hits import NONE
from nymlink.index.index import Index
from nymlink.linking.candidates import RANKED
from nymlink.linking.model import Candidate, Link
from nymlink.rerank.log_linear import (
    CandidatePool,
    EvidenceWeights,
    Floats,
    document_support,
    log_probabilities,
    total_scores,
)
from nymlink.rerank.passages import DEFAULT_MAX_LENGTH, passages
from nymlink.rerank.scorer import DEFAULT_CANDIDATES, ContextScorer
from nymlink.vocabulary.vocabulary import Vocabulary

CONTEXT: Final = "context"
DOCUMENT: Final = "document"
"""Names of the score parts that a re-ranker adds."""

_IMPROBABLE: Final = 0.001
"""Added to the probabilities of the ranker, so that no candidate is impossible."""


@dataclass(frozen=True, slots=True, eq=False)
class ScoredMentions:
    """The M mentions of a document that have candidates; the parts of a composite mention count as mentions.

    Attributes:
        pool: their candidates and scores; a group is the mentions of one type.
        links: int64 (M): the position of the link of each.
        has_context: bool (M): whether it has a usable context. The others keep the order of the index.
    """

    pool: CandidatePool
    links: npt.NDArray[np.int64]
    has_context: npt.NDArray[np.bool_]


class Reranker:
    """Re-orders the candidates of mentions by their context.

    Args:
        scorer: scores candidates by context.
        vocabulary: the vocabulary of the index that gives the candidates.
        weights: the weights of context, index and document; by default only the context counts.
        candidates: the number of first candidates of a mention to re-order; the rest keep the order of the index.
        max_length: tokens that the scorer reads of a mention with its context.
    """

    def __init__(
        self,
        scorer: ContextScorer,
        vocabulary: Vocabulary,
        *,
        weights: EvidenceWeights | None = None,
        candidates: int = DEFAULT_CANDIDATES,
        max_length: int = DEFAULT_MAX_LENGTH,
    ) -> None:
        self.scorer = scorer
        self.vocabulary = vocabulary
        self.weights = weights or EvidenceWeights()
        self.candidates = candidates
        self.max_length = max_length
        self._rows: dict[str, int] = {}

    @classmethod
    def load(cls, folder: str | Path, index: Index | Vocabulary, *, refit: bool = False) -> Reranker:
        """Load a re-ranker that a training wrote, with its fitted weights, if there are any.

        Without fitted weights, only the context counts, and as many candidates are re-ordered as in training. It
        runs on the first CUDA device if there is one, else on the CPU. If the weights were fitted with an index
        whose scores are made in another way, they are used with a warning.

        Args:
            folder: the folder.
            index: the index that gives the candidates; or its vocabulary, without a check of its scores.
            refit: whether the weights are about to be fitted again: damaged ones are then ignored.

        Raises:
            StoreError: it is missing, damaged, or of another format version.
            MissingExtraError: torch or transformers is not installed.
        """
        from nymlink.rerank.folder import FittedWeights, open_scorer, read_fitted, score_settings

        fitted = read_fitted(folder, refit=refit)
        vocabulary = index.vocabulary if isinstance(index, Index) else index
        scorer = open_scorer(Path(folder), vocabulary)
        settings = scorer.model.settings
        fitted = fitted or FittedWeights(weights=EvidenceWeights(), candidates=settings.candidates)
        if isinstance(index, Index) and fitted.scores not in (None, score_settings(index)):
            warnings.warn(
                f"{folder}: its weights were fitted with an index whose scores are made in another way than those "
                f"of "
                "this index: run `nymlink rerank fit` with this index",
                stacklevel=2,
            )
        return cls(
            scorer,
            vocabulary,
            weights=fitted.weights,
            candidates=fitted.candidates,
            max_length=settings.max_length,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        raise InputError(
            "a re-ranker cannot be passed to another process: load it in each process (Reranker.load)"
        )

    def rerank(self, document: Document, links: Sequence[Link]) -> list[Link]:
        """Re-order the first candidates of a document's links, the most probable first.

        Each re-ordered candidate gets the score part ``context``, the score of the context, and if the document
        has a weight, ``document``, the highest probability of its concept for another mention. Its score stays
        that of the index. The confidence, which is that of the first candidate, is dropped where another one
        becomes first.

        Links are unchanged of mentions without a usable context (see :func:`~nymlink.rerank.passages.passages`),
        and of composite mentions, whose parts are not marked in the text.

        Args:
            document: the document.
            links: the links of its mentions, in their order, as a linker gives them.

        Raises:
            ValueError: there is not one link for each mention.
            UnknownNameError: a candidate is not in the vocabulary.
            MissingExtraError: the sentence splitter is not installed.
        """
        scored = self.score_mentions(document, links)
        if not scored.has_context.any():
            return list(links)
        own = log_probabilities(scored.pool, self.weights)
        support = document_support(scored.pool, own)
        total = total_scores(own, support, self.weights)
        parts = {CONTEXT: scored.pool.context} | ({DOCUMENT: support} if self.weights.document else {})
        reranked = list(links)
        for mention in np.flatnonzero(scored.has_context).tolist():
            place = int(scored.links[mention])
            added = {name: values[mention] for name, values in parts.items()}
            count = int((scored.pool.concepts[mention] != NONE).sum())
            reranked[place] = _reorder(links[place], total[mention, :count], added)
        return reranked

    def score_mentions(self, document: Document, links: Sequence[Link]) -> ScoredMentions:
        """Score the first candidates of a document's mentions by context, and collect all that their order needs.

        Arguments and errors are those of :meth:`rerank`.
        """
        pairs = zip(passages(document, max_length=self.max_length), links, strict=True)
        mentions = [
            (place, part.candidates[: self.candidates], None if link.parts else passage)
            for place, (passage, link) in enumerate(pairs)
            for part in link.singles
            if part.candidates
        ]
        shape = len(mentions), max((len(first) for _, first, _ in mentions), default=0)
        concepts = np.full(shape, NONE, np.int64)
        context, retrieval = np.zeros(shape), np.zeros(shape)
        for row, (_, first, _) in enumerate(mentions):
            concepts[row, : len(first)] = [self._concept_row(candidate.concept_id) for candidate in first]
            retrieval[row, : len(first)] = [_retrieval_score(candidate) for candidate in first]
        in_context = {row: passage for row, (_, _, passage) in enumerate(mentions) if passage is not None}
        if in_context:
            candidates = [concepts[row][concepts[row] != NONE].tolist() for row in in_context]
            all_scores = self.scorer.scores(list(in_context.values()), candidates)
            for row, scores in zip(in_context, all_scores, strict=True):
                context[row, : len(scores)] = scores
        types = [links[place].mention.type for place, _, _ in mentions]
        return ScoredMentions(
            CandidatePool(
                concepts, context, retrieval, groups=np.unique(types, return_inverse=True)[1].astype(np.int64)
            ),
            links=np.array([place for place, _, _ in mentions], np.int64),
            has_context=np.isin(np.arange(len(mentions)), list(in_context)),
        )

    def _concept_row(self, concept_id: str) -> int:
        if concept_id not in self._rows:
            row = self.vocabulary.row(concept_id)
            if row is None:
                raise UnknownNameError(
                    f"the candidate {concept_id!r} is not in the re-ranker's vocabulary: load the re-ranker with "
                    f"the "
                    "index that gives the candidates"
                )
            self._rows[concept_id] = row
        return self._rows[concept_id]


def _retrieval_score(candidate: Candidate) -> float:
    """Score a candidate without its context: by the ranker of the index, or by its similarity if it has none."""
    probability = candidate.parts.get(RANKED)
    return candidate.score if probability is None else log(_IMPROBABLE + probability)


def _reorder(link: Link, total: Floats, parts: dict[str, Floats]) -> Link:
    """Re-order the first candidates of a link by their total scores, and add score parts to them.

    Args:
        link: a link with at least n candidates.
        total: float64 (n): the total scores of the first n.
        parts: float64 (n) of each new score part, by name.
    """
    scored = []
    for place, candidate in enumerate(link.candidates[: len(total)]):
        added = {name: round(float(values[place]), 6) for name, values in parts.items()}
        scored.append(replace(candidate, parts={**candidate.parts, **added}))
    # A stable sort: equally probable candidates stay in the order of the index.
    order = np.argsort(-total, kind="stable").tolist()
    confidence = link.confidence if order[0] == 0 else None
    candidates = (*(scored[place] for place in order), *link.candidates[len(total) :])
    return replace(link, candidates=candidates, confidence=confidence)
