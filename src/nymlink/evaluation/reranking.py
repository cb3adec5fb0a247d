"""Evaluation of a re-ranker: the ranks of gold concepts before and after re-ranking."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from nymlink.core.errors import InputError
from nymlink.core.terminal import track
from nymlink.corpus.documents import Corpus, Mention
from nymlink.evaluation.breakdown import concept_label
from nymlink.evaluation.outcomes import GoldResolver, Rank, accuracy, as_array, first_rank, worst_rank
from nymlink.evaluation.significance import McNemar, mcnemar
from nymlink.index.index import Index
from nymlink.linking.context import sentence
from nymlink.linking.link import Link
from nymlink.linking.linker import Linker
from nymlink.rerank.reranker import Reranker
from nymlink.vocabulary.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class RerankedMention:
    """The ranks of a mention with gold ids, before and after re-ranking.

    A composite mention has the rank of its worst part.

    Attributes:
        document_id: its document.
        mention: the mention, with its gold ids.
        sentence: the sentence of the mention, or the whole text if its offsets are unknown.
        ambiguous: whether the mention, or a part of it, is a name of several concepts, or has two first candidates
            with equal scores.
        seen: whether a gold id occurs in the training corpora. For a composite mention, all gold ids must occur.
        before: rank, from 0, of the gold concept among the candidates of the index; ``None`` if it is not among
            them.
        after: the same rank after re-ranking.
        first_before: for each part, the id of the first candidate of the index; ``None`` if there is none.
        first_after: the same ids after re-ranking.
    """

    document_id: str
    mention: Mention
    sentence: str
    ambiguous: bool
    seen: bool
    before: Rank
    after: Rank
    first_before: tuple[str | None, ...]
    first_after: tuple[str | None, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values. They have the offsets, the text and the gold ids of the mention."""
        return {
            "document": self.document_id,
            "start": self.mention.start,
            "end": self.mention.end,
            "mention": self.mention.text,
            "gold": list(self.mention.concept_ids),
            "ambiguous": self.ambiguous,
            "seen": self.seen,
            "before": self.before,
            "after": self.after,
            "first_before": list(self.first_before),
            "first_after": list(self.first_after),
        }


@dataclass(frozen=True, slots=True)
class GroupFigures:
    """The accuracies of a group of mentions, as shares.

    Attributes:
        n: the number of mentions.
        before: Acc@1 and Acc@5 of the index alone.
        after: Acc@1 and Acc@5 after re-ranking.
        recall: share of the mentions with a right candidate, which no accuracy can exceed.
    """

    n: int
    before: tuple[float, float]
    after: tuple[float, float]
    recall: float

    @classmethod
    def of(cls, mentions: Iterable[RerankedMention]) -> GroupFigures:
        """Compute the accuracies of at least one mention."""
        before, after = (
            as_array(ranks)
            for ranks in zip(*((mention.before, mention.after) for mention in mentions), strict=True)
        )
        return cls(
            n=len(before),
            before=(accuracy(before, 1), accuracy(before, 5)),
            after=(accuracy(after, 1), accuracy(after, 5)),
            recall=float(np.isfinite(before).mean()),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as JSON values."""
        return {
            "n": self.n,
            **{f"before@{k}": share for k, share in zip((1, 5), self.before, strict=True)},
            **{f"after@{k}": share for k, share in zip((1, 5), self.after, strict=True)},
            "recall": self.recall,
        }


@dataclass(frozen=True)
class RerankingEvaluation:
    """The result of linking a corpus with and without a re-ranker.

    Attributes:
        mentions: all mentions with gold ids.
        trained: whether the training corpora are known. If so, it is known which concepts were seen in training.
    """

    mentions: Sequence[RerankedMention]
    trained: bool

    @cached_property
    def figures(self) -> Mapping[str, GroupFigures]:
        """Accuracies of all mentions, of ambiguous mentions and, if known, of seen and unseen concepts."""
        groups = {
            "all": list(self.mentions),
            "ambiguous": [mention for mention in self.mentions if mention.ambiguous],
        }
        if self.trained:
            groups["seen"] = [mention for mention in self.mentions if mention.seen]
            groups["unseen"] = [mention for mention in self.mentions if not mention.seen]
        return {name: GroupFigures.of(group) for name, group in groups.items() if group}

    @cached_property
    def test(self) -> McNemar:
        """McNemar's test of the first candidates. The first run is the index alone, the second is re-ranked."""
        return mcnemar(self._right("before"), self._right("after"))

    def _right(self, when: str) -> npt.NDArray[np.bool_]:
        return np.array([getattr(mention, when) == 0 for mention in self.mentions])

    @property
    def changed(self) -> list[RerankedMention]:
        """The mentions whose first candidate differs after re-ranking."""
        return [mention for mention in self.mentions if mention.first_before != mention.first_after]

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as JSON values."""
        return {
            "figures": {name: group.to_dict() for name, group in self.figures.items()},
            "mcnemar": self.test.to_dict(),
            "mentions": [mention.to_dict() for mention in self.mentions],
        }


def evaluate_reranking(
    index: Index,
    reranker: Reranker,
    corpus: Corpus,
    *,
    types: Collection[str] | None = None,
    language: str | None = None,
    training: Sequence[Corpus] = (),
    progress: bool = False,
) -> RerankingEvaluation:
    """Link a corpus with an index, re-rank the candidates, and measure both.

    All mentions with gold ids count. A mention is wrong if its gold ids are not in the vocabulary or not among its
    candidates. A composite mention is right if each of its parts is right.

    Args:
        index: the index to link to.
        reranker: the re-ranker of the index's candidates.
        corpus: documents with gold ids.
        types: score mentions of these types only.
        language: default language code of mentions; ``None`` if it is unknown, see
            :class:`~nymlink.linking.linker.Linker`.
        training: the training corpora of the re-ranker.
        progress: whether to show progress when standard error is a terminal.

    Raises:
        InputError: no mention has a gold id of the vocabulary, or no training mention has a gold id.
        MissingExtraError: the sentence splitter is not installed.
    """
    linker, resolver = Linker(index, top_k=reranker.candidates, language=language), GoldResolver(index.vocabulary)
    resolver.require(corpus, types)
    trained = {
        concept
        for split in training
        for _, mention in split.mentions()
        for gold_id in mention.concept_ids
        for concept in _concepts(resolver, gold_id)
    }
    if training and not trained:
        raise InputError(
            "no mention of the training corpora has a gold id, so it is not known which concepts were seen"
        )
    mentions: list[RerankedMention] = []
    linked = zip(corpus.documents, linker.link_documents(corpus.documents), strict=True)
    for document, links in track(linked, "re-ranking", total=len(corpus), shown=progress):
        for before, after in zip(links, reranker.rerank(document, links), strict=True):
            mention = before.mention
            if not mention.concept_ids or (types is not None and mention.type not in types):
                continue
            gold = resolver.rows(mention.concept_ids)
            mentions.append(
                RerankedMention(
                    document_id=document.id,
                    mention=mention,
                    sentence=sentence(document.text, mention),
                    ambiguous=_ambiguous(index, before),
                    seen=(all if mention.parts else any)(
                        trained & _concepts(resolver, gold_id) for gold_id in mention.concept_ids
                    ),
                    before=_rank(index, before, gold),
                    after=_rank(index, after, gold),
                    first_before=_firsts(before),
                    first_after=_firsts(after),
                )
            )
    return RerankingEvaluation(mentions, trained=bool(training))


def readable_changes(evaluation: RerankingEvaluation, vocabulary: Vocabulary) -> list[dict[str, Any]]:
    """List, for people to read, the mentions whose first candidate differs after re-ranking.

    Concepts are shown with their names. ``now`` is "right" if re-ranking corrects a wrong first candidate, "wrong"
    if it replaces a right one, and otherwise empty.
    """
    resolver = GoldResolver(vocabulary)

    def named(ids: Iterable[str | None]) -> str:
        return " | ".join(
            "nothing" if id_ is None else concept_label(vocabulary, id_, sorted(resolver.rows([id_])))
            for id_ in ids
        )

    return [
        {
            "document": change.document_id,
            "start": change.mention.start,
            "end": change.mention.end,
            "mention": change.mention.text,
            "gold": named(change.mention.concept_ids),
            "index": named(change.first_before),
            "re-ranked": named(change.first_after),
            "now": {(True, False): "wrong", (False, True): "right"}.get(
                (change.before == 0, change.after == 0), ""
            ),
            "sentence": change.sentence,
        }
        for change in evaluation.changed
    ]


def _concepts(resolver: GoldResolver, concept_id: str) -> frozenset[int | str]:
    """Return the concepts of an id in any spelling.

    If the vocabulary does not have the id, return the id itself.
    """
    return resolver.rows([concept_id]) or frozenset([concept_id])


def _ambiguous(index: Index, link: Link) -> bool:
    """Whether a mention, or a part of it, is a name of several concepts, or its first two candidates tie."""

    def ambiguous(part: Link) -> bool:
        scores = [candidate.score for candidate in part.candidates[:2]]
        return len(index.concepts_named(part.query)) > 1 or (len(scores) == 2 and scores[0] == scores[1])

    return any(map(ambiguous, link.singles))


def _rank(index: Index, link: Link, gold: frozenset[int]) -> Rank:
    """Return the rank of the first gold concept. For a composite mention, return the rank of the worst part."""
    rows = [[index.vocabulary.row(candidate.concept_id) for candidate in part.candidates] for part in link.singles]
    return worst_rank([first_rank(row in gold for row in part) for part in rows])


def _firsts(link: Link) -> tuple[str | None, ...]:
    return tuple(None if part.best is None else part.best.concept_id for part in link.singles)
