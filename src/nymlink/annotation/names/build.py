"""Build what a matcher looks names up in, from a vocabulary."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from nymlink.annotation.names.digests import LONGEST, core_digest, name_digests
from nymlink.annotation.names.levels import Level
from nymlink.annotation.names.table import NameTable
from nymlink.annotation.words.classes import form_classes, sense_classes
from nymlink.annotation.words.exchanges import find_exchanges
from nymlink.annotation.words.lexicon import AND, Lexicon
from nymlink.annotation.words.rules import WordRules
from nymlink.annotation.words.tokens import tokens_of
from nymlink.annotation.words.word import Kind, Token, Word
from nymlink.core.language_codes import UNKNOWN_LANGUAGE
from nymlink.core.terminal.progress import track
from nymlink.vocabulary.languages import matching_languages
from nymlink.vocabulary.vocabulary import Vocabulary

_MOST: Final = 20
"""Concepts that may have a word in their names which alone is a name without the empty ones."""


class NameWords(NamedTuple):
    """A name as it is read: its row, that of its concept, and its text."""

    row: int
    concept: int
    text: str


def names_of(vocabulary: Vocabulary, language: str | None) -> list[NameWords]:
    """List the names of a vocabulary in a language, or whose language is unknown; all names without a language."""
    counts = vocabulary.counts("lang")
    languages = None if language is None else [*matching_languages([language], counts), UNKNOWN_LANGUAGE]
    return [
        NameWords(row, concept, text)
        for batch in vocabulary.name_batches(languages=languages)
        for row, concept, text in zip(
            batch["row"].to_pylist(), batch["concept"].to_pylist(), batch["text"].to_pylist(), strict=True
        )
    ]


def words_of_name(tokens: Sequence[Token]) -> list[Word]:
    """List the words of a name, conjunctions too; commas and brackets are no part of it.

    No words are listed of a name that has a word over which no name goes in a text: it will not be found.
    """
    if any(token.word.kind == Kind.BREAK and token.start < token.end for token in tokens):
        return []
    return [token.word for token in tokens if token.word.kind in (Kind.WORD, Kind.CONJUNCTION)]


def build_lexicon(names: Sequence[NameWords], rules: WordRules, *, progress: bool = False) -> Lexicon:
    """Class the words of names."""
    plain = Lexicon.of(rules, [], {}, {})
    by_concept: defaultdict[int, list[frozenset[str]]] = defaultdict(list)
    lemmas: set[str] = set()
    for _, concept, text in track(names, "words", shown=progress):
        own = [
            rules.same(word.lemma) if word.kind == Kind.WORD else AND
            for word in words_of_name(tokens_of(text, plain.find, conjunction=plain.conjunction))
        ]
        lemmas.update(
            word.lemma for word in words_of_name(tokens_of(text, plain.find, conjunction=plain.conjunction))
        )
        if len(own) <= LONGEST:
            by_concept[concept].append(frozenset(own))
    exchanges = [pair for pair in find_exchanges(by_concept.values()) if AND not in pair.words]
    lemmas.discard(AND)
    return Lexicon.of(
        rules, lemmas, form_classes(lemmas, exchanges, rules), sense_classes(lemmas, exchanges, rules)
    )


def build_table(
    names: Sequence[NameWords], lexicon: Lexicon, vocabulary: Vocabulary, *, progress: bool = False
) -> NameTable:
    """Digest names, and sort the digests."""
    entries: list[tuple[int, Level, int]] = []
    cores: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    spread: defaultdict[int, set[int]] = defaultdict(set)
    for row, concept, text in track(names, "names", shown=progress):
        words = words_of_name(tokens_of(text, lexicon.find, conjunction=lexicon.conjunction))
        for word in words:
            spread[word.form].add(concept)
        for level, digest in name_digests(words):
            if level == Level.CORE:
                cores[digest].append((concept, row))
            else:
                entries.append((digest, level, row))
    # A word of many names, left alone, says of which it is no more.
    common = {core_digest(form) for form, concepts in spread.items() if len(concepts) > _MOST}
    entries.extend(_cores({digest: found for digest, found in cores.items() if digest not in common}, vocabulary))
    return NameTable.of(entries)


def _cores(cores: dict[int, list[tuple[int, int]]], vocabulary: Vocabulary) -> Iterator[tuple[int, Level, int]]:
    """Yield the cores that belong to one concept, or to one and its descendants."""
    for digest, found in cores.items():
        concepts = {concept for concept, _ in found}
        root = _common_root(concepts, vocabulary)
        yield from ((digest, Level.CORE, row) for concept, row in found if concept == root)


def _common_root(concepts: set[int], vocabulary: Vocabulary) -> int | None:
    """Find the concept of which all the others are descendants; ``None`` where there is none."""
    if len(concepts) == 1:
        return next(iter(concepts))
    above = {concept: set(vocabulary.ancestors(vocabulary.concept_id(concept))) for concept in concepts}
    for concept in sorted(concepts):
        own = vocabulary.concept_id(concept)
        if all(other == concept or own in above[other] for other in concepts):
            return concept
    return None
