"""The lexicon of a matcher: properties of words, in the names of a vocabulary or not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Final

import pyarrow as pa
import xxhash

from nymlink.annotation.tokens import AND, Kind, Word
from nymlink.annotation.word_rules import WordRules, word_of
from nymlink.index.entries.sorted_texts import map_texts, save_texts

_MOST: Final = 1 << 17
"""Most words of texts kept in memory."""


@dataclass(slots=True)
class Lexicon:
    """The words of a vocabulary by their lemmas.

    Attributes:
        rules: rules of the language.
        lemmas: large_string (L): lemmas of the words of names.
        forms: large_string (L): for each, the representative of its class of derived forms.
        senses: large_string (L): for each, the representative of its class of words with the same sense.
    """

    FILES: ClassVar = ("lemmas.arrow", "forms.arrow", "senses.arrow")

    rules: WordRules
    lemmas: pa.LargeStringArray
    forms: pa.LargeStringArray
    senses: pa.LargeStringArray
    conjunction: Word = field(init=False)
    _classes: Mapping[str, tuple[str, str]] = field(init=False)
    _by_root: Mapping[str, str] = field(init=False)
    _substitutes: Mapping[str, str] = field(init=False)
    _found: dict[str, Word] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        lemmas, forms, senses = (texts.to_pylist() for texts in (self.lemmas, self.forms, self.senses))
        self._classes = {lemma: (form, sense) for lemma, form, sense in zip(lemmas, forms, senses, strict=True)}
        self._by_root = {self.rules.root(lemma): lemma for lemma in reversed(lemmas)}
        known = [(group, sorted(self._classes.keys() & group)) for group in self.rules.groups()]
        # Unknown lemma → lemma of names with the same sense; the first group counts.
        self._substitutes = {lemma: own[0] for group, own in reversed(known) if own for lemma in group}
        self.conjunction = Word(
            Kind.CONJUNCTION, AND, AND, _key("exact", AND), _key("form", AND), _key("sense", AND)
        )

    @classmethod
    def of(
        cls, rules: WordRules, lemmas: Iterable[str], forms: Mapping[str, str], senses: Mapping[str, str]
    ) -> Lexicon:
        """Make a lexicon of lemmas and their classes."""
        ordered = sorted(lemmas)
        return cls(
            rules,
            pa.array(ordered, pa.large_string()),
            pa.array([forms[lemma] for lemma in ordered], pa.large_string()),
            pa.array([senses[lemma] for lemma in ordered], pa.large_string()),
        )

    def has(self, surface: str) -> bool:
        """Whether names have a word, given as written."""
        word = word_of(surface, self.rules)
        return word.kind == Kind.WORD and self.rules.lemma(word.text) in self._classes

    def find(self, surface: str) -> Word:
        """Look up the properties of a word, as written."""
        try:
            return self._found[surface]
        except KeyError:
            word = self._look_up(surface)
            if len(self._found) >= _MOST:
                self._found.clear()
            self._found[surface] = word
            return word

    def _look_up(self, surface: str) -> Word:
        word = word_of(surface, self.rules)
        if word.kind == Kind.CONJUNCTION:
            return self.conjunction
        return self.word(word.text, self.rules.lemma(word.text)) if word.kind == Kind.WORD else word

    def word(self, text: str, lemma: str) -> Word:
        """Add its properties to a word, given its text and lemma."""
        exact = _key("exact", self.rules.same(lemma)) if lemma in self._classes else 0
        form = sense = 0
        if (derived := lemma if exact else self._derived(lemma)) is not None:
            of_form, of_sense = self._classes[derived]
            form, sense = _key("form", of_form), _key("sense", of_sense)
        elif (other := self._substitutes.get(lemma)) is not None:
            # Its own form, which no name has: it may only stand for another word.
            form, sense = _key("form", lemma), _key("sense", self._classes[other][1])
        return Word(
            Kind.WORD,
            text,
            lemma,
            exact,
            form,
            sense,
            empty=self.rules.is_empty(lemma),
            qualifier=self.rules.is_qualifier(lemma),
            wrong=self.rules.is_wrong(lemma),
            adjective=self.rules.is_adjective(text),
            person=self.rules.is_person(text),
        )

    def _derived(self, lemma: str) -> str | None:
        """Find the lemma of names from which an unknown lemma is derived, or with the same root."""
        if not self._classes:
            return None
        if len(lemma) >= _SHORTEST and (relative := self._by_root.get(self.rules.root(lemma))) is not None:
            return relative
        return next((noun for noun in self.rules.nouns(lemma) if noun in self._classes), None)

    def save(self, directory: Path) -> None:
        """Write the lexicon into a directory."""
        for name, texts in zip(self.FILES, (self.lemmas, self.forms, self.senses), strict=True):
            save_texts(directory / name, texts)

    @classmethod
    def load(cls, directory: Path, rules: WordRules) -> Lexicon:
        """Map the lexicon of a directory into memory.

        Raises:
            OSError: a file is missing.
            ValueError, pyarrow.ArrowException: the files hold something else.
        """
        return cls(rules, *(map_texts(directory / name) for name in cls.FILES))


_SHORTEST: Final = 4
"""Number of letters of the shortest word with relatives; shorter ones match too much."""


def _key(level: str, lemma: str) -> int:
    return xxhash.xxh3_64_intdigest(f"{level} {lemma}".encode("utf-8", "replace"))
