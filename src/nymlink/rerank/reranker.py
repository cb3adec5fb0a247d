"""Candidates in another order: that of what the context says."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from nymlink.core.errors import InputError, UnknownNameError
from nymlink.corpus.model import Document
from nymlink.index.fusion.hits import NONE
from nymlink.index.index import Index
from nymlink.link.model import Link
from nymlink.rerank.combine import Floats, Pool, Weights, elsewhere, log_probabilities, totals
from nymlink.rerank.passages import MAX_LENGTH, passages
from nymlink.rerank.scorer import CANDIDATES, ContextScorer
from nymlink.vocabulary.vocabulary import Vocabulary

CONTEXT: Final = "context"
DOCUMENT: Final = "document"
"""The score parts that a re-ranker adds."""


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """The mentions of a document that have candidates; of a composite one, each of its parts.

    Attributes:
        pool: their candidates with their scores; a group is the mentions of one type.
        links: int64 (M): the places of their links.
        informed: bool (M): whether they have a context that can be used. Others keep the order of the index.
    """

    pool: Pool
    links: npt.NDArray[np.int64]
    informed: npt.NDArray[np.bool_]


class Reranker:
    """Re-orders the candidates of mentions by their contexts.

    Args:
        scorer: says how well concepts fit mentions in their contexts.
        vocabulary: has the concepts: that of the index that gives the candidates.
        weights: what else counts; without them nothing does.
        candidates: how many candidates of a mention are put in order: the first ones. Those after them stay as
            the index has them.
        max_length: tokens that the scorer reads of a mention with its context: so much text is prepared for it.
    """

    def __init__(
        self,
        scorer: ContextScorer,
        vocabulary: Vocabulary,
        *,
        weights: Weights | None = None,
        candidates: int = CANDIDATES,
        max_length: int = MAX_LENGTH,
    ) -> None:
        self.scorer = scorer
        self.vocabulary = vocabulary
        self.weights = weights or Weights()
        self.candidates = candidates
        self.max_length = max_length
        self._rows: dict[str, int] = {}

    @classmethod
    def load(cls, folder: str | Path, index: Index | Vocabulary, *, refit: bool = False) -> Reranker:
        """A re-ranker of a folder that a training wrote, with what was fitted to it, if anything.

        Where nothing was, it puts as many candidates in order as the model was trained with. It runs on the first
        CUDA device, or else on the CPU. Where something was fitted to scores that are made in another way than
        those of the index, that is used all the same, with a warning.

        Args:
            folder: the folder.
            index: gives the candidates; or its vocabulary alone, which says nothing of its scores.
            refit: whether it is going to be fitted anew: what was fitted and is damaged is then nothing.

        Raises:
            StoreError: it is missing, damaged, or of another format version.
            MissingExtraError: torch or transformers is not installed.
        """
        from nymlink.rerank.folder import Fitted, fitted, open_scorer, scores_of

        found = fitted(folder, refit=refit)
        vocabulary = index.vocabulary if isinstance(index, Index) else index
        scorer = open_scorer(Path(folder), vocabulary)
        made = scorer.model.settings
        found = found or Fitted(weights=Weights(), candidates=made.candidates)
        if isinstance(index, Index) and found.scores not in (None, scores_of(index)):
            warnings.warn(
                f"{folder}: what counts beside the context was fitted to scores that are made in another way than "
                "those of this index: run `nymlink rerank fit` with it",
                stacklevel=2,
            )
        return cls(
            scorer,
            vocabulary,
            weights=found.weights,
            candidates=found.candidates,
            max_length=made.max_length,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        raise InputError(
            "a re-ranker cannot be handed to another process: load it there (Reranker.load), in each process"
        )

    def rerank(self, document: Document, links: Sequence[Link]) -> list[Link]:
        """The links of a document with their first candidates in another order, the likeliest first.

        Each of these gets the score part ``context``, what the scorer says, and where other mentions count,
        ``document``: how probably another mention of the document means it. Its score stays what the index gave
        it. A confidence says how sure the first candidate is: it goes where another one comes first.

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
        scored = self.scored(document, links)
        if not scored.informed.any():
            return list(links)
        own = log_probabilities(scored.pool, self.weights)
        heard = elsewhere(scored.pool, own)
        total = totals(own, heard, self.weights)
        parts = {CONTEXT: scored.pool.context} | ({DOCUMENT: heard} if self.weights.document else {})
        changed = list(links)
        for mention in np.flatnonzero(scored.informed).tolist():
            place = int(scored.links[mention])
            added = {name: values[mention] for name, values in parts.items()}
            first = int((scored.pool.concepts[mention] != NONE).sum())
            changed[place] = _reordered(links[place], total[mention, :first], added)
        return changed

    def scored(self, document: Document, links: Sequence[Link]) -> Scored:
        """The first candidates of the mentions of a document with all that their order depends on.

        Arguments and errors are those of :meth:`rerank`.
        """
        said = zip(passages(document, max_length=self.max_length), links, strict=True)
        mentions = [
            (place, part.candidates[: self.candidates], None if link.parts else passage)
            for place, (passage, link) in enumerate(said)
            for part in link.singles
            if part.candidates
        ]
        shape = len(mentions), max((len(first) for _, first, _ in mentions), default=0)
        concepts = np.full(shape, NONE, np.int64)
        context, retrieval = np.zeros(shape), np.zeros(shape)
        for line, (_, first, _) in enumerate(mentions):
            concepts[line, : len(first)] = [self._row(one.concept_id) for one in first]
            retrieval[line, : len(first)] = [one.score for one in first]
        informed = {line: passage for line, (_, _, passage) in enumerate(mentions) if passage is not None}
        if informed:
            candidates = [concepts[line][concepts[line] != NONE].tolist() for line in informed]
            found = self.scorer.scores(list(informed.values()), candidates)
            for line, scores in zip(informed, found, strict=True):
                context[line, : len(scores)] = scores
        types = [links[place].mention.type for place, _, _ in mentions]
        return Scored(
            Pool(concepts, context, retrieval, groups=np.unique(types, return_inverse=True)[1].astype(np.int64)),
            links=np.array([place for place, _, _ in mentions], np.int64),
            informed=np.isin(np.arange(len(mentions)), list(informed)),
        )

    def _row(self, concept_id: str) -> int:
        if concept_id not in self._rows:
            row = self.vocabulary.row(concept_id)
            if row is None:
                raise UnknownNameError(f"no concept {concept_id!r} in the vocabulary: is it that of the index?")
            self._rows[concept_id] = row
        return self._rows[concept_id]


def _reordered(link: Link, total: Floats, parts: dict[str, Floats]) -> Link:
    """A link with as many first candidates in the order of their totals as there are of these."""
    scored = [
        replace(one, parts={**one.parts, **{name: round(float(values[at]), 6) for name, values in parts.items()}})
        for at, one in enumerate(link.candidates[: len(total)])
    ]
    # Stable: what is equally likely stays in the order of the index.
    order = np.argsort(-total, kind="stable").tolist()
    confidence = link.confidence if order[0] == 0 else None
    candidates = (*(scored[at] for at in order), *link.candidates[len(total) :])
    return replace(link, candidates=candidates, confidence=confidence)
