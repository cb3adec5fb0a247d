"""Training examples of re-rankers: annotated mentions in context, with candidates of an index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count

import numpy as np
import numpy.typing as npt

from nymlink.core.errors import InputError
from nymlink.core.store.arrays import Ints
from nymlink.corpus.documents import Corpus
from nymlink.evaluation.outcomes import GoldResolver
from nymlink.index.hits import NONE, Rows
from nymlink.index.index import Index
from nymlink.linking.pipeline import Pipeline
from nymlink.rank.retrieval import Question
from nymlink.rerank.passages import DEFAULT_MAX_LENGTH, Passage, passages


@dataclass(frozen=True, slots=True)
class ContextMention:
    """A mention with its queries for the index, its passage for the re-ranker, and its gold concepts.

    Attributes:
        document: number of its document.
        parts: one query, or one for each part of a composite mention.
        passage: the mention in its context; ``None`` if it has no context or is composite.
        concept_ids: gold ids of the corpus.
        gold: rows of the gold concepts in the vocabulary.
    """

    document: int
    parts: tuple[str, ...]
    passage: Passage | None
    concept_ids: tuple[str, ...]
    gold: frozenset[int]


def mentions_in_context(
    index: Index, corpora: Iterable[Corpus], *, types: Collection[str] = (), max_length: int = DEFAULT_MAX_LENGTH
) -> Iterator[ContextMention]:
    """Prepare all mentions with gold ids, in order.

    Args:
        index: the index to search.
        corpora: corpora of the mentions.
        types: mentions of these types only; all if empty.
        max_length: tokens of a passage that the model reads.
    """
    resolver = GoldResolver(index.vocabulary)
    numbers = count()
    pipeline = Pipeline(index)
    for document in (document for corpus in corpora for document in corpus.documents):
        number = next(numbers)
        prepared = pipeline.queries(document)
        contexts = passages(document, max_length=max_length)
        for mention, part_queries, passage in zip(document.mentions, prepared, contexts, strict=True):
            if mention.concept_ids and (not types or mention.type in types):
                gold = resolver.rows(mention.concept_ids)
                parts = tuple(part.text for part in part_queries)
                usable = passage if len(parts) == 1 else None
                yield ContextMention(number, parts, usable, mention.concept_ids, gold)


def retrieve_concepts(index: Index, texts: Iterable[str], k: int) -> dict[str, Rows]:
    """Search the k best concepts of each query, in the order in which the index links.

    Returns:
        Query → int32 (k): concept rows. :data:`~nymlink.index.hits.NONE` fills the places after the last.
    """
    distinct = list(dict.fromkeys(texts))
    found = Pipeline(index).match([Question(text) for text in distinct], k)
    return dict(zip(distinct, found.matches.concepts, strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """M training mentions of a re-ranker, and C concepts to compare them with.

    Attributes:
        passages: mentions in context.
        order: int64 (M): mentions, cluster by cluster.
        offsets: int64 (G + 1): the mentions of cluster g are ``order[offsets[g]:offsets[g + 1]]``. A cluster is
            all mentions of one concept in one document.
        concepts: int32 (C), ascending: concept rows of the vocabulary.
        golds: gold concept rows of each mention. A mention has several if its gold id was split into several
            concepts.
        positives: int64 (M): gold concept of each mention, as a position in ``concepts``.
        candidates: int64 (M, k): candidates of each mention, as positions in ``concepts``. Missing candidates have
            any position.
        allowed: bool (M, k): true for wrong candidates, which can be negatives; false for right and missing ones.
        with_gold: share of the mentions with a gold candidate.
        left_out: reason → number of mentions left out.
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
        """Make examples, with k candidates each, of the mentions with a context and one gold id of the vocabulary.

        Raises:
            InputError: there are no such mentions.
        """
        usable: list[tuple[ContextMention, Passage]] = []
        left_out: Counter[str] = Counter()
        for mention in given:
            if len(mention.concept_ids) > 1 or len(mention.parts) > 1:
                left_out["composite"] += 1
            elif not mention.gold:
                left_out["unknown id"] += 1
            elif mention.passage is None:
                left_out["no context"] += 1
            else:
                usable.append((mention, mention.passage))
        mentions = [mention for mention, _ in usable]
        if not mentions:
            raise InputError(
                "no mention has both a context and a gold id that is in the index: check that the corpus has "
                f"texts, and is annotated with ids of this index's vocabulary. Left out: {dict(left_out)}"
            )
        retrieved = retrieve_concepts(index, (mention.parts[0] for mention in mentions), k)
        rows = np.stack([retrieved[mention.parts[0]] for mention in mentions])
        correct = np.array(
            [[row in mention.gold for row in line.tolist()] for mention, line in zip(mentions, rows, strict=True)]
        )
        # If a mention has several gold concepts, the first represents them all.
        gold = np.array([min(mention.gold) for mention in mentions], np.int32)
        concepts = np.unique(np.concatenate([rows[rows != NONE], gold]))
        documents = np.array([mention.document for mention in mentions])
        _, clusters = np.unique(np.column_stack([documents, gold]), axis=0, return_inverse=True)
        return cls(
            passages=tuple(passage for _, passage in usable),
            order=np.argsort(clusters, kind="stable"),
            offsets=np.concatenate([[0], np.cumsum(np.bincount(clusters))]),
            concepts=concepts,
            golds=tuple(mention.gold for mention in mentions),
            positives=np.searchsorted(concepts, gold),
            candidates=np.searchsorted(concepts, np.where(rows == NONE, gold[:, None], rows)),
            allowed=(rows != NONE) & ~correct,
            with_gold=float(correct.any(1).mean()),
            left_out=dict(left_out),
        )

    def __len__(self) -> int:
        """Count the mentions, M."""
        return len(self.passages)

    @property
    def clusters(self) -> int:
        """G, the number of clusters."""
        return len(self.offsets) - 1

    def cluster(self, number: int) -> Ints:
        """Return the numbers of the mentions of a cluster."""
        return self.order[self.offsets[number] : self.offsets[number + 1]]
