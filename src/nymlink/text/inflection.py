"""Lemmatise mentions in inflected languages, to match the uninflected names of vocabularies."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Final

from nymlink.text.languages import LanguageRules
from nymlink.text.normalise import normalise
from nymlink.text.word_tables import read_rows

_CLINICAL: Final = Path(__file__).parent / "data" / "clinical"
"""Words by which texts are annotated, a table for each language that has some."""

_WORDS: Final = 4
"""Largest number of inflected words that are lemmatised in every combination. If a text has more inflected words,
they are only lemmatised all together."""

Lemmatise = Callable[[str], str]
"""Returns the lemma of a word, or an unknown word itself."""


class InflectedRules(LanguageRules):
    """Rules for a language in which mentions are inflected and names are not.

    Lemmas come from simplemma's dictionaries and rules for endings; without that package nothing is lemmatised.

    Args:
        code: code of the language.
    """

    def __init__(self, code: str) -> None:
        self.code = code

    def forms(self, text: str) -> Iterable[str]:
        """Yield the text with all words lemmatised, then with only some of them lemmatised.

        "болей" becomes "боль"; "болезни лёгких" has several combinations.
        """
        lemmatise = _lemmatiser(self.code)
        if lemmatise is None:
            return
        words = [(normalise(lemmatise(word)) or word, word) for word in text.split()]
        inflected = sum(lemma != word for lemma, word in words)
        if inflected:
            yield " ".join(lemma for lemma, _ in words)
        if 1 < inflected <= _WORDS:
            choices = product(*(dict.fromkeys(choice) for choice in words))
            # The first choice has all lemmas, the last one is the text itself.
            yield from [" ".join(chosen) for chosen in choices][1:-1]

    def clinical_words(self) -> Sequence[Mapping[str, str]]:
        path = _CLINICAL / f"{self.code}.tsv"
        return read_rows(path) if path.is_file() else ()


@cache
def _lemmatiser(code: str) -> Lemmatise | None:
    """Load simplemma's lemmatiser; if it is not installed, warn once for each language and return ``None``."""
    try:
        from simplemma.strategies import DictionaryLookupStrategy, RulesStrategy
    except ImportError:
        warnings.warn(
            f"mentions in the language {code} are not lemmatised: pip install 'nymlink[languages]'", stacklevel=2
        )
        return None
    # Its other strategies split words, and would find "hemoglobin" in "hemoglobinopathy".
    dictionary, rules = DictionaryLookupStrategy(), RulesStrategy()

    def lemmatise(word: str) -> str:
        forms = [word, *_written(word, code)]
        try:
            found = (find(form, code) for find in (dictionary.get_lemma, rules.get_lemma) for form in forms)
            return next(filter(None, found), word)
        except UnicodeEncodeError:
            # simplemma fails on lone surrogates, which come from broken input.
            return word

    return lemmatise


def _written(word: str, code: str) -> Iterator[str]:
    """Yield how a prepared word may have been written: "ß", capitals of nouns, the last letter of Greek words."""
    if code == "el" and word.endswith("σ"):
        yield f"{word[:-1]}ς"
    if code == "de":
        if "ss" in word:
            yield word.replace("ss", "ß")
        yield word.capitalize()


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
