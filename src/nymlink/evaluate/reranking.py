"""What a re-ranker is worth on a corpus: where the right concept stands before it, and after it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from nymlink.core.errors import InputError
from nymlink.core.progress import track
from nymlink.corpus.model import Corpus, Mention
from nymlink.evaluate.diagnosis import sentence, told
from nymlink.evaluate.gold import GoldResolver
from nymlink.evaluate.metrics import accuracy, as_array
from nymlink.evaluate.outcomes import Rank, first_rank, worst_rank
from nymlink.evaluate.significance import McNemar, mcnemar
from nymlink.index.index import Index
from nymlink.link.linker import Linker
from nymlink.link.model import Link
from nymlink.rerank.reranker import Reranker
from nymlink.vocabulary.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class RerankedMention:
    """What became of a mention that has gold ids. A composite one has the rank of its worst part.

    Attributes:
        document_id: its document.
        mention: the mention, with its gold ids.
        sentence: what it stands in, or the whole text where its place is not known.
        ambiguous: it, or a part of it, is a name of several concepts, or the index cannot tell its first two
            candidates apart.
        seen: whether a gold id (of a composite mention, each of them) occurs in the training corpora.
        before: the rank of the gold concept among the candidates of the index, from 0; ``None`` if it is not one.
        after: the same when they are re-ranked.
        first_before: for each part the id of the first candidate of the index; ``None`` where there is none.
        first_after: the same when they are re-ranked.
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
        """JSON values; of the mention its place, text and gold ids."""
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
    """The figures of some mentions, as shares.

    Attributes:
        n: how many they are.
        before: Acc@1 and Acc@5 of the index alone.
        after: the same when its candidates are re-ranked.
        recall: how many have a right candidate: more cannot be reached.
    """

    n: int
    before: tuple[float, float]
    after: tuple[float, float]
    recall: float

    @classmethod
    def of(cls, mentions: Iterable[RerankedMention]) -> GroupFigures:
        """Those of these mentions, at least one."""
        before, after = (
            as_array(ranks) for ranks in zip(*((one.before, one.after) for one in mentions), strict=True)
        )
        return cls(
            n=len(before),
            before=(accuracy(before, 1), accuracy(before, 5)),
            after=(accuracy(after, 1), accuracy(after, 5)),
            recall=float(np.isfinite(before).mean()),
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON values."""
        return {
            "n": self.n,
            **{f"before@{k}": share for k, share in zip((1, 5), self.before, strict=True)},
            **{f"after@{k}": share for k, share in zip((1, 5), self.after, strict=True)},
            "recall": self.recall,
        }


@dataclass(frozen=True)
class RerankingEvaluation:
    """A corpus, linked with and without a re-ranker.

    Attributes:
        mentions: all that have gold ids.
        trained: whether it is known which concepts were seen in training.
    """

    mentions: Sequence[RerankedMention]
    trained: bool

    @cached_property
    def figures(self) -> Mapping[str, GroupFigures]:
        """Those of all mentions; of ambiguous ones; and, where that is known, of concepts seen or unseen."""
        groups = {"all": list(self.mentions), "ambiguous": [one for one in self.mentions if one.ambiguous]}
        if self.trained:
            groups["seen"] = [one for one in self.mentions if one.seen]
            groups["unseen"] = [one for one in self.mentions if not one.seen]
        return {name: GroupFigures.of(group) for name, group in groups.items() if group}

    @cached_property
    def test(self) -> McNemar:
        """Whether re-ranking changes how many first candidates are right; first the index, second re-ranked."""
        return mcnemar(self._right("before"), self._right("after"))

    def _right(self, when: str) -> npt.NDArray[np.bool_]:
        return np.array([getattr(one, when) == 0 for one in self.mentions])

    @property
    def changed(self) -> list[RerankedMention]:
        """The mentions that mean another concept when re-ranked."""
        return [one for one in self.mentions if one.first_before != one.first_after]

    def to_dict(self) -> dict[str, Any]:
        """JSON values."""
        return {
            "figures": {name: group.to_dict() for name, group in self.figures.items()},
            "mcnemar": self.test.to_dict(),
            "mentions": [one.to_dict() for one in self.mentions],
        }


def evaluate_reranking(
    index: Index,
    reranker: Reranker,
    corpus: Corpus,
    *,
    types: Collection[str] | None = None,
    training: Sequence[Corpus] = (),
    progress: bool = False,
) -> RerankingEvaluation:
    """Link a corpus with the candidates of an index as they are, and re-ranked by the re-ranker's own weights.

    All mentions with gold ids count; one whose gold ids the vocabulary does not know, or whose candidates do not
    have them, is wrong. A composite mention is right when each of its parts is.

    Args:
        index: what to link to.
        reranker: orders its candidates.
        corpus: documents with gold ids.
        types: score mentions of these types only.
        training: what the re-ranker was trained on.
        progress: whether to show progress when standard error is a terminal.

    Raises:
        InputError: no mention has a gold id that the vocabulary has, or no training mention has any.
        MissingExtraError: the sentence splitter is not installed.
    """
    linker, resolver = Linker(index, top_k=reranker.candidates), GoldResolver(index.vocabulary)
    resolver.require(corpus, types)
    trained = {
        concept
        for split in training
        for _, mention in split.mentions()
        for gold_id in mention.concept_ids
        for concept in _concepts(resolver, gold_id)
    }
    if training and not trained:
        raise InputError("no mention of the training corpora has a gold id: what was seen there cannot be told")
    found: list[RerankedMention] = []
    linked = zip(corpus.documents, linker.link_documents(corpus.documents), strict=True)
    for document, links in track(linked, "re-ranking", total=len(corpus), shown=progress):
        for before, after in zip(links, reranker.rerank(document, links), strict=True):
            mention = before.mention
            if not mention.concept_ids or (types is not None and mention.type not in types):
                continue
            gold = resolver.rows(mention.concept_ids)
            found.append(
                RerankedMention(
                    document_id=document.id,
                    mention=mention,
                    sentence=sentence(document.text, mention),
                    ambiguous=_ambiguous(index, before),
                    seen=(all if mention.parts else any)(
                        trained & _concepts(resolver, one) for one in mention.concept_ids
                    ),
                    before=_rank(index, before, gold),
                    after=_rank(index, after, gold),
                    first_before=_firsts(before),
                    first_after=_firsts(after),
                )
            )
    return RerankingEvaluation(found, trained=bool(training))


def told_changes(found: RerankingEvaluation, vocabulary: Vocabulary) -> list[dict[str, Any]]:
    """The mentions that mean another concept when re-ranked, for a person to read: concepts with their names.

    ``now`` says whether a first candidate that was wrong is right now, or the contrary; it is empty otherwise.
    """
    resolver = GoldResolver(vocabulary)

    def named(ids: Iterable[str | None]) -> str:
        return " | ".join(
            "nothing" if one is None else told(vocabulary, one, sorted(resolver.rows([one]))) for one in ids
        )

    return [
        {
            "document": one.document_id,
            "start": one.mention.start,
            "end": one.mention.end,
            "mention": one.mention.text,
            "gold": named(one.mention.concept_ids),
            "index": named(one.first_before),
            "re-ranked": named(one.first_after),
            "now": {(True, False): "wrong", (False, True): "right"}.get((one.before == 0, one.after == 0), ""),
            "sentence": one.sentence,
        }
        for one in found.changed
    ]


def _concepts(resolver: GoldResolver, concept_id: str) -> frozenset[int | str]:
    """What an id stands for, however it is written; for itself where the vocabulary does not know it."""
    return resolver.rows([concept_id]) or frozenset([concept_id])


def _ambiguous(index: Index, link: Link) -> bool:
    """Whether a mention or a part of it is a name of several concepts, or the first two candidates tie."""

    def doubtful(part: Link) -> bool:
        scores = [one.score for one in part.candidates[:2]]
        return len(index.named(part.query)) > 1 or (len(scores) == 2 and scores[0] == scores[1])

    return any(map(doubtful, link.singles))


def _rank(index: Index, link: Link, gold: frozenset[int]) -> Rank:
    """The rank of the first gold concept; of a composite mention that of its worst part."""
    rows = [[index.vocabulary.row(one.concept_id) for one in part.candidates] for part in link.singles]
    return worst_rank([first_rank(row in gold for row in part) for part in rows])


def _firsts(link: Link) -> tuple[str | None, ...]:
    return tuple(None if part.best is None else part.best.concept_id for part in link.singles)
