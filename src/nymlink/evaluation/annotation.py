"""Measure how well an annotator finds the mentions of a corpus and the concepts of its documents."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from nymlink.annotation.annotator import Annotator
from nymlink.corpus.documents import Corpus, Document
from nymlink.evaluation.calibration_metrics import Reliability
from nymlink.evaluation.outcomes import GoldResolver
from nymlink.linking.link import Link
from nymlink.vocabulary.vocabulary import Vocabulary

_POINTS: Final = tuple(round(0.05 * step, 2) for step in range(20))
"""Thresholds of confidence for which the curve of precision and recall has points."""


class Span(NamedTuple):
    """A span of a text and its concepts. The span counts as correct if one of them is correct."""

    start: int
    end: int
    concepts: frozenset[str]
    confidence: float = 1.0

    def agrees(self, other: Span, *, exact: bool = False) -> bool:
        """Whether two spans share a concept and overlap. If ``exact``, they must have the same start and end."""
        if self.concepts.isdisjoint(other.concepts):
            return False
        if exact:
            return (self.start, self.end) == (other.start, other.end)
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class Score:
    """Precision and recall.

    Attributes:
        right: number of found items that are correct.
        found: number of found items.
        recovered: number of gold items that were found.
        gold: number of gold items.
    """

    right: int
    found: int
    recovered: int
    gold: int

    @property
    def precision(self) -> float:
        return self.right / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        return self.recovered / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0

    def to_dict(self) -> dict[str, float]:
        return {"precision": self.precision, "recall": self.recall, "f1": self.f1}


@dataclass(frozen=True, slots=True)
class AnnotationEvaluation:
    """Figures of an annotator on a corpus.

    Attributes:
        documents: number of documents.
        mentions: scores of mentions; a found mention is right if it overlaps a gold mention and has its concept.
        exact_mentions: scores of mentions; a found mention is right if it has the offsets and the concept of a
            gold mention.
        concepts: scores of the concepts of documents. The concepts of all documents are counted together.
        macro_mention_f1: F1 of mentions for each document, averaged over documents.
        macro_document_f1: F1 of concepts for each document, averaged over documents.
        unlocated: number of gold mentions without offsets. They count only for the concepts of documents.
        unknown: number of gold mentions without a concept in the vocabulary. They count as not found.
        reliability: the confidences of found mentions, and whether each is right; ``None`` if none was found.
        curve: confidence → the scores of mentions and concepts with at least this confidence.
    """

    documents: int
    mentions: Score
    exact_mentions: Score
    concepts: Score
    macro_mention_f1: float
    macro_document_f1: float
    unlocated: int
    unknown: int
    reliability: Reliability | None
    curve: tuple[tuple[float, Score, Score], ...]

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as JSON values.

        ``mention_f1``, ``mention_exact_f1`` and ``document_f1`` come first.
        """
        return {
            "mention_f1": self.mentions.f1,
            "mention_exact_f1": self.exact_mentions.f1,
            "document_f1": self.concepts.f1,
            "mention_f1_macro": self.macro_mention_f1,
            "document_f1_macro": self.macro_document_f1,
            "mention": self.mentions.to_dict(),
            "mention_exact": self.exact_mentions.to_dict(),
            "document": self.concepts.to_dict(),
            "documents": self.documents,
            "gold_mentions": self.mentions.gold,
            "gold_concepts": self.concepts.gold,
            "found_mentions": self.mentions.found,
            "mentions_without_offsets": self.unlocated,
            "mentions_of_unknown_concepts": self.unknown,
            "ece": None if self.reliability is None else self.reliability.expected_error,
            "curve": [
                {"confidence": confidence, "mention": mention.to_dict(), "document": document.to_dict()}
                for confidence, mention, document in self.curve
            ],
        }


def evaluate_annotation(
    annotator: Annotator, corpus: Corpus, *, types: Collection[str] | None = None
) -> AnnotationEvaluation:
    """Annotate the texts of a corpus, and compare the links with the corpus's mentions.

    :class:`~nymlink.evaluation.outcomes.GoldResolver` finds the concepts of gold ids, even of old ids.

    Args:
        annotator: finds mentions.
        corpus: texts with mentions.
        types: count gold mentions of these types only; ``None`` for all.

    Raises:
        InputError: no mention has a gold id of the vocabulary.
    """
    vocabulary = annotator.index.vocabulary
    bare = [Document(document.id, document.text) for document in corpus.documents]
    found = [_found(links) for _, links in annotator.annotate_documents(bare)]
    gold, loose, unknown = [], [], 0
    resolver = GoldResolver(vocabulary)
    resolver.require(corpus, types)
    for document in corpus.documents:
        located, whole = _gold(document, vocabulary, resolver, types)
        gold.append(located)
        loose.append(whole)
        unknown += sum(not any(concept in vocabulary for concept in span.concepts) for span in whole)
    per_document = [_mentions([one], [own]) for one, own in zip(gold, found, strict=True)]
    per_concepts = [_concepts([one], [own]) for one, own in zip(loose, found, strict=True)]
    return AnnotationEvaluation(
        documents=len(bare),
        mentions=_mentions(gold, found),
        exact_mentions=_mentions(gold, found, exact=True),
        concepts=_concepts(loose, found),
        macro_mention_f1=_mean(per_document),
        macro_document_f1=_mean(per_concepts),
        unlocated=sum(map(len, loose)) - sum(map(len, gold)),
        unknown=unknown,
        reliability=_reliability(gold, found),
        curve=tuple(
            (point, _mentions(gold, sure), _concepts(loose, sure))
            for point in _POINTS
            for sure in [[[span for span in own if span.confidence >= point] for own in found]]
        ),
    )


def _found(links: Iterable[Link]) -> list[Span]:
    return [
        Span(link.mention.start or 0, link.mention.end or 0, frozenset(ids), link.confidence or 0.0)
        for link in links
        if (ids := [part.best.concept_id for part in link.singles if part.best is not None])
    ]


def _gold(
    document: Document, vocabulary: Vocabulary, resolver: GoldResolver, types: Collection[str] | None
) -> tuple[list[Span], list[Span]]:
    """Return two lists of gold mentions of a document: mentions with offsets, and all mentions."""
    located, whole = [], []
    for mention in document.mentions:
        if not mention.concept_ids or (types is not None and mention.type not in types):
            continue
        rows = {id_: resolver.rows([id_]) for id_ in mention.concept_ids}
        ids = frozenset(
            id_ for old, known in rows.items() for id_ in (map(vocabulary.concept_id, known) if known else (old,))
        )
        span = Span(mention.start or 0, mention.end or 0, ids)
        whole.append(span)
        if mention.start is not None and mention.end is not None:
            located.append(span)
    return located, whole


def _mentions(gold: Sequence[Sequence[Span]], found: Sequence[Sequence[Span]], *, exact: bool = False) -> Score:
    pairs = list(zip(gold, found, strict=True))
    return Score(
        right=sum(any(span.agrees(true, exact=exact) for true in own) for own, spans in pairs for span in spans),
        found=sum(map(len, found)),
        recovered=sum(
            any(true.agrees(span, exact=exact) for span in spans) for own, spans in pairs for true in own
        ),
        gold=sum(map(len, gold)),
    )


def _concepts(gold: Sequence[Sequence[Span]], found: Sequence[Sequence[Span]]) -> Score:
    pairs = [
        (
            {concept for span in own for concept in span.concepts},
            {concept for span in spans for concept in span.concepts},
        )
        for own, spans in zip(gold, found, strict=True)
    ]
    right = sum(len(true & stated) for true, stated in pairs)
    return Score(right, sum(len(stated) for _, stated in pairs), right, sum(len(true) for true, _ in pairs))


def _reliability(gold: Sequence[Sequence[Span]], found: Sequence[Sequence[Span]]) -> Reliability | None:
    pairs = [
        (span.confidence, any(span.agrees(true) for true in own))
        for own, spans in zip(gold, found, strict=True)
        for span in spans
    ]
    if not pairs:
        return None
    confidences, right = zip(*pairs, strict=True)
    return Reliability.of(np.array(confidences), np.array(right))


def _mean(scores: Sequence[Score]) -> float:
    """Compute the mean of F1. The F1 of a document without gold mentions and without found mentions is 1."""
    values = [1.0 if not score.gold and not score.found else score.f1 for score in scores]
    return sum(values) / len(values) if values else 0.0


def annotation_report(evaluation: AnnotationEvaluation) -> str:
    """Format an evaluation of annotation as text."""
    rows = (
        ("mentions that overlap", evaluation.mentions, evaluation.macro_mention_f1),
        ("mentions, same offsets", evaluation.exact_mentions, None),
        ("concepts of documents", evaluation.concepts, evaluation.macro_document_f1),
    )
    lines = [
        f"documents   {evaluation.documents:,}",
        f"mentions    {evaluation.mentions.gold:,} in the gold, {evaluation.mentions.found:,} found",
        "",
        f"{'right concept (%)':24}{'P':>8}{'R':>8}{'F1':>8}{'F1, mean of documents':>24}",
    ]
    for label, score, macro in rows:
        shares = "".join(f"{100 * share:8.1f}" for share in (score.precision, score.recall, score.f1))
        lines.append(f"{label:24}{shares}" + ("" if macro is None else f"{100 * macro:24.1f}"))
    if evaluation.reliability is not None:
        lines.append(f"expected calibration error of the confidences: {evaluation.reliability.expected_error:.3f}")
    if evaluation.unlocated:
        lines.append(
            f"{evaluation.unlocated:,} gold mentions are not at their offsets: they count for documents only"
        )
    if evaluation.unknown:
        lines.append(f"{evaluation.unknown:,} gold mentions are of concepts that the vocabulary does not have")
    return "\n".join(lines) + "\n"
