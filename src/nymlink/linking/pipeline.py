"""From documents to links: queries, ranked matches, ties settled by the document, confidences.

Everything that links, evaluates linking or learns from it uses :class:`Pipeline`, which holds the settings.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Final, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from nymlink.core.store.arrays import Bools
from nymlink.corpus.documents import Document, Mention
from nymlink.index.fusion import EXACT_MATCH
from nymlink.index.hits import NONE
from nymlink.index.index import Index
from nymlink.linking.calibration import (
    DEPTH,
    Calibration,
    Features,
    confidence_features,
    is_across,
    tied_names,
)
from nymlink.linking.candidates import Domains, candidates_of, rival
from nymlink.linking.cells import DENIED
from nymlink.linking.certain import Ids, certain_matches, find_identified, find_verbatim
from nymlink.linking.doubts import GUESSED, GUESSED_NAME, ForeignLanguages, contradicts, doubts_about
from nymlink.linking.link import Candidate, Context, Link
from nymlink.linking.queries import MentionQuery, queries
from nymlink.linking.ties import TiedMention, settle_ties
from nymlink.rank.ranker import RankedMatches, Ranking
from nymlink.rank.retrieval import Question
from nymlink.text.normalise import normalise
from nymlink.text.prepare import Composites

_DENIED: Final = Context(negated=DENIED.strip())

_Item = TypeVar("_Item")


class Evidence(NamedTuple):
    """Evidence for the confidence in the first concepts of Q queries.

    Attributes:
        firsts: row of the first concept of each query; :data:`~nymlink.index.hits.NONE` for none.
        features: float64 (Q, F), see :data:`~nymlink.linking.calibration.CONFIDENCE_FEATURES`.
        factors: float64 (Q): factors by which doubts multiply the confidence.
        across: bool (Q): whether the first name is in another language than the mention.
    """

    firsts: list[int]
    features: Features
    factors: npt.NDArray[np.float64]
    across: Bools


@dataclass(frozen=True, eq=False)
class Pipeline:
    """Turns documents into queries, ranked matches and links; threads may share one.

    Attributes:
        index: the index to link to; its ranker orders the candidates.
        language: code of the language of mentions that state none; ``None`` if unknown.
        spelling: misspelt word → correct word, for every language; ``None`` for the language's own table.
        guesses: whether to guess misspelt words.
        composites: which mentions are split into parts.
        as_published: whether to prepare mentions like the queries of published evaluations; ties then stay open.
        calibration: turns scores into confidences; ``None`` for links without confidences.
        min_confidence: threshold below which links are NIL.

    Raises:
        StoreError: the ranker of the index is damaged, or was trained on other features.
    """

    index: Index
    language: str | None = None
    spelling: Mapping[str, str] | None = None
    guesses: bool = True
    composites: Composites = "given"
    as_published: bool = False
    calibration: Calibration | None = None
    min_confidence: float = 0.0

    def __post_init__(self) -> None:
        _ = self.ranking

    @cached_property
    def ranking(self) -> Ranking:
        """The index with its ranker."""
        return Ranking(self.index)

    @cached_property
    def domains(self) -> Domains:
        """Guesses the vocabularies of mentions."""
        return Domains(self.index)

    def queries(self, document: Document) -> tuple[tuple[MentionQuery, ...], ...]:
        """Make the queries of a document: one for each mention, or one for each part of a composite mention."""
        return queries(
            document,
            self.index.entries,
            language=self.language,
            spelling=self.spelling,
            guesses=self.guesses,
            composites=self.composites,
            as_published=self.as_published,
            find_id=self.ids.read,
            is_preferred=self._is_preferred,
        )

    @cached_property
    def foreign(self) -> ForeignLanguages:
        """Finds mentions in languages that neither names nor encoder know."""
        return self.index.once(ForeignLanguages)

    @cached_property
    def ids(self) -> Ids:
        """Reads ids that are given as mentions."""
        return Ids(self.index)

    def _is_preferred(self, text: str) -> bool:
        """Whether a prepared text is the preferred name of a concept."""
        entry = self.index.entries.find(text)
        names = () if entry is None else self.index.entries.names_of(entry).tolist()
        found = map(self.index.vocabulary.name, names)
        return any(name.kind == "preferred" and normalise(name.text) == text for name in found)

    def queries_of(self, mentions: Sequence[Mention]) -> tuple[tuple[MentionQuery, ...], ...]:
        """Make the queries of mentions without a document."""
        return self.queries(Document("", mentions=tuple(mentions)))

    def match(
        self, questions: Sequence[Question], depth: int, *, without: Sequence[Collection[int]] = ()
    ) -> RankedMatches:
        """Find the best concepts of questions, see :meth:`nymlink.rank.ranker.Ranking.match`."""
        return self.ranking.match(questions, depth, without=without)

    def evidence(
        self, ranked: RankedMatches, asked: Sequence[MentionQuery], mentions: Sequence[Mention]
    ) -> Evidence:
        """Collect the evidence for the confidence in the first concepts.

        Args:
            ranked: matches of the Q queries, at least :data:`~nymlink.linking.calibration.DEPTH` concepts each.
            asked: Q queries.
            mentions: the mention of each query.
        """
        questions = [query.question for query in asked]
        candidates = candidates_of(self.index, ranked, [1] * len(questions), questions)
        factors = [
            doubts_about(self.index, query, mention, own[0]).factor if own else 1.0
            for query, mention, own in zip(asked, mentions, candidates, strict=True)
        ]
        across = [
            bool(own) and is_across(query.language, query.text, own[0].matched)
            for query, own in zip(asked, candidates, strict=True)
        ]
        return Evidence(
            ranked.matches.concepts[:, 0].tolist(),
            confidence_features(ranked, questions, self.index),
            np.array(factors, np.float64),
            np.array(across, bool),
        )

    def search(self, documents: Sequence[Document], depth: int) -> Found:
        """Search for all mentions of documents together.

        Args:
            documents: texts with mentions.
            depth: largest number of candidates of a mention.
        """
        return Found(self, documents, depth)


class Found:
    """The concepts that a pipeline found for documents; each distinct question was asked once.

    Args:
        pipeline: the pipeline.
        documents: texts with mentions.
        depth: largest number of candidates of a mention.

    Attributes:
        index: the index that was searched.
        documents: the documents.
        queries: for each document, the queries of each mention.
    """

    def __init__(self, pipeline: Pipeline, documents: Sequence[Document], depth: int) -> None:
        self.documents = documents
        self.queries = [pipeline.queries(document) for document in documents]
        self._pipeline = pipeline
        self.index = pipeline.index
        self._depth = depth
        self._place: dict[Question, int] = {}
        for query in (query for mentions in self.queries for parts in mentions for query in parts):
            for question in query.questions:
                self._place.setdefault(question, len(self._place))
        self._ranked = self._search(list(self._place))
        self._tied = tied_names(self.index, self._ranked.matches)

    def _search(self, questions: list[Question]) -> RankedMatches:
        """Find the concepts of questions. If one concept each is wanted, look up verbatim names."""
        # The confidence needs the next concepts even if they are not asked for.
        depth = max(self._depth, DEPTH)
        known = find_identified(self.index, questions)
        if self._depth == 1:
            known |= find_verbatim(self.index, [each for each in questions if each.concept is None])
        if not known:
            return self._pipeline.match(questions, depth)
        rest = [question for question in questions if question not in known]
        blocks = [certain_matches(self.index, known.values(), depth)]
        if rest:
            blocks.append(self._pipeline.match(rest, depth))
        place = {question: number for number, question in enumerate([*known, *rest])}
        return RankedMatches.concatenated(blocks).take([place[question] for question in questions])

    def concepts(self, question: Question, first: int | None = None) -> list[int]:
        """List the rows of the concepts that a question found, best first, then :data:`NONE`.

        Args:
            question: the question of one of the queries.
            first: place of the concept that the document puts first, from :meth:`settled`.
        """
        return _put_first(self._ranked.matches.concepts[self._place[question]].tolist(), first)

    def first(self, question: Question, first: int | None = None) -> tuple[int, int] | None:
        """Return the rows (concept, name) of the first concept of a question; ``None`` if nothing was found."""
        matches, place = self._ranked.matches, self._place[question]
        concept, name = int(matches.concepts[place, first or 0]), int(matches.names[place, first or 0])
        return None if concept == NONE else (concept, name)

    def settled(self, number: int) -> list[int | None]:
        """Settle the ties of a document, see :func:`~nymlink.linking.ties.settle_ties`.

        Args:
            number: number of the document.

        Returns:
            For each mention the place of the candidate that the document puts first; ``None`` if no tie was
            settled.
        """
        document, mentions = self.documents[number], self.queries[number]
        if self._pipeline.as_published or not document.text:
            return [None] * len(mentions)
        return settle_ties(document.text, [self._tied_mention(parts) for parts in mentions], self.index)

    def links(self) -> Iterator[list[Link]]:
        """Make the links of each document, one for each mention, with at most ``depth`` candidates."""
        for number, (document, mentions) in enumerate(zip(self.documents, self.queries, strict=True)):
            yield [
                self._link(parts, mention, document.id or None, first)
                for mention, parts, first in zip(document.mentions, mentions, self.settled(number), strict=True)
            ]

    def _tied_mention(self, parts: Sequence[MentionQuery]) -> TiedMention:
        """Describe the tied concepts of a mention; none for a composite mention."""
        if len(parts) != 1:
            return TiedMention("", {})
        place = self._place[parts[0].question]
        concepts = self._ranked.matches.concepts[place].tolist()
        tied = self._tied[place]
        return TiedMention(parts[0].text, {at: concepts[at] for at in tied.places}, tied.same_kind)

    def _link(
        self, parts: Sequence[MentionQuery], mention: Mention, document_id: str | None, first: int | None
    ) -> Link:
        if len(parts) == 1 and not parts[0].is_denied:
            return self._link_of(parts[0], mention, mention, document_id, first)
        links = tuple(
            self._link_of(
                part,
                mention,
                Mention(f"{DENIED}{part.text}" if part.is_denied else part.text, prepared=True),
                None,
                None,
            )
            for part in parts
        )
        confidences = [part.confidence for part in links if part.confidence is not None]
        confidence = round(prod(confidences), 6) if confidences else None
        return Link(
            mention,
            " | ".join(part.query for part in links),
            parts=links,
            document_id=document_id,
            confidence=confidence,
            guessed=any(part.guessed for part in links),
            nil=any(part.nil for part in links) or self._is_doubtful(confidence),
        )

    def _link_of(
        self, query: MentionQuery, mention: Mention, own: Mention, document_id: str | None, first: int | None
    ) -> Link:
        """Link a query, and lower its confidence by the doubts about it.

        A guess lowers the confidence, unless the query without the guess finds the same concept with a higher one.

        Args:
            query: query for a mention, or for a part of one.
            mention: the whole mention.
            own: the mention of the link: the whole one, or its part.
            document_id: id of the document.
            first: place of the candidate that the document puts first; ``None`` if no tie was settled.
        """
        place = self._place[query.question]
        candidates, tied = self._candidates[place], self._tied[place]
        confidence = self._confidences[place]
        if self._across and candidates and is_across(query.language, query.text, candidates[0].matched):
            confidence = self._across[place]
        if not candidates:
            return Link(
                own,
                query.text,
                document_id=document_id,
                confidence=confidence,
                nil=True,
                nothing=query.nothing,
                context=_DENIED if query.is_denied else None,
            )
        doubts = doubts_about(self.index, query, mention, candidates[0])
        if confidence is not None:
            if query.unguessed is not None:
                without = self._place[query.unguessed]
                best = self._candidates[without][:1]
                same = bool(best) and best[0].concept_id == candidates[0].concept_id
                is_name = candidates[0].parts.get(EXACT_MATCH) == 1 and not query.replaces_known
                factor = GUESSED_NAME if is_name else GUESSED
                confidence = max(confidence * factor, (self._confidences[without] or 0.0) if same else 0.0)
            # Tied names of the same kind are equally likely, unless people have decided.
            uses = self._pipeline.ranking.uses
            decided = uses is not None and uses.is_first(query.text, candidates[0].concept_id)
            confidence = round(min(confidence * doubts.factor, 1 if decided else 1 / max(tied.of_kind, 1)), 6)
        given = _put_first(list(enumerate(candidates)), first)[: self._depth]
        return Link(
            own,
            query.text,
            tuple(
                candidate
                if (said := doubts.contradiction if at == 0 else contradicts(self.index, query, candidate)) is None
                else replace(candidate, contradiction=said)
                for at, candidate in given
            ),
            document_id=document_id,
            confidence=confidence,
            nil=self._is_doubtful(confidence),
            guessed=query.fallback is not None,
            meanings=doubts.meanings,
            ordinary=doubts.ordinary,
            left_out=query.left_out,
            drug=query.drug,
            tied=tied.concepts,
            settled=first is not None,
            context=_DENIED if query.is_denied else None,
            former=self._pipeline.ids.former(own.text, candidates[first or 0].matched),
            foreign=self._pipeline.foreign.language(
                query, mention.language or self._pipeline.language, candidates[0]
            ),
            rival=None if first is not None else rival(self.index, self._ranked, place),
            domain=self._pipeline.domains.guess(self._ranked.matches, place, first or 0, confidence),
        )

    @cached_property
    def _candidates(self) -> list[tuple[Candidate, ...]]:
        """The candidates of each question, including all tied ones, because the document may settle the tie."""
        depths = [max(self._depth, DEPTH) if tied.concepts > 1 else self._depth for tied in self._tied]
        return candidates_of(self.index, self._ranked, depths, list(self._place))

    @cached_property
    def _features(self) -> Features:
        return confidence_features(self._ranked, list(self._place), self.index)

    @cached_property
    def _confidences(self) -> list[float | None]:
        """Confidence in the first candidate of each question, before doubts."""
        calibration = self._pipeline.calibration
        if calibration is None:
            return [None] * len(self._place)
        found: list[float | None] = calibration.confidence(self._features).tolist()
        return found

    @cached_property
    def _across(self) -> list[float] | None:
        """The same for links across languages; ``None`` if the calibration treats them like others."""
        calibration = self._pipeline.calibration
        if calibration is None or calibration.across is None:
            return None
        found: list[float] = calibration.across.confidence(self._features).tolist()
        return found

    def _is_doubtful(self, confidence: float | None) -> bool:
        return confidence is not None and confidence < self._pipeline.min_confidence


def _put_first(items: list[_Item], place: int | None) -> list[_Item]:
    return items if not place else [items[place], *items[:place], *items[place + 1 :]]
