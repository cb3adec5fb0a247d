"""Fitting what the index and the rest of the document count beside the context, on a development corpus."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from nymlink.core.errors import InputError
from nymlink.core.progress import track
from nymlink.core.store.arrays import Bools
from nymlink.corpus.model import Corpus
from nymlink.evaluate.gold import GoldResolver
from nymlink.index.fusion.hits import NONE
from nymlink.index.index import Index
from nymlink.link.linker import Linker
from nymlink.rerank.combine import Floats, Pool, Weights, elsewhere, joined, log_probabilities, totals
from nymlink.rerank.reranker import Reranker, Scored

CONTEXT: Final = tuple(2.0**power for power in np.arange(-6, 7.5, 0.5))
RETRIEVAL: Final = (0.0, *(2.0**power for power in np.arange(-1, 8.5, 0.5)))
DOCUMENT: Final = (0.0, *(2.0**power for power in np.arange(-4, 1.5, 0.5)))
"""The weights that are compared."""


@dataclass(frozen=True, slots=True)
class RerankingFit:
    """The weights that a corpus prefers, and what each piece of evidence gives.

    Attributes:
        weights: the best.
        mentions: how many were scored: all that have a gold id.
        recall: share of them that have a gold concept among their candidates: no order can be better.
        figures: what is used → Acc@1, each with the weights that are best for it.
        tried: how many weightings were compared.
    """

    weights: Weights
    mentions: int
    recall: float
    figures: Mapping[str, float]
    tried: int

    def to_dict(self) -> dict[str, Any]:
        """JSON values."""
        return {**asdict(self), "weights": self.weights.to_dict(), "figures": dict(self.figures)}


def fit_reranking(
    index: Index,
    reranker: Reranker,
    corpus: Corpus,
    *,
    types: Collection[str] | None = None,
    progress: bool = False,
) -> RerankingFit:
    """Find the weights by which a re-ranker orders the candidates of a corpus best.

    Each mention is scored once. The weight of the context is that by which its probabilities fit best (the highest
    likelihood of what is gold): alone it changes no order, but says how sure a mention is when others listen to
    it. With it, the other two are compared on a grid: best is the highest Acc@1, then the smallest weights.

    All mentions with gold ids count; one whose gold ids the vocabulary does not know, or whose candidates do not
    have them, is wrong. A composite mention is right when each of its parts is; it, and one without a context,
    stays as the index has it. Mentions without gold ids inform the others of their document all the same.

    Fit on development mentions, never on those that the re-ranker was trained on or that are to be reported.

    Args:
        index: what to link to.
        reranker: orders its candidates; its own weights do not matter.
        corpus: documents with gold ids.
        types: mentions of these types only.
        progress: whether to show progress when standard error is a terminal.

    Raises:
        InputError: no mention has a gold id that the vocabulary has, or none has a candidate, or none that has a
            right one has a context.
        MissingExtraError: the sentence splitter is not installed.
    """
    found = _judged(index, reranker, corpus, types=types, progress=progress)
    if not found.tells:
        raise InputError(
            "no mention with a right candidate has a context that can be used: has the corpus texts, and its "
            "mentions their places in them?"
        )
    context = max(CONTEXT, key=lambda one: (found.likelihood(Weights(context=one)), -one))
    accuracies = found.accuracies(context)
    grid = list(accuracies)

    def best(tried: Sequence[Weights]) -> Weights:
        return max(tried, key=lambda one: (accuracies[one], -one.document, -one.retrieval))

    settings = {
        "context": [one for one in grid if not (one.retrieval or one.document)],
        "context, retrieval": [one for one in grid if not one.document],
        "context, document": [one for one in grid if not one.retrieval],
        "context, retrieval, document": grid,
    }
    figures = {name: accuracies[best(tried)] for name, tried in settings.items()}
    return RerankingFit(
        weights=best(grid),
        mentions=len(found.complete),
        recall=found.recall,
        figures={"retrieval": found.accuracy(np.zeros(found.pool.concepts.shape)), **figures},
        tried=len(grid),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Judged:
    """What there is for N mentions that have gold ids: M lines of candidates, theirs and those that inform them.

    Attributes:
        pool: the candidates of all mentions, with gold ids or without; of composite ones, of each part.
        right: bool (M, k): which candidates are gold.
        informed: bool (M): which lines have a context.
        owner: int64 (M): the mention whose line it is; :data:`~nymlink.index.fusion.hits.NONE` where it has no
        gold id.
        complete: bool (N): whether each part of a mention has candidates.
    """

    pool: Pool
    right: Bools
    informed: Bools
    owner: npt.NDArray[np.int64]
    complete: Bools

    def accuracy(self, total: Floats) -> float:
        """Share of the mentions whose first candidate is right. Equal totals leave the order of the index."""
        first = np.where(self.informed, total.argmax(axis=1), 0)
        return self._share(self.right[np.arange(len(first)), first])

    def accuracies(self, context: float) -> dict[Weights, float]:
        """Those of all weights of the grid with this one for the context."""
        found = {}
        for retrieval in RETRIEVAL:
            own = log_probabilities(self.pool, Weights(context=context, retrieval=retrieval))
            heard = elsewhere(self.pool, own)
            for document in DOCUMENT:
                weights = Weights(context=context, retrieval=retrieval, document=document)
                found[weights] = self.accuracy(totals(own, heard, weights))
        return found

    @property
    def recall(self) -> float:
        """Share of the mentions that have a gold concept among their candidates."""
        return self._share(self._has_right)

    @property
    def tells(self) -> bool:
        """Whether any line says what the context counts: it has one, and a right candidate."""
        return bool((self.informed & self._has_right).any())

    def likelihood(self, weights: Weights) -> float:
        """Of the gold candidates of all lines that have a context and one: the sum of its logarithms."""
        lines = self.informed & self._has_right
        own = np.where(self.right[lines], log_probabilities(self.pool, weights)[lines], -np.inf)
        return float(np.logaddexp.reduce(own, axis=1).sum())

    @property
    def _has_right(self) -> Bools:
        found: Bools = np.logical_or.reduce(self.right, axis=1)
        return found

    def _share(self, lines: Bools) -> float:
        mentions = self.complete.copy()
        judged = self.owner != NONE
        np.logical_and.at(mentions, self.owner[judged], lines[judged])
        return float(mentions.mean())


def _judged(
    index: Index,
    reranker: Reranker,
    corpus: Corpus,
    *,
    types: Collection[str] | None,
    progress: bool,
) -> _Judged:
    linker, resolver = Linker(index, top_k=reranker.candidates), GoldResolver(index.vocabulary)
    resolver.require(corpus, types)
    golds: list[frozenset[int]] = []
    complete: list[bool] = []
    scored: list[Scored] = []
    owners: list[int] = []
    linked = zip(corpus.documents, linker.link_documents(corpus.documents), strict=True)
    for document, links in track(linked, "scoring", total=len(corpus), shown=progress):
        owner = dict.fromkeys(range(len(links)), NONE)
        for place, link in enumerate(links):
            if types is not None and link.mention.type not in types:
                # Only its candidates go: the text around the others is that of the whole document.
                links[place] = replace(link, candidates=(), parts=())
            elif link.mention.concept_ids:
                owner[place] = len(golds)
                golds.append(resolver.rows(link.mention.concept_ids))
                complete.append(all(part.candidates for part in link.singles))
        scored.append(reranker.scored(document, links))
        owners += [owner[place] for place in scored[-1].links.tolist()]
    if not owners:
        raise InputError("no mention has a candidate: nothing can be put in order")
    pool = joined([one.pool for one in scored])
    right = [
        np.isin(line, [] if owner == NONE else list(golds[owner]))
        for line, owner in zip(pool.concepts, owners, strict=True)
    ]
    return _Judged(
        pool=pool,
        right=np.array(right, bool).reshape(pool.concepts.shape),
        informed=np.concatenate([one.informed for one in scored]),
        owner=np.array(owners, np.int64),
        complete=np.array(complete),
    )
