"""What the words of a language are to names: an interface, neutral rules, and those of English."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Final

from nymlink.annotation.words.word import Kind
from nymlink.text.english.matching_words import matching_rows, matching_stems, matching_words
from nymlink.text.english.medical_words import rows_of
from nymlink.text.english.rules import RULES
from nymlink.text.english.stemming import deep_stem, light_stem


class WordRules:
    """Rules of a language for matching. Those of this class are neutral: words are themselves.

    Words are in lower case.
    """

    def kind(self, word: str) -> Kind:
        """Tell what a word is to the names around it."""
        return Kind.WORD

    def lemma(self, word: str) -> str:
        """Stem a word so that its singular and plural are the same."""
        return word

    def root(self, lemma: str) -> str:
        """Stem a lemma down to what derived words have in common."""
        return lemma

    def nouns(self, lemma: str) -> Iterator[str]:
        """Yield the lemmas of nouns that an adjective may be made of."""
        return iter(())

    def groups(self) -> Iterator[frozenset[str]]:
        """Yield groups of lemmas that may stand for each other."""
        return iter(())

    def same(self, lemma: str) -> str:
        """Return the lemma that stands for a lemma and all that say quite the same."""
        return lemma

    def is_empty(self, lemma: str) -> bool:
        """Whether a name says the same without a word."""
        return False

    def is_qualifier(self, lemma: str) -> bool:
        """Whether a word names no finding by itself."""
        return False

    def is_wrong(self, lemma: str) -> bool:
        """Whether a word says that something is wrong, and not what."""
        return False

    def is_adjective(self, word: str) -> bool:
        """Whether a word ends as adjectives do."""
        return False

    def is_person(self, word: str) -> bool:
        """Whether a word is for somebody who has a finding."""
        return False

    def is_ordinary(self, word: str) -> bool:
        """Whether a word is of general language, or common."""
        return False

    def is_clinical(self, word: str) -> bool:
        """Whether a word by itself names a disease, a symptom or a finding."""
        return False

    def is_product(self, word: str) -> bool:
        """Whether a word names a chemical, a drug or another product."""
        return False

    def is_adverb(self, word: str) -> bool:
        """Whether a word is an adverb of manner."""
        return False


_SHORTEST: Final = 4
"""Letters of the shortest stem that an ending is put to."""

_ON_NOUNS: Final = ("ar", "al", "ial", "eal")
"""Ends of adjectives that are put to whole nouns, too: "axon", "axonal"; "limbic" is made of no limb."""

_ADJECTIVES: Final = ("ar", "al", "ic", "ous", "ary", "ed", "ive")


class EnglishWordRules(WordRules):
    """Rules of English: ``matching_words.tsv``, the organs of ``medical_words.tsv``, and word lists."""

    def kind(self, word: str) -> Kind:
        if word in matching_words("conjunction"):
            return Kind.CONJUNCTION
        if word in matching_words("glue"):
            return Kind.GLUE
        return Kind.BREAK if word in matching_words("break") else Kind.WORD

    def lemma(self, word: str) -> str:
        return light_stem(word)

    def root(self, lemma: str) -> str:
        adverb = lemma.endswith("ly") and len(lemma) - 2 > _SHORTEST
        return deep_stem(lemma[:-2] if adverb else lemma)

    def nouns(self, lemma: str) -> Iterator[str]:
        yield f"{lemma}ness"
        for end, *others in rows_of("adjective ending"):
            if lemma.endswith(end) and len(lemma) - len(end) >= _SHORTEST - 1:
                yield from (light_stem(lemma.removesuffix(end) + other) for other in others)
        for end in matching_words("adjective"):
            stem = lemma.removesuffix(end)
            if stem != lemma and len(stem) >= _SHORTEST:
                if end in _ON_NOUNS:
                    yield stem
                yield from (light_stem(stem + other) for other in matching_words("noun"))

    def groups(self) -> Iterator[frozenset[str]]:
        rows = [*matching_rows("same"), *(row[1:] for row in rows_of("organ"))]
        yield matching_stems("wrong")
        yield from (frozenset(light_stem(word) for word in row if " " not in word) for row in rows)

    def same(self, lemma: str) -> str:
        return "abnormal" if lemma in matching_stems("abnormal") else lemma

    def is_empty(self, lemma: str) -> bool:
        return lemma in matching_stems("empty")

    def is_qualifier(self, lemma: str) -> bool:
        return lemma in matching_stems("qualifier")

    def is_wrong(self, lemma: str) -> bool:
        return lemma in matching_stems("wrong")

    def is_adjective(self, word: str) -> bool:
        return len(word) > _SHORTEST and word.endswith(_ADJECTIVES)

    def is_person(self, word: str) -> bool:
        return word in matching_words("person")

    def is_ordinary(self, word: str) -> bool:
        return any(RULES.is_ordinary(form) or RULES.is_common(form) for form in (word, deep_stem(word)))

    def is_clinical(self, word: str) -> bool:
        return any(map(RULES.is_clinical, (word, word.removesuffix("s"), light_stem(word))))

    def is_product(self, word: str) -> bool:
        return RULES.is_product(word)

    def is_adverb(self, word: str) -> bool:
        bases = (word[:-2], word[:-4]) if word.endswith("ally") else (word[:-2],)
        return word.endswith("ly") and any(self.is_ordinary(base) or self.is_clinical(base) for base in bases)


def rules_for_words(language: str | None) -> WordRules:
    """Choose the rules of a language: those of English, or neutral ones."""
    return EnglishWordRules() if language in (None, "en") else WordRules()


def without_accents(text: str) -> str:
    """Remove the marks of letters, letter by letter, so that offsets stay."""
    if text.isascii():
        return text
    return "".join([unicodedata.normalize("NFD", char)[0] if not char.isascii() else char for char in text])
