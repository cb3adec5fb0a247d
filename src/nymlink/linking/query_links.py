"""Link queries, and the mentions that they were made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import prod
from typing import Final

from nymlink.corpus.model import Mention
from nymlink.index.index import Index
from nymlink.linking.calibration import Calibration
from nymlink.linking.candidates import candidates_of
from nymlink.linking.doubts import GUESSED, contradicts, doubts_about
from nymlink.linking.evidence import DEPTH, features_of, tied_names
from nymlink.linking.model import Link
from nymlink.linking.queries import MentionQuery

_MOST_TIED: Final = 10
"""Concepts of the same name that are counted."""

_Key = tuple[str, str | None]
"""A query, and the mention as it was written."""


class QueryLinks:
    """Search for queries and their fallbacks, each distinct text once, and link mentions by what was found.

    Args:
        index: what to link to.
        queries: those of all mentions that are linked together.
        depth: how many candidates a link has at most; all that are tied may be more.
        calibration: what turns scores into confidences; ``None`` for links without.
        min_confidence: links of less confidence are NIL.
    """

    def __init__(
        self,
        index: Index,
        queries: Iterable[MentionQuery],
        *,
        depth: int,
        calibration: Calibration | None,
        min_confidence: float,
    ) -> None:
        self._index = index
        self._min_confidence = min_confidence
        distinct = dict.fromkeys(key for query in queries for key in _keys(query))
        texts, surfaces = [text for text, _ in distinct], [surface for _, surface in distinct]
        # The confidence takes the next concepts, whether they are asked for or not.
        matches = index.match(texts, max(depth, DEPTH), surfaces=surfaces, ties=_MOST_TIED)
        confidences: list[float | None] = [None] * len(distinct)
        if calibration is not None:
            confidences = calibration.confidence(features_of(matches, texts, index)).tolist()
        self._tied = dict(zip(distinct, tied_names(index, matches), strict=True))
        depths = [max(depth, tied.concepts) for tied in self._tied.values()]
        candidates = candidates_of(index, matches, depths, surfaces)
        self._links = {
            key: Link(Mention(key[0], prepared=True), key[0], of_key, confidence=confidence)
            for key, of_key, confidence in zip(distinct, candidates, confidences, strict=True)
        }

    def link(self, parts: Sequence[MentionQuery], mention: Mention) -> Link:
        """Link a mention by the query of each of its parts; a mention without parts has one query."""
        links = [self._lower_confidence(query, mention) for query in parts]
        return links[0] if len(links) == 1 else self._join(links)

    def _lower_confidence(self, query: MentionQuery, mention: Mention) -> Link:
        """Lower the confidence of the link of a query by what there is to doubt, and say what that is.

        A guess is half as sure, or as sure as without it if that finds the same concept.
        """
        key, *fallback = _keys(query)
        link = self._links[key]
        if not link.candidates:
            return replace(link, nil=True)
        first, *others = link.candidates
        tied = self._tied[key]
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


def _keys(query: MentionQuery) -> list[_Key]:
    """List what is searched for: the query and, where it has a guess, the one without."""
    texts = (query.text,) if query.fallback is None else (query.text, query.fallback)
    return [(text, query.surface) for text in texts]
