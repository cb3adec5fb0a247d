"""Find names with a matcher, and phrases that are none by the searches of an index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nymlink.annotation.finders.detected import DetectedFinder
from nymlink.annotation.finders.dictionary import DictionaryFinder
from nymlink.annotation.finders.phrases import phrases_of
from nymlink.annotation.names.digests import says_something
from nymlink.annotation.words.tokens import tokens_of
from nymlink.corpus.model import Document, Mention
from nymlink.linking.model import Link


@dataclass(frozen=True, slots=True)
class FuzzyFinder:
    """Finds names first; where it finds none, phrases whose links are sure enough.

    Attributes:
        dictionary: finds names.
        linked: links phrases.
    """

    dictionary: DictionaryFinder
    linked: DetectedFinder

    def find(self, documents: Sequence[Document]) -> list[list[Link]]:
        """List the links of each document, in the order of their mentions."""
        found = self.dictionary.find(documents)
        lexicon = self.dictionary.matcher.lexicon
        phrases = [
            list(phrases_of(document.text, lexicon, [link.mention for link in links]))
            for document, links in zip(documents, found, strict=True)
        ]
        # A phrase is linked by itself, once: what it stands in makes no difference.
        texts = list(dict.fromkeys(phrase.text for own in phrases for phrase in own))
        [links_of_texts] = self.linked.find([Document("", "", tuple(map(Mention, texts)))])
        link_of = {text: link for text, link in zip(texts, links_of_texts, strict=True) if self._is_meant(link)}
        return [
            self._merged(document, links, [phrase for phrase in own if phrase.text in link_of], link_of)
            for document, links, own in zip(documents, found, phrases, strict=True)
        ]

    def _is_meant(self, link: Link) -> bool:
        """Whether a link is sure enough, and to more than a qualifier ("two proximal", Proximal)."""
        best = link.best
        if best is None or best.contradiction is not None:
            return False
        lexicon = self.dictionary.matcher.lexicon
        tokens = tokens_of(best.matched.text, lexicon.find, conjunction=lexicon.conjunction)
        return says_something([token.word for token in tokens])

    def _merged(
        self, document: Document, links: list[Link], phrases: Sequence[Mention], link_of: dict[str, Link]
    ) -> list[Link]:
        """Add the surest links of phrases that do not overlap to those of names."""
        chosen: list[Link] = []
        spans: list[tuple[int, int]] = []
        for phrase in sorted(phrases, key=lambda phrase: -(link_of[phrase.text].confidence or 0.0)):
            start, end = phrase.start or 0, phrase.end or 0
            if not any(start < last and first < end for first, last in spans):
                spans.append((start, end))
                chosen.append(replace(link_of[phrase.text], mention=phrase, document_id=document.id or None))
        return sorted([*links, *chosen], key=lambda link: (link.mention.start or 0, link.mention.end or 0))
