"""The rules of English, in one place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from nymlink.core.computing import remember
from nymlink.text.english.composite import split_composite
from nymlink.text.english.forms import american, forms, matching_words
from nymlink.text.english.paraphrases import paraphrases
from nymlink.text.english.readings import clinical_abbreviations, has_symbol_type, readings
from nymlink.text.english.words import (
    clinical_words,
    common_words,
    drug_endings,
    english_spelling,
    is_english,
    known_words,
    ordinary_words,
    product_words,
    stop_words,
)
from nymlink.text.languages import LanguageRules, Reading


class EnglishRules(LanguageRules):
    """Spelling, forms, paraphrases, composite mentions and known words of English."""

    def recognises(self, text: str) -> bool:
        return is_english(text)

    def spelling(self) -> Mapping[str, str]:
        return english_spelling()

    def forms(self, text: str) -> Iterator[str]:
        return forms(text)

    def paraphrases(self, text: str) -> Iterator[str]:
        for spelt in dict.fromkeys((text, american(text))):
            yield from paraphrases(spelt)

    def split_composite(self, mention: str) -> tuple[str, ...]:
        return split_composite(mention)

    def readings(self, mention: str) -> Iterator[Reading]:
        return readings(mention)

    def meanings(self, abbreviation: str) -> tuple[tuple[str, ...], ...]:
        return clinical_abbreviations().get(abbreviation, ())

    def is_of_gene(self, semantic_type: str) -> bool:
        return has_symbol_type(semantic_type)

    def is_known(self, word: str) -> bool:
        """Whether a word, or another form of it, is listed, or it has the ending of a drug name."""
        return _is_known(word)

    def is_product(self, word: str) -> bool:
        return not product_words().isdisjoint((word, *forms(word)))

    def is_common(self, word: str) -> bool:
        return word in common_words() or word in stop_words()

    def is_ordinary(self, word: str) -> bool:
        return word in ordinary_words()

    def is_clinical(self, word: str) -> bool:
        # The list also has abbreviations that are ordinary words: "was", "all".
        return word in clinical_words() and word not in stop_words()

    def is_qualifier(self, word: str) -> bool:
        return word in matching_words("qualifier")


@remember(1 << 15)
def _is_known(word: str) -> bool:
    if word in common_words() or word in known_words() or word.endswith(drug_endings()):
        return True
    spelt = tuple(forms(word))
    return not common_words().isdisjoint(spelt) or not known_words().isdisjoint(spelt)


RULES: Final = EnglishRules()
