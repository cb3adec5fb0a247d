"""The words of all names of a vocabulary as numbers, for building a matcher from millions of names."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from nymlink.annotation.lexicon import Lexicon
from nymlink.annotation.tokens import AND, HYPHENS, PASSED, Kind, Word, tokens_of_name, words_of_name
from nymlink.annotation.word_rules import WordRules, word_of
from nymlink.core.language_codes import UNKNOWN_LANGUAGE
from nymlink.core.terminal import track
from nymlink.text.aligned_text import align
from nymlink.vocabulary.vocabulary import Vocabulary

_WORD: Final = re.compile(r"[^\W_]+")
_PAIR: Final = re.compile(rf"(?<![^\W_])([^\W_]++)[{''.join(sorted(HYPHENS))}](?=([^\W_]+))")
_JOINING: Final = re.compile(r"[/&'’]")
"""Signs between words that :func:`~nymlink.annotation.tokens.tokens_of` does not simply ignore in names."""

_SKIPPED: Final = -1
"""In place of the number of a word that is ignored within a name ("of")."""
_OTHER: Final = -2
"""In place of the number of a word that joins or ends names ("and", "is")."""

_AND: Final = Word(Kind.CONJUNCTION, AND)
_UNKNOWN: Final = Word(Kind.WORD, "")
"""Answer for a pair of words that is no word of names."""


class Hyphenated(NamedTuple):
    """A name with hyphenated words: its place, its text, and its pairs of words without their hyphens."""

    place: int
    text: str
    pairs: tuple[str, ...]


@dataclass(slots=True)
class NameWords:
    """The words of N names.

    Attributes:
        rows: int32 (N): the row of each name in the vocabulary.
        concepts: int32 (N): the row of its concept.
        starts: int64 (N + 1): name i has the words ``starts[i]`` to ``starts[i + 1]``.
        words: int32 (W): numbers of the words of all names, one name after the other. A name that cannot be found
            in a text has none.
        texts: :data:`~nymlink.annotation.tokens.AND`, then the distinct words, in lower case without accents. Some
            are only in names that cannot be found.
        lemmas: lemma of each distinct word.
        hyphenated: the names to read again when the lexicon is known.
    """

    rows: npt.NDArray[np.int32]
    concepts: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int64]
    words: npt.NDArray[np.int32]
    texts: list[str]
    lemmas: list[str]
    hyphenated: Sequence[Hyphenated] = ()

    @classmethod
    def of(cls, vocabulary: Vocabulary, language: str | None, rules: WordRules, *, progress: bool = False) -> Self:
        """Read the names in a language and those in an unknown language; all names if no language is given."""
        languages = None if language is None else [language, UNKNOWN_LANGUAGE]
        batches = [*vocabulary.name_batches(languages=languages)]
        texts = chain.from_iterable(batch["text"].to_pylist() for batch in batches)
        reader = _Reader(rules)
        for text in track(texts, "reading names", total=sum(map(len, batches)), shown=progress):
            reader.read(text)
        none = np.zeros(0, np.int32)
        rows, concepts = (
            np.concatenate([none, *(batch[column].to_numpy() for batch in batches)], dtype=np.int32)
            for column in ("row", "concept")
        )
        words = np.array(reader.words, np.int32)
        starts = np.array(reader.starts, np.int64)
        lemmas = [AND, *map(rules.lemma, reader.texts[1:])]
        return cls(rows, concepts, starts, words, reader.texts, lemmas, reader.hyphenated)

    def with_pairs(self, lexicon: Lexicon) -> Self:
        """Return the names with two hyphenated words as one where the lexicon has it ("pre-auricular").

        The numbers of words stay; new ones follow.
        """
        texts, lemmas = [*self.texts], [*self.lemmas]
        numbers = {text: number for number, text in enumerate(texts)}
        noted = {pair for each in self.hyphenated for pair in each.pairs}
        known = {pair for pair in noted if lexicon.has(pair)}
        unknown = noted - known

        def find_pair(pair: str) -> Word:
            return _UNKNOWN if pair in unknown else lexicon.find(pair)

        lengths = np.diff(self.starts)
        pieces, end = [self.words[:0]], 0
        for place, text, pairs in self.hyphenated:
            if not known.isdisjoint(pairs):
                tokens = tokens_of_name(text, lexicon.find, conjunction=lexicon.conjunction, pair=find_pair)
                read = words_of_name(tokens)
                for word in read:
                    if word.text not in numbers:
                        numbers[word.text] = len(texts)
                        texts.append(word.text)
                        lemmas.append(word.lemma)
                own = np.array([numbers[word.text] for word in read], np.int32)
                pieces += [self.words[end : self.starts[place]], own]
                end = self.starts[place + 1]
                lengths[place] = len(own)
        words = np.concatenate([*pieces, self.words[end:]])
        return type(self)(self.rows, self.concepts, np.append(0, np.cumsum(lengths)), words, texts, lemmas)


class _Reader:
    """Reads the words of names, and numbers them.

    Args:
        rules: rules of the language.
    """

    def __init__(self, rules: WordRules) -> None:
        self.texts = [AND]
        self.words = array("i")
        self.starts = array("q", [0])
        self.hyphenated: list[Hyphenated] = []
        self._rules = rules
        self._of_text = {AND: 0}
        self._found: dict[str, tuple[int, Word]] = {}

    def read(self, text: str) -> None:
        """Number the words of the next name."""
        self.words.extend(self._numbers(text))
        self.starts.append(len(self.words))

    def _numbers(self, name: str) -> list[int]:
        text = name if name.isascii() else align(name).text
        # In most names no sign joins words, and no word joins or ends names. Then words need no tokens.
        if _JOINING.search(text) is None:
            found = [self._found.get(word) or self._look_up(word) for word in _WORD.findall(text)]
            numbers = [number for number, _ in found if number != _SKIPPED]
            if _OTHER not in numbers:
                if not HYPHENS.isdisjoint(text):
                    pairs = _PAIR.findall(text)
                    self._note(name, [one + other for one, other in pairs if self._found[one][0] != _SKIPPED])
                return numbers
        noted: list[str] = []

        def note(pair: str) -> Word:
            """Note two hyphenated words as a pair, and read them as two words."""
            noted.append(pair)
            return _UNKNOWN

        tokens = tokens_of_name(name, self._find, conjunction=_AND, pair=note)
        self._note(name, noted)
        return [self._number(word) for word in words_of_name(tokens)]

    def _note(self, name: str, pairs: Sequence[str]) -> None:
        """Note the pairs of hyphenated words of the next name."""
        if pairs:
            self.hyphenated.append(Hyphenated(len(self.starts) - 1, name, tuple(pairs)))

    def _look_up(self, surface: str) -> tuple[int, Word]:
        word = word_of(surface, self._rules)
        number = self._number(word) if word.kind == Kind.WORD else _SKIPPED if word.kind in PASSED else _OTHER
        self._found[surface] = number, word
        return number, word

    def _find(self, surface: str) -> Word:
        return (self._found.get(surface) or self._look_up(surface))[1]

    def _number(self, word: Word) -> int:
        number = self._of_text.setdefault(word.text, len(self.texts))
        if number == len(self.texts):
            self.texts.append(word.text)
        return number
