"""Learn the order of a re-ranker's candidates from mentions in context whose candidates are labelled."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from nymlink.core.errors import InputError
from nymlink.core.store.arrays import Bools, Ints
from nymlink.core.terminal import track
from nymlink.corpus.documents import Corpus
from nymlink.evaluation.outcomes import GoldResolver
from nymlink.index.hits import NONE
from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from nymlink.rerank.evidence import LearnedOrder, describe, ranker_log_odds, type_shares
from nymlink.rerank.reranker import Reranker, ScoredMentions
from nymlink.rerank.scorer import CONTEXT, CandidatePool
from nymlink.train.ranking.boosting import BoostingSettings, boost


@dataclass(frozen=True, slots=True, eq=False)
class LabelledLines:
    """M lines of k candidates each, for N mentions with gold ids and for the other mentions of their documents.

    Attributes:
        pool: candidates of all mentions; a composite mention has a line for each part.
        right: bool (M, k): gold candidates.
        has_context: bool (M): lines with a context.
        owner: int64 (M): number of the mention of each line; :data:`~nymlink.index.hits.NONE` if it has no gold
            id.
        documents: int64 (M): number of the document of each line.
        complete: bool (N): whether all parts of the mention have candidates.
    """

    pool: CandidatePool
    right: Bools
    has_context: Bools
    owner: Ints
    documents: Ints
    complete: Bools

    @property
    def informative(self) -> Bools:
        """Lines with a context and a right candidate: bool (M)."""
        return np.asarray(self.has_context & self.right.any(axis=1))

    @property
    def recall(self) -> float:
        """Share of the mentions with a gold candidate."""
        has_right: Bools = np.logical_or.reduce(self.right, axis=1)
        return float(self._of_mentions(has_right).mean())

    def accuracy(self, total: npt.NDArray[np.floating[Any]]) -> float:
        """Compute Acc@1 of the order by scores (M, k).

        Candidates with equal scores, and lines without context, keep the order of the index.
        """
        return float(self.correct(total).mean())

    def correct(self, total: npt.NDArray[np.floating[Any]]) -> Bools:
        """Find the mentions whose first candidate is right in the order by scores (M, k): bool (N)."""
        first = np.where(self.has_context, total.argmax(axis=1), 0)
        return self._of_mentions(self.right[np.arange(len(first)), first])

    def _of_mentions(self, lines: Bools) -> Bools:
        """Find the complete mentions all of whose lines are true: bool (N)."""
        mentions = self.complete.copy()
        owned = self.owner != NONE
        np.logical_and.at(mentions, self.owner[owned], lines[owned])
        return mentions


def label_candidates(
    index: Index,
    reranker: Reranker,
    corpus: Corpus,
    *,
    types: Collection[str] | None = None,
    language: str | None = None,
    progress: bool = False,
) -> LabelledLines:
    """Link a corpus, score its mentions by context, and label their candidates.

    Args:
        index: the index to link to.
        reranker: the re-ranker of the index's candidates. An order that it learned before does not matter.
        corpus: documents with gold ids.
        types: mentions of these types only.
        language: language code of mentions without one; ``None`` for unknown.
        progress: show progress if standard error is a terminal.

    Raises:
        InputError: no mention has a gold id of the vocabulary, or none has a candidate.
        MissingExtraError: the sentence splitter is not installed.
    """
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
                # Drop only its candidates: its text is context of the other mentions.
                links[place] = replace(link, candidates=(), parts=())
            elif link.mention.concept_ids:
                owner[place] = len(golds)
                golds.append(resolver.rows(link.mention.concept_ids))
                complete.append(all(part.candidates for part in link.singles))
        scored.append(reranker.score_mentions(document, links))
        owners += [owner[place] for place in scored[-1].links.tolist()]
    if not owners:
        raise InputError("no mention of the corpus has a candidate: there is nothing to re-rank")
    pool = CandidatePool.joined([document.pool for document in scored])
    right = [
        np.isin(line, [] if owner == NONE else list(golds[owner]))
        for line, owner in zip(pool.concepts, owners, strict=True)
    ]
    return LabelledLines(
        pool=pool,
        right=np.array(right, bool).reshape(pool.concepts.shape),
        has_context=np.concatenate([document.has_context for document in scored]),
        owner=np.array(owners, np.int64),
        documents=np.repeat(np.arange(len(scored)), [len(document.links) for document in scored]),
        complete=np.array(complete),
    )


_FEWEST: Final = 50
"""Smallest number of mentions with a context and a right candidate that is enough to learn from."""

BY_INDEX: Final = "index"
BY_CONTEXT: Final = "context"
BY_ALL: Final = "all evidence"


@dataclass(frozen=True, slots=True)
class RerankingFit:
    """The learned order, and its accuracy.

    Attributes:
        order: the order learned from all mentions.
        mentions: number of mentions with a gold id.
        recall: share of the mentions with a gold candidate, the upper bound of Acc@1.
        figures: kind of order → Acc@1. For :data:`BY_ALL`, each half of the documents is measured with an order
            learned from the other half.
    """

    order: LearnedOrder
    mentions: int
    recall: float
    figures: Mapping[str, float]

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as JSON values."""
        return {"mentions": self.mentions, "recall": self.recall, "figures": dict(self.figures)}


def fit_reranking(
    index: Index,
    reranker: Reranker,
    corpus: Corpus,
    *,
    types: Collection[str] | None = None,
    language: str | None = None,
    settings: BoostingSettings | None = None,
    progress: bool = False,
) -> RerankingFit:
    """Learn the order of a re-ranker's candidates from a development corpus.

    All mentions with gold ids count. If the gold ids of a mention are unknown or not among its candidates, the
    mention counts as wrong, and all its candidates are examples of wrong ones. A composite mention is right if all
    its parts are right. Composite mentions and mentions without context keep the order of the index, and nothing
    is learned from them. Mentions without gold ids are evidence for the other mentions of their document.

    Use a development corpus. Its mentions should neither have trained the re-ranker nor be used for published
    figures.

    Args:
        index: the index to link to.
        reranker: the re-ranker of the index's candidates. An order that it learned before does not matter.
        corpus: documents with gold ids.
        types: mentions of these types only.
        language: language code of mentions without one; ``None`` for unknown.
        settings: settings of the boosting; ``None`` for the default.
        progress: show progress if standard error is a terminal.

    Raises:
        InputError: no mention has a gold id of the vocabulary; too few have a right candidate and a context, or
            all these are in one half of the documents.
        MissingExtraError: the sentence splitter is not installed.
    """
    settings = settings or BoostingSettings()
    data = label_candidates(index, reranker, corpus, types=types, language=language, progress=progress)
    if (count := int(data.informative.sum())) < _FEWEST:
        raise InputError(
            f"{count} mentions with a right candidate and a context are too few: it takes {_FEWEST} to learn an "
            "order. Does the corpus have texts, and do its mentions have offsets?"
        )
    halves = [data.documents % 2 == half for half in (0, 1)]
    if not all((data.informative & half).any() for half in halves):
        raise InputError(
            "all mentions with a right candidate and a context are in one half of the documents: it takes more "
            "documents to measure what is learned"
        )
    crossed = np.zeros(data.pool.concepts.shape, np.float32)
    for half, other in zip(halves, reversed(halves), strict=True):
        crossed[half] = learn_order(data, other, settings, progress=progress).scores(data.pool)[half]
    context = np.where(data.pool.valid, np.nan_to_num(data.pool.known[CONTEXT]), -np.inf)
    return RerankingFit(
        order=learn_order(data, np.ones(len(data.owner), bool), settings, progress=progress),
        mentions=len(data.complete),
        recall=data.recall,
        figures={
            BY_INDEX: data.accuracy(np.zeros(context.shape)),
            BY_CONTEXT: data.accuracy(context),
            BY_ALL: data.accuracy(crossed),
        },
    )


def learn_order(
    data: LabelledLines, lines: Bools, settings: BoostingSettings, *, progress: bool = False
) -> LearnedOrder:
    """Learn the order of candidates from the given lines with a gold id and a context."""
    taught = lines & data.has_context & (data.owner != NONE)
    pool, right = data.pool.chosen(taught), data.right[taught]
    types = type_shares(pool, right)
    # Describe the whole pool, because all mentions of a document are evidence.
    described = describe(data.pool, types)[taught]
    counts = pool.valid.sum(axis=1)
    trees = boost(
        described[pool.valid],
        np.cumsum(counts) - counts,
        right[pool.valid],
        np.ones(len(counts)),
        settings,
        start=ranker_log_odds(data.pool)[taught][pool.valid],
        progress=progress,
    )
    return LearnedOrder(trees, types, f"{len(counts):,} mentions")
