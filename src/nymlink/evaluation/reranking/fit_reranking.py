"""Fitting the weights of context, index and document in re-ranking to a development corpus."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from nymlink.core.errors import InputError
from nymlink.core.store.arrays import Bools
from nymlink.core.terminal.progress import track
from nymlink.corpus.model import Corpus
from nymlink.evaluation.gold import GoldResolver
from nymlink.index.fusion.hits import NONE
from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from nymlink.rerank.log_linear import (
    CandidatePool,
    EvidenceWeights,
    Floats,
    document_support,
    join_pools,
    log_probabilities,
    total_scores,
)
from nymlink.rerank.reranker import Reranker, ScoredMentions

CONTEXT: Final = tuple(2.0**power for power in np.arange(-6, 7.5, 0.5))
RETRIEVAL: Final = (0.0, *(2.0**power for power in np.arange(-1, 8.5, 0.5)))
DOCUMENT: Final = (0.0, *(2.0**power for power in np.arange(-4, 1.5, 0.5)))
"""The grid of weights that are compared."""


@dataclass(frozen=True, slots=True)
class RerankingFit:
    """The best weights for a corpus, and the accuracy that each piece of evidence gives.

    Attributes:
        weights: the best weights.
        mentions: the number of scored mentions: all that have a gold id.
        recall: share of the mentions with a gold concept among their candidates, the upper bound of Acc@1.
        figures: evidence used → Acc@1 with the best weights for it.
        tried: the number of weightings compared.
    """

    weights: EvidenceWeights
    mentions: int
    recall: float
    figures: Mapping[str, float]
    tried: int

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as JSON values."""
        return {**asdict(self), "weights": self.weights.to_dict(), "figures": dict(self.figures)}


def fit_reranking(
    index: Index,
    reranker: Reranker,
    corpus: Corpus,
    *,
    types: Collection[str] | None = None,
    language: str | None = None,
    progress: bool = False,
) -> RerankingFit:
    """Find the weights with which a re-ranker orders the candidates of a corpus best.

    Each mention is scored once. The weight of the context maximises the likelihood of the gold candidates: alone
    it changes no order, but it sets how much a mention counts as evidence for others. With it, the other two
    weights are compared on a grid: the best have the highest Acc@1, then the smallest weights.

    All mentions with gold ids count; one whose gold ids the vocabulary does not know, or whose candidates do not
    have them, is wrong. A composite mention is right when each of its parts is; it, and one without a context,
    stays as the index has it. Mentions without gold ids inform the others of their document all the same.

    Fit on development mentions, never on those that the re-ranker was trained on or that are to be reported.

    Args:
        index: the index to link to.
        reranker: the re-ranker of its candidates; its own weights do not matter.
        corpus: documents with gold ids.
        types: mentions of these types only.
        language: code of the language of mentions that state none; ``None`` where it is unknown, see
            :class:`~nymlink.linking.linker.Linker`.
        progress: whether to show progress when standard error is a terminal.

    Raises:
        InputError: no mention has a gold id of the vocabulary, or none has a candidate, or none with a right
            candidate has a context.
        MissingExtraError: the sentence splitter is not installed.
    """
    data = _label_candidates(index, reranker, corpus, types=types, language=language, progress=progress)
    if not data.informative:
        raise InputError(
            "no mention with a right candidate has a context: does the corpus have texts, and do its mentions "
            "have offsets?"
        )
    context = max(CONTEXT, key=lambda weight: (data.likelihood(EvidenceWeights(context=weight)), -weight))
    accuracies = data.accuracies(context)
    grid = list(accuracies)

    def best(tried: Sequence[EvidenceWeights]) -> EvidenceWeights:
        return max(tried, key=lambda weights: (accuracies[weights], -weights.document, -weights.retrieval))

    settings = {
        "context": [weights for weights in grid if not (weights.retrieval or weights.document)],
        "context, retrieval": [weights for weights in grid if not weights.document],
        "context, document": [weights for weights in grid if not weights.retrieval],
        "context, retrieval, document": grid,
    }
    figures = {name: accuracies[best(tried)] for name, tried in settings.items()}
    return RerankingFit(
        weights=best(grid),
        mentions=len(data.complete),
        recall=data.recall,
        figures={"retrieval": data.accuracy(np.zeros(data.pool.concepts.shape)), **figures},
        tried=len(grid),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _LabelledCandidates:
    """M lines of candidates: those of N mentions with gold ids, and those of other mentions of their documents.

    Attributes:
        pool: the candidates of all mentions, with gold ids or without; a line for each part of a composite one.
        right: bool (M, k): which candidates are gold.
        has_context: bool (M): which lines have a context.
        owner: int64 (M): the mention of each line; :data:`~nymlink.index.fusion.hits.NONE` without a gold id.
        complete: bool (N): whether each part of a mention has candidates.
    """

    pool: CandidatePool
    right: Bools
    has_context: Bools
    owner: npt.NDArray[np.int64]
    complete: Bools

    def accuracy(self, total: Floats) -> float:
        """Compute the share of mentions whose first candidate is right; ties keep the order of the index."""
        first = np.where(self.has_context, total.argmax(axis=1), 0)
        return self._share(self.right[np.arange(len(first)), first])

    def accuracies(self, context: float) -> dict[EvidenceWeights, float]:
        """Compute the accuracies of all weights of the grid, given the weight of the context."""
        accuracies = {}
        for retrieval in RETRIEVAL:
            own = log_probabilities(self.pool, EvidenceWeights(context=context, retrieval=retrieval))
            others = document_support(self.pool, own)
            for document in DOCUMENT:
                weights = EvidenceWeights(context=context, retrieval=retrieval, document=document)
                accuracies[weights] = self.accuracy(total_scores(own, others, weights))
        return accuracies

    @property
    def recall(self) -> float:
        """Share of the mentions with a gold concept among their candidates."""
        return self._share(self._has_right)

    @property
    def informative(self) -> bool:
        """Whether any line has both a context and a right candidate."""
        return bool((self.has_context & self._has_right).any())

    def likelihood(self, weights: EvidenceWeights) -> float:
        """Compute the log-likelihood of gold candidates over lines with a context and a right candidate."""
        lines = self.has_context & self._has_right
        own = np.where(self.right[lines], log_probabilities(self.pool, weights)[lines], -np.inf)
        return float(np.logaddexp.reduce(own, axis=1).sum())

    @property
    def _has_right(self) -> Bools:
        has_right: Bools = np.logical_or.reduce(self.right, axis=1)
        return has_right

    def _share(self, lines: Bools) -> float:
        mentions = self.complete.copy()
        owned = self.owner != NONE
        np.logical_and.at(mentions, self.owner[owned], lines[owned])
        return float(mentions.mean())


def _label_candidates(
    index: Index,
    reranker: Reranker,
    corpus: Corpus,
    *,
    types: Collection[str] | None,
    language: str | None,
    progress: bool,
) -> _LabelledCandidates:
    linker, resolver = Linker(index, top_k=reranker.candidates, language=language), GoldResolver(index.vocabulary)
    resolver.require(corpus, types)
    golds: list[frozenset[int]] = []
    complete: list[bool] = []
    scored: list[ScoredMentions] = []
    owners: list[int] = []
    linked = zip(corpus.documents, linker.link_documents(corpus.documents), strict=True)
    for document, links in track(linked, "scoring", total=len(corpus), shown=progress):
        owner = dict.fromkeys(range(len(links)), NONE)
        for place, link in enumerate(links):
            if types is not None and link.mention.type not in types:
                # Drop its candidates only: its text is still context of the other mentions.
                links[place] = replace(link, candidates=(), parts=())
            elif link.mention.concept_ids:
                owner[place] = len(golds)
                golds.append(resolver.rows(link.mention.concept_ids))
                complete.append(all(part.candidates for part in link.singles))
        scored.append(reranker.score_mentions(document, links))
        owners += [owner[place] for place in scored[-1].links.tolist()]
    if not owners:
        raise InputError("no mention of the corpus has a candidate: there is nothing to re-rank")
    pool = join_pools([document.pool for document in scored])
    right = [
        np.isin(line, [] if owner == NONE else list(golds[owner]))
        for line, owner in zip(pool.concepts, owners, strict=True)
    ]
    return _LabelledCandidates(
        pool=pool,
        right=np.array(right, bool).reshape(pool.concepts.shape),
        has_context=np.concatenate([document.has_context for document in scored]),
        owner=np.array(owners, np.int64),
        complete=np.array(complete),
    )
