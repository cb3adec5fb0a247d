"""Settle ties by the document: "AKT" is the concept that the text elsewhere calls by another of its names.

A word has mostly one meaning in a document (Gale et al., "One sense per discourse", 1992).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import prod
from typing import Final

from nymlink.corpus.model import Document, Mention
from nymlink.index.fusion import EXACT_MATCH
from nymlink.linking.calibration import DEPTH, Calibration, features_of, tied_names
from nymlink.linking.candidates import candidates_of
from nymlink.linking.doubts import GUESSED, contradicts, doubts_about
from nymlink.linking.model import Candidate, Link
from nymlink.linking.queries import MentionQuery
from nymlink.rank.ranker import Ranking
from nymlink.rank.retrieval import Question
from nymlink.text.compact import compact
from nymlink.text.normalise import normalise
from nymlink.vocabulary.vocabulary import Vocabulary

_RUN: Final = re.compile(r"[^\W_]+")

_SHORTEST: Final = 3
"""Letters of the shortest other name that is looked for."""


def settle_ties(document: Document, links: Sequence[Link], vocabulary: Vocabulary) -> list[Link]:
    """Put the one concept of a tie first that the rest of a document speaks for.

    For a concept speaks another name of it in the text, or another mention that names it alone. Where they speak
    for several concepts of a tie the links stay as they are, and where the text has other members of a series
    ("AKT1, AKT2": "AKT" may be all of them). The confidence stays that of a tie.

    Args:
        document: a text with mentions; without a text nothing is known.
        links: of its mentions, each with all its tied candidates.
        vocabulary: of the candidates.
    """
    if not document.text or all(link.tied < 2 for link in links):
        return list(links)
    text = _Text(document.text)
    named = {
        link.candidates[0].concept_id
        for link in links
        if link.tied == 1 and link.candidates[0].parts.get(EXACT_MATCH) == 1 and not link.nil
    }
    return [link if link.tied < 2 else _settle(link, text, named, vocabulary) for link in links]


class _Text:
    """The words of a text, in which names are looked for.

    Args:
        text: of a document.
    """

    def __init__(self, text: str) -> None:
        runs = _RUN.findall(text)
        self.words = frozenset(run.casefold() for run in runs)
        self._written = f" {' '.join(runs)} "
        self._folded = self._written.casefold()

    def has(self, name: str) -> bool:
        """Whether a name is in the text; one that is a word of letters is written with the same capitals there."""
        runs = " ".join(_RUN.findall(name))
        if len(runs) < _SHORTEST:
            return False
        return f" {runs} " in self._written if runs.isalpha() else f" {runs.casefold()} " in self._folded


def _settle(link: Link, text: _Text, named: Iterable[str], vocabulary: Vocabulary) -> Link:
    # A ranker may put other candidates between them.
    score = link.candidates[0].score
    tied = [each for each in link.candidates if each.score == score and each.parts.get(EXACT_MATCH) == 1]
    own = compact(link.query)
    others = {each.concept_id: _other_names(each, own, vocabulary) for each in tied}
    supported = [
        each
        for each in tied
        if each.concept_id in named or any(text.has(name) for name in others[each.concept_id])
    ]
    if len(supported) != 1:
        return link
    [chosen] = supported
    member = re.compile(rf"{re.escape(own)}\d{{1,2}}")
    members = {word for word in text.words if member.fullmatch(word)}
    if not members <= {compact(normalise(name)) for name in others[chosen.concept_id]}:
        return link
    rest = (each for each in link.candidates if each is not chosen)
    return replace(link, candidates=(chosen, *rest), settled=True)


def _other_names(candidate: Candidate, own: str, vocabulary: Vocabulary) -> list[str]:
    """List the names of a concept that are not written like the mention."""
    names = (name.text for name in vocabulary.names(candidate.concept_id))
    return [name for name in names if compact(normalise(name)) != own]


class QueryLinks:
    """Search for queries and their fallbacks, each distinct text once, and link mentions by what was found.

    Args:
        ranking: of the index to link to.
        queries: those of all mentions that are linked together.
        depth: how many candidates a link has at most; all that are tied may be more.
        calibration: what turns scores into confidences; ``None`` for links without.
        min_confidence: links of less confidence are NIL.
    """

    def __init__(
        self,
        ranking: Ranking,
        queries: Iterable[MentionQuery],
        *,
        depth: int,
        calibration: Calibration | None,
        min_confidence: float,
    ) -> None:
        self._index = ranking.index
        self._min_confidence = min_confidence
        distinct = list(dict.fromkeys(question for query in queries for question in _questions(query)))
        # The confidence takes the next concepts, whether they are asked for or not.
        ranked = ranking.match(distinct, max(depth, DEPTH))
        confidences: list[float | None] = [None] * len(distinct)
        if calibration is not None:
            confidences = calibration.confidence(features_of(ranked, distinct, self._index)).tolist()
        self._tied = dict(zip(distinct, tied_names(self._index, ranked.matches), strict=True))
        # Tied concepts are all given, for the document may settle which is meant.
        depths = [max(depth, DEPTH) if tied.concepts > 1 else depth for tied in self._tied.values()]
        candidates = candidates_of(self._index, ranked, depths, distinct)
        self._links = {
            question: Link(Mention(question.text, prepared=True), question.text, own, confidence=confidence)
            for question, own, confidence in zip(distinct, candidates, confidences, strict=True)
        }

    def link(self, parts: Sequence[MentionQuery], mention: Mention) -> Link:
        """Link a mention by the query of each of its parts; a mention without parts has one query."""
        links = [self._lower_confidence(query, mention) for query in parts]
        return links[0] if len(links) == 1 else self._join(links)

    def _lower_confidence(self, query: MentionQuery, mention: Mention) -> Link:
        """Lower the confidence of the link of a query by what there is to doubt, and say what that is.

        A guess is half as sure, or as sure as without it if that finds the same concept.
        """
        question, *fallback = _questions(query)
        link = self._links[question]
        if not link.candidates:
            return replace(link, nil=True)
        first, *others = link.candidates
        tied = self._tied[question]
        doubts = doubts_about(self._index, query, mention, first)
        contradictions = [doubts.contradiction, *(contradicts(self._index, query, other) for other in others)]
        confidence = link.confidence
        if confidence is not None:
            if fallback:
                without = self._links[fallback[0]]
                same = without.best is not None and without.best.concept_id == first.concept_id
                confidence = max(confidence * GUESSED, (without.confidence or 0.0) if same else 0.0)
            # Of names of one kind each is as likely meant.
            confidence = round(min(confidence * doubts.factor, 1 / max(tied.of_kind, 1)), 6)
        return replace(
            link,
            candidates=tuple(
                candidate if contradiction is None else replace(candidate, contradiction=contradiction)
                for candidate, contradiction in zip(link.candidates, contradictions, strict=True)
            ),
            confidence=confidence,
            nil=self._is_doubtful(confidence),
            guessed=query.fallback is not None,
            meanings=doubts.meanings,
            ordinary=doubts.ordinary,
            left_out=query.left_out,
            tied=tied.concepts,
        )

    def _join(self, parts: Sequence[Link]) -> Link:
        """Join the links of the parts of a composite mention."""
        confidences = [part.confidence for part in parts if part.confidence is not None]
        confidence = round(prod(confidences), 6) if confidences else None
        query = " | ".join(part.query for part in parts)
        return Link(
            Mention(query, prepared=True),
            query,
            parts=tuple(parts),
            confidence=confidence,
            guessed=any(part.guessed for part in parts),
            nil=any(part.nil for part in parts) or self._is_doubtful(confidence),
        )

    def _is_doubtful(self, confidence: float | None) -> bool:
        return confidence is not None and confidence < self._min_confidence


def _questions(query: MentionQuery) -> list[Question]:
    """List what is searched for: the query and, where it has a guess, the one without."""
    return [query.question] if query.unguessed is None else [query.question, query.unguessed]
