"""Rules of languages for the words of names and texts: lemmas, roots, kinds of words."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from itertools import chain
from typing import Final

from nymlink.annotation.tokens import AND, Kind, Word
from nymlink.text.english.forms import deep_stem, light_stem, matching_rows, matching_stems, matching_words
from nymlink.text.english.rules import RULES
from nymlink.text.english.words import rows_of
from nymlink.text.languages import recognise_language, rules_of
from nymlink.text.word_tables import split_cell


class WordRules:
    """Rules of a language for matching. Those of this class are neutral: words are themselves.

    Words are in lower case.

    Attributes:
        adjectives_follow: whether an adjective stands behind its noun.
    """

    adjectives_follow = False

    def kind(self, word: str) -> Kind:
        """Get the kind of a word: part of a name, conjunction, preposition, or another."""
        return Kind.WORD

    def lemma(self, word: str) -> str:
        """Stem a word so that its singular and plural are the same."""
        return word

    def root(self, lemma: str) -> str:
        """Stem a lemma so that words derived from each other are the same."""
        return lemma

    def nouns(self, lemma: str) -> Iterator[str]:
        """Yield the lemmas of nouns from which an adjective may be derived."""
        return iter(())

    def groups(self) -> Iterator[frozenset[str]]:
        """Yield groups of lemmas that may stand for each other."""
        return iter(())

    def same(self, lemma: str) -> str:
        """Return the lemma that stands for all lemmas of the same meaning."""
        return lemma

    def is_empty(self, lemma: str) -> bool:
        """Whether a word can be left out without changing the meaning of a name."""
        return False

    def is_qualifier(self, lemma: str) -> bool:
        """Whether a word names no finding by itself."""
        return False

    def is_wrong(self, lemma: str) -> bool:
        """Whether a word states an unspecified disorder ("problem")."""
        return False

    def is_adjective(self, word: str) -> bool:
        """Whether a word ends as adjectives do."""
        return False

    def is_person(self, word: str) -> bool:
        """Whether a word names a person with a finding ("patient")."""
        return False

    def is_beside_gene(self, word: str) -> bool:
        """Whether a word shows that the abbreviation before it is a gene, a protein or a cell line."""
        return False

    def meanings(self, abbreviation: str) -> tuple[tuple[str, ...], ...]:
        """List the names of each meaning of an abbreviation of clinical notes, the most frequent meaning first."""
        return ()

    def is_ordered(self, word: str) -> bool:
        """Whether a name with a preposition has its words in one order only."""
        return False

    def is_part(self, word: str) -> bool:
        """Whether a word behind the name of a part makes it another part."""
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
"""Length of the shortest stem that takes an ending."""

_ON_NOUNS: Final = ("ar", "al", "ial", "eal")
"""Endings that whole nouns take, too ("axonal" from "axon"), unlike -ic ("limbic" is not from "limb")."""

_KINDS: Final = {
    "conjunction": Kind.CONJUNCTION,
    "glue": Kind.GLUE,
    "preposition": Kind.PREPOSITION,
    "break": Kind.BREAK,
}
"""Kinds of words in tables. The first that applies counts."""


@cache
def _english_kinds() -> Mapping[str, Kind]:
    return {word: kind for name, kind in reversed(_KINDS.items()) for word in matching_words(name)}


@cache
def _adjective_endings() -> tuple[str, ...]:
    return (*matching_words("adjective"), *(end for end, *_ in rows_of("adjective ending")))


_ADJECTIVES: Final = ("ar", "al", "ic", "ous", "ary", "ed", "ive")


class EnglishWordRules(WordRules):
    """Rules of English: ``matching_words.tsv``, the organs of ``medical_words.tsv``, and word lists."""

    def kind(self, word: str) -> Kind:
        return _english_kinds().get(word, Kind.WORD)

    def lemma(self, word: str) -> str:
        return light_stem(word)

    def root(self, lemma: str) -> str:
        adverb = lemma.endswith("ly") and len(lemma) - 2 > _SHORTEST
        return deep_stem(lemma[:-2] if adverb else lemma)

    def nouns(self, lemma: str) -> Iterator[str]:
        yield f"{lemma}ness"
        if not lemma.endswith(_adjective_endings()):
            return
        for end, *others in rows_of("adjective ending"):
            if lemma.endswith(end) and len(lemma) - len(end) >= _SHORTEST - 1:
                yield from (light_stem(lemma.removesuffix(end) + other) for other in others)
        # In the order of the table: the first noun that the index has counts.
        for end in chain.from_iterable(matching_rows("adjective")):
            stem = lemma.removesuffix(end)
            if stem != lemma and len(stem) >= _SHORTEST:
                if end in _ON_NOUNS:
                    yield stem
                yield from (light_stem(stem + other) for other in chain.from_iterable(matching_rows("noun")))

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

    def is_beside_gene(self, word: str) -> bool:
        return word in matching_words("beside a gene")

    def meanings(self, abbreviation: str) -> tuple[tuple[str, ...], ...]:
        return RULES.meanings(abbreviation)

    def is_ordered(self, word: str) -> bool:
        return word in matching_words("ordered")

    def is_part(self, word: str) -> bool:
        return word in matching_words("part")

    def is_ordinary(self, word: str) -> bool:
        return any(RULES.is_ordinary(form) or RULES.is_common(form) for form in (word, deep_stem(word)))

    def is_clinical(self, word: str) -> bool:
        return any(map(RULES.is_clinical, (word, word.removesuffix("s"), light_stem(word))))

    def is_product(self, word: str) -> bool:
        return RULES.is_product(word)

    def is_adverb(self, word: str) -> bool:
        bases = (word[:-2], word[:-4]) if word.endswith("ally") else (word[:-2],)
        return word.endswith("ly") and any(self.is_ordinary(base) or self.is_clinical(base) for base in bases)


class TableWordRules(WordRules):
    """Rules of a language from the rows of :meth:`~nymlink.text.languages.LanguageRules.clinical_words`."""

    def __init__(self, rows: Iterable[Mapping[str, str]]) -> None:
        lists: defaultdict[str, list[tuple[str, ...]]] = defaultdict(list)
        for row in rows:
            lists[row["kind"]].append(split_cell(without_accents(row["words"].lower())))
        words = {kind: frozenset(word for each in own for word in each) for kind, own in lists.items()}
        self._words: defaultdict[str, frozenset[str]] = defaultdict(frozenset, words)
        self._letters = [_exchange(each) for row in lists["letters"] for each in row]
        endings = [_exchange(each) for row in lists["ending of word"] for each in row]
        self._endings = sorted(endings, key=lambda pair: -len(pair[0]))
        self._stems = {
            kind: frozenset(map(self.lemma, self._words[kind])) for kind in ("qualifier", "wrong", "empty")
        }
        self._groups = [frozenset(map(self.lemma, row)) for row in lists["same"]] + [self._stems["wrong"]]
        self.adjectives_follow = "noun adjective" in self._words["order"]

    def kind(self, word: str) -> Kind:
        return next((kind for name, kind in _KINDS.items() if word in self._words[name]), Kind.WORD)

    def lemma(self, word: str) -> str:
        for old, new in self._letters:
            word = word.replace(old, new)
        # Twice: "Nieren", "Niere", but "Kleinhirns", "Kleinhirn".
        for _ in range(2):
            exchanges = (pair for pair in self._endings if word.endswith(pair[0]))
            end, new = next((pair for pair in exchanges if len(word) - len(pair[0]) >= _SHORTEST - 1), ("", ""))
            word = word.removesuffix(end) + new
        return word

    def groups(self) -> Iterator[frozenset[str]]:
        return iter(self._groups)

    def is_empty(self, lemma: str) -> bool:
        return lemma in self._stems["empty"]

    def is_qualifier(self, lemma: str) -> bool:
        return lemma in self._stems["qualifier"]

    def is_wrong(self, lemma: str) -> bool:
        return lemma in self._stems["wrong"]

    def is_person(self, word: str) -> bool:
        return word in self._words["person"]

    def is_ordered(self, word: str) -> bool:
        return word in self._words["ordered"]


def _exchange(cell: str) -> tuple[str, str]:
    """Split an exchange of letters: "ones=on"."""
    old, _, new = cell.partition("=")
    return old, new


_OTHER_FORMS: Final = {"ё": "е", "ı": "i"}
"""Letters that texts write in two forms; the small letter of a Turkish "I" has a dot elsewhere."""


def rules_for_words(language: str | None) -> WordRules:
    """Choose the rules of a language: those of English, those of a table, or neutral ones."""
    if language == "en":
        return EnglishWordRules()
    rows = rules_of(recognise_language("", language)).clinical_words()
    return TableWordRules(rows) if rows else WordRules()


def word_of(surface: str, rules: WordRules) -> Word:
    """Return a word, as written, with its kind and text alone."""
    # The small letter of "İ" is two characters.
    text = without_accents(surface.lower().replace("i\u0307", "i"))
    # "A", "I" and "S" in capitals are letters or numerals ("type A", "type I", "protein S"). The article or
    # pronoun that begins a sentence begins no name. What is left of a genitive is looked up in small letters.
    kind = Kind.WORD if surface in ("A", "I", "S") else rules.kind(text)
    return Word(kind, AND if kind == Kind.CONJUNCTION else text)


def without_accents(text: str) -> str:
    """Remove the marks of Latin and Greek letters, letter by letter, so that offsets stay."""
    return text if text.isascii() else "".join(map(_plain, text))


@lru_cache(maxsize=4096)
def _plain(char: str) -> str:
    """Remove the marks of a letter, except in scripts in which these make other letters: Hangul, kana, "й"."""
    letter = unicodedata.normalize("NFD", char)[0]
    return _OTHER_FORMS.get(char, letter if letter < "\u0400" else char)
