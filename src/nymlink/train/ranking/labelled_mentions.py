"""Mentions of a corpus in context, with candidates that are labelled: what a re-ranker's order is learned from."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from nymlink.core.errors import InputError
from nymlink.core.store.arrays import Bools, Ints
from nymlink.core.terminal.progress import track
from nymlink.corpus.model import Corpus
from nymlink.evaluation.gold import GoldResolver
from nymlink.index.fusion.hits import NONE
from nymlink.index.index import Index
from nymlink.linking.linker import Linker
from nymlink.rerank.candidate_pool import CandidatePool
from nymlink.rerank.reranker import Reranker, ScoredMentions


@dataclass(frozen=True, slots=True, eq=False)
class LabelledMentions:
    """M lines of candidates: those of N mentions with gold ids, and those of other mentions of their documents.

    Attributes:
        pool: the candidates of all mentions, with gold ids or without; a line for each part of a composite one.
        right: bool (M, k): which candidates are gold.
        has_context: bool (M): which lines have a context.
        owner: int64 (M): the mention of each line; :data:`~nymlink.index.fusion.hits.NONE` without a gold id.
        documents: int64 (M): number of the document of each line.
        complete: bool (N): whether each part of a mention has candidates.
    """

    pool: CandidatePool
    right: Bools
    has_context: Bools
    owner: Ints
    documents: Ints
    complete: Bools

    @property
    def informative(self) -> Bools:
        """Which lines have both a context and a right candidate: bool (M)."""
        return np.asarray(self.has_context & self.right.any(axis=1))

    @property
    def recall(self) -> float:
        """Share of the mentions with a gold concept among their candidates."""
        has_right: Bools = np.logical_or.reduce(self.right, axis=1)
        return float(self._of_mentions(has_right).mean())

    def accuracy(self, total: npt.NDArray[np.floating[Any]]) -> float:
        """Compute Acc@1 in the order of scores (M, k); lines without context, and ties, keep that of the index."""
        return float(self.correct(total).mean())

    def correct(self, total: npt.NDArray[np.floating[Any]]) -> Bools:
        """Find the mentions whose first candidate is right in the order of scores (M, k): bool (N)."""
        first = np.where(self.has_context, total.argmax(axis=1), 0)
        return self._of_mentions(self.right[np.arange(len(first)), first])

    def _of_mentions(self, lines: Bools) -> Bools:
        """Find the mentions of which each line is true: bool (N)."""
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
) -> LabelledMentions:
    """Link a corpus, score its mentions by context, and label their candidates.

    Args:
        index: the index to link to.
        reranker: the re-ranker of its candidates; its own order does not matter.
        corpus: documents with gold ids.
        types: mentions of these types only.
        language: code of the language of mentions that state none; ``None`` where it is unknown.
        progress: whether to show progress when standard error is a terminal.

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
    pool = CandidatePool.joined([document.pool for document in scored])
    right = [
        np.isin(line, [] if owner == NONE else list(golds[owner]))
        for line, owner in zip(pool.concepts, owners, strict=True)
    ]
    return LabelledMentions(
        pool=pool,
        right=np.array(right, bool).reshape(pool.concepts.shape),
        has_context=np.concatenate([document.has_context for document in scored]),
        owner=np.array(owners, np.int64),
        documents=np.repeat(np.arange(len(scored)), [len(document.links) for document in scored]),
        complete=np.array(complete),
    )
