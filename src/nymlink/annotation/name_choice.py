"""Choose among names with the same words. Stricter rules apply to names of products, such as chemicals."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from nymlink.annotation.annotator_settings import FACTORS, LEVELS
from nymlink.annotation.lexicon import Lexicon
from nymlink.annotation.name_table import Level, NameTable, letters_of, says_something
from nymlink.annotation.tokens import Kind, Token, Word, tokens_of_name, words_of_name
from nymlink.annotation.word_rules import WordRules, without_accents
from nymlink.core.store.arrays import Bools
from nymlink.vocabulary.concepts import KINDS, Name
from nymlink.vocabulary.vocabulary import Vocabulary

_LETTERS: Final = re.compile(r"[^\W\d_]{3,}")
"""Pattern of the words of lists; shorter words are ignored."""

_REMEMBERED: Final = 1 << 16

_LOOKED_AT: Final = 2000
"""Number of concepts inspected to find the types of products."""

_MOST: Final = 0.5
"""If more than this share of the concepts of a semantic type have names with words for products, all concepts of
the type count as products. The share is 0.9 for the chemicals of MeSH, 0.2 for the phenotypes of HPO ("abnormal
circulating creatinine"), and 0.1 for the diseases of MEDIC."""


class Products:
    """Recognises the concepts of a vocabulary that are products.

    Args:
        vocabulary: the vocabulary.
        rules: rules of the language of its names.

    Attributes:
        is_called_so: takes the id of a concept, and says whether its preferred name is that of a product.
        has_such_type: takes the id of a concept, and says whether it has a semantic type of products.
    """

    def __init__(self, vocabulary: Vocabulary, rules: WordRules) -> None:
        self._vocabulary = vocabulary
        self._rules = rules
        self._types = self._product_types()
        self.is_called_so: Callable[[str], bool] = lru_cache(_REMEMBERED)(self._is_called_so)
        self.has_such_type: Callable[[str], bool] = lru_cache(_REMEMBERED)(self._has_such_type)

    def _is_called_so(self, concept_id: str) -> bool:
        words = [
            without_accents(match[0].lower()) for match in _LETTERS.finditer(self._vocabulary[concept_id].name)
        ]
        return any(map(self._rules.is_product, words)) and not any(map(self._rules.is_clinical, words))

    def _has_such_type(self, concept_id: str) -> bool:
        return not self._types.isdisjoint(self._types_of(concept_id))

    def _types_of(self, concept_id: str) -> tuple[str, ...]:
        return self._vocabulary[concept_id].semantic_types or ("",)

    def _product_types(self) -> frozenset[str]:
        concepts: Counter[str] = Counter()
        products: Counter[str] = Counter()
        count = len(self._vocabulary)
        for row in range(0, count, max(1, count // _LOOKED_AT)):
            concept_id = self._vocabulary.concept_id(row)
            types = self._types_of(concept_id)
            concepts.update(types)
            products.update(types if self._is_called_so(concept_id) else ())
        return frozenset(each for each, found in products.items() if found > _MOST * concepts[each])


_LONGEST_ACRONYM: Final = 6
_SHORTEST_ACRONYM: Final = 3
"""Smallest number of letters of an abbreviation that is found by its spelling. A shorter one is found only if the
text says what it stands for."""


_SIGNS: Final = (Kind.COMMA, Kind.BREAK, Kind.CONJUNCTION)
_LOOSE: Final = ("related", "narrow", "broad")


class Choice(NamedTuple):
    """The name chosen for a phrase.

    Attributes:
        row: row of the name in the vocabulary.
        level: level of agreement between phrase and name.
        confidence: confidence, 0 to 1.
    """

    row: int
    level: Level
    confidence: float


class NameChooser:
    """Chooses among the names of a table.

    Args:
        vocabulary: the vocabulary.
        table: digests of its names.
        lexicon: words of its names.
        allowed: bool (N): names that may be chosen; ``None`` for all.
    """

    def __init__(
        self, vocabulary: Vocabulary, table: NameTable, lexicon: Lexicon, allowed: Bools | None = None
    ) -> None:
        self._vocabulary = vocabulary
        self._allowed = allowed
        self._table = table
        self._lexicon = lexicon
        self.rules = lexicon.rules
        self._products = Products(vocabulary, lexicon.rules)
        self._name = lru_cache(_REMEMBERED)(self._read_name)
        self._chosen: dict[tuple[int, tuple[str, ...]], Choice | None] = {}

    def choose(self, digest: int, tokens: Sequence[Token]) -> Choice | None:
        """Choose among the names with the digest of some tokens; ``None`` if no name fits."""
        key = (digest, tuple(token.surface for token in tokens))
        if key not in self._chosen:
            if len(self._chosen) >= _REMEMBERED:
                self._chosen.clear()
            self._chosen[key] = self._choose(digest, tokens)
        return self._chosen[key]

    def choose_written(self, digest: int, tokens: Sequence[Token]) -> Choice | None:
        """Choose the name that is spelt like some tokens, including signs; ``None`` if there is none."""
        writing = _writing(tokens)
        for level, row in self._table.find(digest):
            if level != Level.EXACT or (self._allowed is not None and not self._allowed[row]):
                continue
            name = self._vocabulary.name(row)
            own = tokens_of_name(name.text, self._lexicon.find, conjunction=self._lexicon.conjunction)
            if _writing(own) == writing:
                return Choice(row, level, LEVELS[level] * (FACTORS["loose"] if name.kind in _LOOSE else 1.0))
        return None

    def is_in_order(self, choice: Choice, tokens: Sequence[Token]) -> bool:
        """Whether tokens have the same words as a name, in the same order."""
        return [word.sense for word in self._name(choice.row)[1]] == [token.word.sense for token in tokens]

    def is_other_part(self, choice: Choice, word: Word, after: Word) -> bool:
        """Whether the next word changes what the last word of a phrase names: "hypoplastic ear | lobe"."""
        return after.form != 0 and self.rules.is_part(after.text) and len(self._name(choice.row)[1]) > 1

    def last_word(self, choice: Choice) -> Word:
        """Return the last word of a name."""
        return self._name(choice.row)[1][-1]

    def is_product(self, choice: Choice) -> bool:
        """Whether the concept of a name has a semantic type of products."""
        return self._products.has_such_type(self._name(choice.row)[0].concept_id)

    def _choose(self, digest: int, tokens: Sequence[Token]) -> Choice | None:
        words = [token.word.text for token in tokens]
        same = self._lexicon.rules.same
        lemmas = [same(token.word.lemma) for token in tokens]
        best: tuple[tuple[float, ...], Choice] | None = None
        for level, row in self._table.find(digest):
            if self._allowed is not None and not self._allowed[row]:
                continue
            name, of_name = self._name(row)
            confidence = self._confidence(level, name, of_name, tokens)
            if not confidence:
                continue
            own = [same(word.lemma) for word in of_name]
            shared = sum(lemma in own for lemma in lemmas)
            literal = words == [word.text for word in of_name]
            # The plural of a substance is a class of substances: "glutamate" is Glutamic acid, not Glutamates.
            of_product = literal and self._products.is_called_so(name.concept_id)
            rank = (of_product, confidence, shared, -KINDS.index(name.kind), literal, -row)
            if best is None or rank > best[0]:
                best = rank, Choice(row, level, confidence)
        return None if best is None else best[1]

    def _read_name(self, row: int) -> tuple[Name, list[Word]]:
        name = self._vocabulary.name(row)
        tokens = tokens_of_name(name.text, self._lexicon.find, conjunction=self._lexicon.conjunction)
        return name, words_of_name(tokens)

    def _confidence(self, level: Level, name: Name, of_name: Sequence[Word], tokens: Sequence[Token]) -> float:
        """Estimate the confidence that tokens mean a name; 0 if they do not."""
        words = [token.word for token in tokens]
        confidence = LEVELS[level]
        if name.kind in _LOOSE:
            confidence *= FACTORS["loose"]
        if level != Level.EXACT and self._products.has_such_type(name.concept_id):
            # What is derived from the name of a product is another, or none: phosphatase, phosphate.
            confidence *= FACTORS["product"]
        if len(of_name) == 1 and is_acronym(name.text):
            return confidence if _is_written_so(tokens, name.text) else 0.0
        if level != Level.CORE and not says_something(words):
            return confidence * FACTORS["qualifier"]
        if len([word for word in words if word.kind == Kind.WORD]) > 1:
            return confidence
        return confidence * self._of_one_word(level, name, of_name, words[0])

    def _of_one_word(self, level: Level, name: Name, of_name: Sequence[Word], word: Word) -> float:
        rules = self._lexicon.rules
        if letters_of(word.text) < _SHORTEST_ACRONYM:
            return 0.0
        if level == Level.CORE:
            return 1.0
        if rules.is_adverb(word.text):
            return FACTORS["adverb"]
        ordinary = rules.is_ordinary(word.text)
        if level == Level.EXACT:
            return FACTORS["ordinary"] if ordinary and self._is_odd(name, of_name[0], word) else 1.0
        if not ordinary:
            # What is derived from the name of a product is something else: a carcinogen, carcinogenesis.
            return 1.0 if rules.is_clinical(of_name[0].text) else FACTORS["ordinary"]
        of_noun = of_name[0].lemma in rules.nouns(word.lemma) and rules.is_clinical(of_name[0].text)
        return 1.0 if of_noun else FACTORS["ordinary"]

    def _is_odd(self, name: Name, of_name: Word, word: Word) -> bool:
        """Whether a word of general language is a name that seems unrelated to its concept ("included")."""
        rules = self._lexicon.rules
        if name.kind == "preferred" or rules.is_clinical(word.text):
            return False
        written_so = word.text.removesuffix("s") == of_name.text.removesuffix("s")
        if written_so and rules.is_product(word.text) and self._products.is_called_so(name.concept_id):
            return False
        preferred = self._vocabulary[name.concept_id].name
        tokens = tokens_of_name(preferred, self._lexicon.find, conjunction=self._lexicon.conjunction)
        return all(word.form != other.word.form for other in tokens)


def _writing(tokens: Sequence[Token]) -> list[str]:
    return [token.surface if token.word.kind in _SIGNS else token.word.text for token in tokens]


def is_acronym(text: str) -> bool:
    """Whether a name is an abbreviation: short, with capitals."""
    return (text.isupper() and len(text) <= _LONGEST_ACRONYM) or (
        len(text) < _LONGEST_ACRONYM and " " not in text and sum(map(str.isupper, text)) > 1
    )


def _is_written_so(tokens: Sequence[Token], name: str) -> bool:
    """Whether a phrase is an abbreviation with the spelling of the vocabulary, or its plural."""
    if len(name) < _SHORTEST_ACRONYM or len(tokens) != 1:
        return False
    written = name.replace("-", "")
    return tokens[0].surface in (name, f"{name}s", written, f"{written}s")
