"""Find the names of a vocabulary in documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from nymlink.annotation.confidence import LEVELS
from nymlink.annotation.finders.segments import segments_of
from nymlink.annotation.matcher import Matcher
from nymlink.annotation.matching.hits import Hit
from nymlink.annotation.names.levels import Level
from nymlink.corpus.model import Document, Mention
from nymlink.linking.candidates import DICTIONARY
from nymlink.linking.model import Candidate, Link
from nymlink.text.normalisation.normalise import normalise

_REMEMBERED: Final = 1 << 14


@dataclass(slots=True)
class DictionaryFinder:
    """Finds names with a matcher, in documents of any length.

    Attributes:
        matcher: finds the names.
        min_confidence: mentions of less confidence are left out.
        overlaps: whether mentions may overlap.
    """

    matcher: Matcher
    min_confidence: float
    overlaps: bool = False
    _candidates: dict[tuple[int, Level], tuple[str, Candidate]] = field(init=False, default_factory=dict)

    def find(self, documents: Sequence[Document]) -> list[list[Link]]:
        """List the links of each document, in the order of their mentions."""
        return [self._links(document) for document in documents]

    def _links(self, document: Document) -> list[Link]:
        # Two names of a concept may be in the same words, as in a coordination: the first is kept.
        found: dict[tuple[int, int, int], Link] = {}
        for offset, text in segments_of(document.text):
            for hit in self.matcher.find(text, min_confidence=self.min_confidence, overlaps=self.overlaps):
                place = offset + hit.start, offset + hit.end, self.matcher.concept(hit)
                if place not in found:
                    found[place] = self._link(hit, document, offset)
        return list(found.values())

    def _link(self, hit: Hit, document: Document, offset: int) -> Link:
        query, candidate = self._candidate(hit)
        start, end = offset + hit.start, offset + hit.end
        return Link(
            Mention(document.text[start:end], start, end),
            query,
            (candidate,),
            document_id=document.id or None,
            confidence=round(hit.choice.confidence, 6),
        )

    def _candidate(self, hit: Hit) -> tuple[str, Candidate]:
        """Make the candidate of a hit, with the normalised name that matched."""
        key = hit.choice.row, hit.choice.level
        if key not in self._candidates:
            if len(self._candidates) >= _REMEMBERED:
                self._candidates.clear()
            vocabulary = self.matcher.vocabulary
            concept, name = self.matcher.concept(hit), vocabulary.name(hit.choice.row)
            score = 1.0 if hit.choice.level == Level.EXACT else LEVELS[hit.choice.level]
            self._candidates[key] = (
                normalise(name.text),
                Candidate(
                    vocabulary.concept_id(concept),
                    vocabulary.preferred_name(concept),
                    name,
                    score,
                    {DICTIONARY: score},
                ),
            )
        return self._candidates[key]
