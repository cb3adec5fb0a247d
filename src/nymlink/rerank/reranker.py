"""The re-ranker, which re-orders the candidates of mentions by their context."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from nymlink.core.errors import InputError, UnknownNameError
from nymlink.corpus.documents import Document
from nymlink.index.hits import NONE, Scores
from nymlink.index.index import Index
from nymlink.linking.explanation import Explanation
from nymlink.linking.link import Candidate, Link
from nymlink.rank.ranker import Reason, softmax
from nymlink.rerank.evidence import GUESSED, KNOWN, MEANINGS, SCORE, TIED, LearnedOrder
from nymlink.rerank.passages import DEFAULT_MAX_LENGTH, passages
from nymlink.rerank.scorer import CONTEXT, DEFAULT_CANDIDATES, CandidatePool, ContextScorer, Floats
from nymlink.vocabulary.vocabulary import Vocabulary

RERANKED: Final = "reranked"
"""Name of the score part of a fitted re-ranker: the probability, by all evidence, that the candidate is right."""


@dataclass(frozen=True, slots=True, eq=False)
class ScoredMentions:
    """The M mentions of a document that have candidates. The parts of a composite mention count as mentions.

    Attributes:
        pool: the candidates of the mentions, and their scores. The mentions of one type are a group.
        links: int64 (M): the position of each mention's link among the links of the document.
        has_context: bool (M): whether the mention has a usable context. The other mentions keep the order of the
            index.
    """

    pool: CandidatePool
    links: npt.NDArray[np.int64]
    has_context: npt.NDArray[np.bool_]


class Reranker:
    """Re-orders the candidates of mentions by their context and all other evidence.

    Args:
        scorer: scores candidates by context.
        vocabulary: the vocabulary of the index that gives the candidates.
        order: the order learned from the evidence; ``None`` to order candidates by the context alone.
        candidates: the number of candidates of a mention to re-order. Later candidates keep the order of the
            index.
        max_length: most tokens of a mention with its context that the scorer reads.

    Example:
        >>> from nymlink import Document, Index, Linker, Mention, Reranker
        >>> index = Index.load("diseases-index")
        >>> linker = Linker(index, rerank=Reranker.load("reranker", index))
        >>> document = Document("1", "He has asthma.", (Mention("asthma", 7, 13),))
        >>> linker.link(document)[0].best.parts.keys() >= {"context"}
        True
    """

    def __init__(
        self,
        scorer: ContextScorer,
        vocabulary: Vocabulary,
        *,
        order: LearnedOrder | None = None,
        candidates: int = DEFAULT_CANDIDATES,
        max_length: int = DEFAULT_MAX_LENGTH,
    ) -> None:
        self.scorer = scorer
        self.vocabulary = vocabulary
        self.order = order
        self.candidates = candidates
        self.max_length = max_length
        self._rows: dict[str, int] = {}
        self._types: dict[int, tuple[str, ...]] = {}

    @classmethod
    def load(cls, folder: str | Path, index: Index | Vocabulary, *, refit: bool = False) -> Reranker:
        """Load a trained re-ranker. If it has a fitted order, load the order too.

        Without a fitted order, only the context counts, and as many candidates are re-ordered as in training. The
        re-ranker runs on the first CUDA device if there is one, otherwise on the CPU. If the order was fitted with
        an index whose scores are made in another way, nymlink warns.

        Args:
            folder: the folder.
            index: the index that gives the candidates, or the vocabulary of this index. With a vocabulary, there
                is no check how the scores are made.
            refit: whether a new fit follows. If so, a damaged order is ignored.

        Raises:
            StoreError: the re-ranker is missing, damaged, or of another format version.
            MissingExtraError: torch or transformers is not installed.
        """
        from nymlink.rerank.folder import open_scorer, read_fitted, score_settings

        fitted = read_fitted(folder, refit=refit)
        vocabulary = index.vocabulary if isinstance(index, Index) else index
        scorer = open_scorer(Path(folder), vocabulary)
        settings = scorer.model.settings
        scores = None if fitted is None else fitted.scores
        if isinstance(index, Index) and scores is not None and scores != score_settings(index):
            warnings.warn(
                f"{folder}: it was fitted with an index whose scores are made in another way than those of this "
                "index: run `nymlink rerank fit` with this index",
                stacklevel=2,
            )
        return cls(
            scorer,
            vocabulary,
            order=None if fitted is None else fitted.order,
            candidates=settings.candidates if fitted is None else fitted.candidates,
            max_length=settings.max_length,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        raise InputError(
            "a re-ranker cannot be passed to another process: load it in each process (Reranker.load)"
        )

    def rerank(self, document: Document, links: Sequence[Link]) -> list[Link]:
        """Re-order the first candidates of each link of a document. The most probable candidate then comes first.

        Each re-ordered candidate gets the score part ``context``, which is the score of the context. With a fitted
        order, it also gets the score part :data:`RERANKED`. The total score of a candidate does not change. A
        link's confidence belongs to its first candidate; it is removed if another candidate becomes first.

        Links of composite mentions and of mentions without a usable context (see
        :func:`~nymlink.rerank.passages.passages`) do not change.

        Raises:
            ValueError: there is not one link for each mention.
            UnknownNameError: a candidate is not in the vocabulary.
            MissingExtraError: the sentence splitter is not installed.
        """
        return self._reranked(self.score_mentions(document, links), links)

    def explain(self, document: Document, links: Sequence[Link]) -> list[Explanation]:
        """Explain for each mention why its first candidate comes before the second after re-ranking.

        Arguments and errors are those of :meth:`rerank`. For a composite mention, the candidates of its first part
        are explained. Composite mentions and mentions without a usable context have the order of the index.
        """
        scored = self.score_mentions(document, links)
        rows = {int(scored.links[row]): row for row in np.flatnonzero(scored.has_context).tolist()}
        explanations = []
        for place, link in enumerate(self._reranked(scored, links)):
            first, second, *_ = (*link.singles[0].candidates, None, None)
            reasons: tuple[Reason, ...] = ()
            if second is not None and place in rows and self.order is not None:
                ids = [candidate.concept_id for candidate in links[place].candidates[: self.candidates]]
                if first is not None and second.concept_id in ids:
                    one, other = ids.index(first.concept_id), ids.index(second.concept_id)
                    reasons = self.order.reasons(scored.pool, rows[place], one, other)
            said = (
                "by the context alone: nothing was fitted"
                if place in rows
                else "as the index has them: there is no context"
            )
            explanations.append(
                Explanation(link, first, second, reasons, unexplained=said, has_verbatim_first=False)
            )
        return explanations

    def _reranked(self, scored: ScoredMentions, links: Sequence[Link]) -> list[Link]:
        if not scored.has_context.any():
            return list(links)
        total = self.total_scores(scored.pool)
        parts = {CONTEXT: scored.pool.known[CONTEXT]}
        if self.order is not None:
            parts[RERANKED] = softmax(total).astype(float)
        reranked = list(links)
        for mention in np.flatnonzero(scored.has_context).tolist():
            place = int(scored.links[mention])
            added = {name: values[mention] for name, values in parts.items()}
            count = int(scored.pool.valid[mention].sum())
            reranked[place] = _reorder(links[place], total[mention, :count], added)
        return reranked

    def total_scores(self, pool: CandidatePool) -> Scores:
        """Compute the scores by which candidates are ordered: float32 (M, k), minus infinity after the last."""
        if self.order is not None:
            return self.order.scores(pool)
        return np.where(pool.valid, np.nan_to_num(pool.known[CONTEXT]), -np.inf).astype(np.float32)

    def score_mentions(self, document: Document, links: Sequence[Link]) -> ScoredMentions:
        """Score the first candidates of a document's mentions by context, and collect all other evidence.

        Arguments and errors are those of :meth:`rerank`.
        """
        pairs = zip(passages(document, max_length=self.max_length), links, strict=True)
        mentions = [
            (place, part, None if link.parts else passage)
            for place, (passage, link) in enumerate(pairs)
            for part in link.singles
            if part.candidates
        ]
        firsts = [part.candidates[: self.candidates] for _, part, _ in mentions]
        shape = len(mentions), max(map(len, firsts), default=0)
        concepts = np.full(shape, NONE, np.int64)
        for row, first in enumerate(firsts):
            concepts[row, : len(first)] = [self._concept_row(candidate.concept_id) for candidate in first]
        known = _known(firsts, [part for _, part, _ in mentions], shape)
        in_context = {row: passage for row, (_, _, passage) in enumerate(mentions) if passage is not None}
        if in_context:
            candidates = [concepts[row][concepts[row] != NONE].tolist() for row in in_context]
            all_scores = self.scorer.scores(list(in_context.values()), candidates)
            for row, scores in zip(in_context, all_scores, strict=True):
                known[CONTEXT][row, : len(scores)] = scores
        rows = np.unique(concepts).tolist()
        types = [links[place].mention.type or "" for place, _, _ in mentions]
        return ScoredMentions(
            CandidatePool(
                concepts,
                known,
                groups=np.unique(types, return_inverse=True)[1].astype(np.int64),
                mention_types=tuple(types),
                concept_types={row: self._types[row] for row in rows if row in self._types},
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
                    "the index that gives the candidates"
                )
            self._rows[concept_id] = row
            types = tuple(self.vocabulary.columns.concepts["semantic_types"][row].as_py())
            if types:
                self._types[row] = types
        return self._rows[concept_id]


def _known(
    firsts: Sequence[Sequence[Candidate]], links: Sequence[Link], shape: tuple[int, int]
) -> dict[str, Floats]:
    """Collect what links say about their candidates: name of the evidence → float64 (M, k), NaN if unknown."""
    known = {name: np.full(shape, np.nan) for name in KNOWN}
    for row, (first, link) in enumerate(zip(firsts, links, strict=True)):
        for place, candidate in enumerate(first):
            for name, value in {SCORE: candidate.score, **candidate.parts}.items():
                if name in known:
                    known[name][row, place] = value
        for name, value in ((TIED, link.tied), (MEANINGS, link.meanings), (GUESSED, link.guessed)):
            known[name][row, : len(first)] = value
    return known


def _reorder(link: Link, total: Scores, parts: dict[str, Floats]) -> Link:
    """Re-order the first candidates of a link by their total scores, and add score parts to them.

    Args:
        link: a link with at least n candidates.
        total: float32 (n): the total scores of the first n candidates.
        parts: name of each new score part → float64 (n), the values of the first n candidates.
    """
    scored = []
    for place, candidate in enumerate(link.candidates[: len(total)]):
        added = {name: round(float(values[place]), 6) for name, values in parts.items()}
        scored.append(replace(candidate, parts={**candidate.parts, **added}))
    # The sort is stable, so equally probable candidates stay in the order of the index.
    order = np.argsort(-total, kind="stable").tolist()
    return link.reordered((*(scored[place] for place in order), *link.candidates[len(total) :]))
