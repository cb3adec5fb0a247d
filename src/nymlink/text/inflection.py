"""Lemmatise mentions in inflected languages, as names are written."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from functools import cache
from itertools import product
from typing import Final

from nymlink.text.languages import LanguageRules
from nymlink.text.normalise import normalise

_WORDS: Final = 4
"""Most inflected words of a text to lemmatise in every combination; with more, all are lemmatised at once."""

Lemmatise = Callable[[str], str]
"""Returns the lemma of a word; the word itself where it knows none."""


class InflectedRules(LanguageRules):
    """Rules of a language whose mentions are inflected where its names are not.

    Lemmas are those of simplemma's dictionaries and rules for endings; without that package nothing is lemmatised.

    Args:
        code: code of the language.
    """

    def __init__(self, code: str) -> None:
        self.code = code

    def forms(self, text: str) -> Iterable[str]:
        """Lemmatise all words of a text ("болей", "боль"), then some ("болезни лёгких", "болезнь лёгких")."""
        lemmatise = _lemmatiser(self.code)
        if lemmatise is None:
            return
        words = [(normalise(lemmatise(word)) or word, word) for word in text.split()]
        inflected = sum(lemma != word for lemma, word in words)
        if inflected:
            yield " ".join(lemma for lemma, _ in words)
        if 1 < inflected <= _WORDS:
            choices = product(*(dict.fromkeys(choice) for choice in words))
            # The first are all lemmas, the last the text itself.
            yield from [" ".join(chosen) for chosen in choices][1:-1]


@cache
def _lemmatiser(code: str) -> Lemmatise | None:
    """Load simplemma's lemmatiser; where that is not installed, warn once a language and return ``None``."""
    try:
        from simplemma.strategies import DictionaryLookupStrategy, RulesStrategy
    except ImportError:
        warnings.warn(
            f"mentions in the language {code} are not lemmatised: pip install 'nymlink[languages]'", stacklevel=2
        )
        return None
    # Its other strategies take words apart, and find the hemoglobin in a hemoglobinopathy.
    dictionary, rules = DictionaryLookupStrategy(), RulesStrategy()

    def lemmatise(word: str) -> str:
        try:
            return dictionary.get_lemma(word, code) or rules.get_lemma(word, code) or word
        except UnicodeEncodeError:
            # It takes no lone surrogates, which broken input leaves in a text.
            return word

    return lemmatise


BULGARIAN: Final = InflectedRules("bg")
CATALAN: Final = InflectedRules("ca")
CZECH: Final = InflectedRules("cs")
DANISH: Final = InflectedRules("da")
DUTCH: Final = InflectedRules("nl")
ESTONIAN: Final = InflectedRules("et")
FINNISH: Final = InflectedRules("fi")
FRENCH: Final = InflectedRules("fr")
GERMAN: Final = InflectedRules("de")
GREEK: Final = InflectedRules("el")
HUNGARIAN: Final = InflectedRules("hu")
ITALIAN: Final = InflectedRules("it")
LATVIAN: Final = InflectedRules("lv")
LITHUANIAN: Final = InflectedRules("lt")
NORWEGIAN: Final = InflectedRules("nb")
POLISH: Final = InflectedRules("pl")
PORTUGUESE: Final = InflectedRules("pt")
ROMANIAN: Final = InflectedRules("ro")
RUSSIAN: Final = InflectedRules("ru")
SLOVAK: Final = InflectedRules("sk")
SLOVENE: Final = InflectedRules("sl")
SPANISH: Final = InflectedRules("es")
SWEDISH: Final = InflectedRules("sv")
TURKISH: Final = InflectedRules("tr")
UKRAINIAN: Final = InflectedRules("uk")
