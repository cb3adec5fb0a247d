"""Link queries, and the mentions that they were made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import prod

from nymlink.corpus.model import Mention
from nymlink.linking.candidates import candidates_of
from nymlink.linking.confidence.calibration import Calibration
from nymlink.linking.confidence.doubts import GUESSED, contradicts, doubts_about
from nymlink.linking.confidence.evidence import DEPTH, features_of, tied_names
from nymlink.linking.model import Link
from nymlink.linking.queries import MentionQuery
from nymlink.rank.question import Question
from nymlink.rank.ranker import Ranking


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
