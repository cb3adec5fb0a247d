"""Annotated mentions in their contexts, with the concepts that an index finds for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count

import numpy as np
import numpy.typing as npt

from nymlink.core.errors import InputError
from nymlink.core.store.arrays import Ints
from nymlink.corpus.model import Corpus
from nymlink.evaluate.gold import GoldResolver
from nymlink.index.fusion.hits import NONE, Rows
from nymlink.index.index import Index
from nymlink.link.queries import queries
from nymlink.rerank.passages import MAX_LENGTH, Passage, passages
from nymlink.text.english.spelling import DEFAULT_SPELLING


@dataclass(frozen=True, slots=True)
class ContextMention:
    """A mention as it is searched for and as it is re-ranked, with what it means.

    Attributes:
        document: the number of its document.
        parts: its queries, more than one for a composite.
        passage: its context; ``None`` where there is none, or it is a composite.
        concept_ids: its gold ids, as the corpus writes them.
        gold: the rows of the concepts of the vocabulary that these stand for.
    """

    document: int
    parts: tuple[str, ...]
    passage: Passage | None
    concept_ids: tuple[str, ...]
    gold: frozenset[int]


def mentions_in_context(
    index: Index, corpora: Iterable[Corpus], *, types: Collection[str] = (), max_length: int = MAX_LENGTH
) -> Iterator[ContextMention]:
    """All mentions that have gold ids, in their order; of some types only, if there are any.

    Their contexts have text enough for ``max_length`` tokens.
    """
    resolver = GoldResolver(index.vocabulary)
    numbers = count()
    for document in (document for corpus in corpora for document in corpus.documents):
        number = next(numbers)
        prepared = queries(document, index.entries, spelling=DEFAULT_SPELLING)
        contexts = passages(document, max_length=max_length)
        for mention, asked, passage in zip(document.mentions, prepared, contexts, strict=True):
            if mention.concept_ids and (not types or mention.type in types):
                gold = resolver.rows(mention.concept_ids)
                parts = tuple(part.text for part in asked)
                alone = passage if len(parts) == 1 else None
                yield ContextMention(number, parts, alone, mention.concept_ids, gold)


def retrieved(index: Index, texts: Iterable[str], k: int) -> dict[str, Rows]:
    """The k best concepts of each query: int32 (k), :data:`~nymlink.index.fusion.hits.NONE` after the last."""
    distinct = list(dict.fromkeys(texts))
    return dict(zip(distinct, index.match(distinct, k).concepts, strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """M mentions that a re-ranker learns from, and the C concepts that it compares them with.

    Attributes:
        passages: the mentions.
        order: int64 (M): the mentions, cluster by cluster.
        offsets: int64 (G + 1): cluster g, one concept in one document, is ``order[offsets[g]:offsets[g + 1]]``.
        concepts: int32 (C), ascending: concept rows of the vocabulary.
        golds: for each all that it means, rows of the vocabulary: several where its id was split.
        positives: int64 (M): which of the concepts each means.
        candidates: int64 (M, k): which of the concepts are its candidates; any where there are fewer.
        allowed: bool (M, k): which of these it does not mean, and so can be negatives.
        with_gold: the share of the mentions that have what they mean among their candidates.
        left_out: why mentions are not among these → how many.
    """

    passages: tuple[Passage, ...]
    order: Ints
    offsets: Ints
    concepts: Rows
    golds: tuple[frozenset[int], ...]
    positives: Ints
    candidates: Ints
    allowed: npt.NDArray[np.bool_]
    with_gold: float
    left_out: Mapping[str, int]

    @classmethod
    def of(cls, index: Index, given: Iterable[ContextMention], *, k: int) -> Examples:
        """Those mentions that have one gold id, which the vocabulary knows, and a context.

        Raises:
            InputError: there are none.
        """
        chosen: list[tuple[ContextMention, Passage]] = []
        left_out: Counter[str] = Counter()
        for one in given:
            if len(one.concept_ids) > 1 or len(one.parts) > 1:
                left_out["composite"] += 1
            elif not one.gold:
                left_out["unknown id"] += 1
            elif one.passage is None:
                left_out["no context"] += 1
            else:
                chosen.append((one, one.passage))
        mentions = [one for one, _ in chosen]
        if not mentions:
            raise InputError(
                "no mention in a context means a concept of the index: are its ids those of the corpus, and has "
                f"the corpus texts? Left out: {dict(left_out)}"
            )
        found = retrieved(index, (one.parts[0] for one in mentions), k)
        rows = np.stack([found[one.parts[0]] for one in mentions])
        right = np.array(
            [[row in one.gold for row in line.tolist()] for one, line in zip(mentions, rows, strict=True)]
        )
        # An id that was split means several concepts: the first stands for all.
        meant = np.array([min(one.gold) for one in mentions], np.int32)
        concepts = np.unique(np.concatenate([rows[rows != NONE], meant]))
        documents = np.array([one.document for one in mentions])
        _, clusters = np.unique(np.column_stack([documents, meant]), axis=0, return_inverse=True)
        return cls(
            passages=tuple(passage for _, passage in chosen),
            order=np.argsort(clusters, kind="stable"),
            offsets=np.concatenate([[0], np.cumsum(np.bincount(clusters))]),
            concepts=concepts,
            golds=tuple(one.gold for one in mentions),
            positives=np.searchsorted(concepts, meant),
            candidates=np.searchsorted(concepts, np.where(rows == NONE, meant[:, None], rows)),
            allowed=(rows != NONE) & ~right,
            with_gold=float(right.any(1).mean()),
            left_out=dict(left_out),
        )

    def __len__(self) -> int:
        """M."""
        return len(self.passages)

    @property
    def clusters(self) -> int:
        """G."""
        return len(self.offsets) - 1

    def cluster(self, number: int) -> Ints:
        """The mentions of a cluster."""
        return self.order[self.offsets[number] : self.offsets[number + 1]]
