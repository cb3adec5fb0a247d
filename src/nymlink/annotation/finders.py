"""Find mentions in texts: names, and phrases that are similar to names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from nymlink.annotation.annotator_settings import LEVELS
from nymlink.annotation.detector_plugins import segments_of
from nymlink.annotation.detectors import DetectedFinder
from nymlink.annotation.lexicon import Lexicon
from nymlink.annotation.matcher import Matcher
from nymlink.annotation.name_table import Level, says_something
from nymlink.annotation.tokens import PASSED, Kind, Token, Word, tokens_of, tokens_of_name
from nymlink.annotation.windows import Hit
from nymlink.corpus.documents import Document, Mention
from nymlink.linking.candidates import DICTIONARY
from nymlink.linking.link import Candidate, Link
from nymlink.text.aligned_text import mark_lines
from nymlink.text.normalise import normalise


class Finder(Protocol):
    """Finds mentions in documents, and links them to concepts."""

    def find(self, documents: Sequence[Document]) -> list[list[Link]]:
        """List the links of each document, in the order of their mentions."""
        ...


_REMEMBERED: Final = 1 << 14


@dataclass(slots=True)
class DictionaryFinder:
    """Finds names with a matcher, in documents of any length.

    Attributes:
        matcher: finds the names.
        min_confidence: smallest confidence of a mention. Mentions with less confidence are left out.
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
        # A coordination may have two names of a concept in the same words: keep the first.
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


_LONGEST: Final = 6
"""Largest number of words of a phrase."""


def phrases_of(text: str, lexicon: Lexicon, taken: Sequence[Mention]) -> Iterator[Mention]:
    """Yield the phrases of a text, outside the mentions that were found before.

    A phrase is a run of words between function words, verbs and punctuation. Words that occur in no name are
    removed from its ends. Two such runs with a preposition between them are a phrase, too. Each phrase has a word
    that occurs in names and is not a word of general language.

    Args:
        text: a text.
        lexicon: words of names.
        taken: mentions that were found before.
    """
    runs: list[list[Token]] = [[]]
    joined: set[int] = set()
    tokens = tokens_of(mark_lines(text), lexicon.find, conjunction=lexicon.conjunction)
    for token, free in zip(tokens, _free(tokens, taken), strict=True):
        if free and token.word.kind == Kind.WORD:
            runs[-1].append(token)
        elif runs[-1]:
            runs.append([])
            if free and token.word.kind in PASSED:
                joined.add(len(runs) - 1)
        elif not (free and token.word.kind in PASSED):
            joined.discard(len(runs) - 1)
    trimmed = [_trimmed(run) for run in runs]
    for place, run in enumerate(trimmed):
        if _may_mean(run, lexicon):
            yield _mention(text, run)
        if place in joined and run and trimmed[place - 1]:
            both = [*trimmed[place - 1], *run]
            if _may_mean(both, lexicon):
                yield _mention(text, both)


def _free(tokens: Sequence[Token], taken: Sequence[Mention]) -> list[bool]:
    """Whether each token lies outside all mentions."""
    spans = iter(sorted((mention.start or 0, mention.end or 0) for mention in taken))
    free = []
    start, end = next(spans, (len(tokens) and tokens[-1].end + 1, 0))
    for token in tokens:
        while end and end <= token.start:
            start, end = next(spans, (tokens[-1].end + 1, 0))
        free.append(token.end <= start or (token.start == token.end and token.start <= start))
    return free


def _trimmed(run: Sequence[Token]) -> list[Token]:
    """Remove words at both ends that occur in no name."""
    known = [place for place, token in enumerate(run) if token.word.form]
    return list(run[known[0] : known[-1] + 1]) if known else []


def _may_mean(run: Sequence[Token], lexicon: Lexicon) -> bool:
    words = [token.word for token in run]
    if not 1 < len(words) <= _LONGEST or not says_something(words):
        return False
    return any(_is_telling(word, lexicon) for word in words)


def _is_telling(word: Word, lexicon: Lexicon) -> bool:
    """Whether a word occurs in names and is not general language."""
    if not word.form or word.qualifier or word.empty or word.wrong or not word.text.isalpha():
        return False
    return not lexicon.rules.is_ordinary(word.text)


def _mention(text: str, run: Sequence[Token]) -> Mention:
    start, end = run[0].start, run[-1].end
    return Mention(text[start:end], start, end)


@dataclass(frozen=True, slots=True)
class FuzzyFinder:
    """Finds names of the vocabulary, and phrases between them that are linked with enough confidence.

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
        # A phrase is linked once for all documents, because its context has no effect.
        texts = list(dict.fromkeys(phrase.text for own in phrases for phrase in own))
        [links_of_texts] = self.linked.find([Document("", "", tuple(map(Mention, texts)))])
        link_of = {text: link for text, link in zip(texts, links_of_texts, strict=True) if self._is_meant(link)}
        return [
            self._merged(document, links, [phrase for phrase in own if phrase.text in link_of], link_of)
            for document, links, own in zip(documents, found, phrases, strict=True)
        ]

    def _is_meant(self, link: Link) -> bool:
        """Whether a link has a concept, no contradiction, and matched more than a qualifier."""
        best = link.best
        if best is None or best.contradiction is not None:
            return False
        lexicon = self.dictionary.matcher.lexicon
        tokens = tokens_of_name(best.matched.text, lexicon.find, conjunction=lexicon.conjunction)
        return says_something([token.word for token in tokens])

    def _merged(
        self, document: Document, links: list[Link], phrases: Sequence[Mention], link_of: dict[str, Link]
    ) -> list[Link]:
        """Add links of phrases to the links of names. If phrases overlap, the most confident one is added."""
        chosen: list[Link] = []
        spans: list[tuple[int, int]] = []
        for phrase in sorted(phrases, key=lambda phrase: -(link_of[phrase.text].confidence or 0.0)):
            start, end = phrase.start or 0, phrase.end or 0
            if not any(start < last and first < end for first, last in spans):
                spans.append((start, end))
                chosen.append(replace(link_of[phrase.text], mention=phrase, document_id=document.id or None))
        return sorted([*links, *chosen], key=lambda link: (link.mention.start or 0, link.mention.end or 0))
