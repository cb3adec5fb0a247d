"""Replace misspelt words by the words of an index."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from nymlink.index.entries.words import Words
from nymlink.text.contradictions import contradiction
from nymlink.text.languages import LanguageRules
from nymlink.text.slips import may_be_misspelt

_MOST_WORDS: Final = 16
"""Words of the texts in which words are guessed: a longer text has words enough that are right."""


def guess(
    text: str,
    words: Words,
    rules: LanguageRules,
    *,
    language: str | None,
    symbols: Collection[str] = (),
) -> str:
    """Replace unknown words by the index word one edit away.

    A word is known that the index has, in some form, or the language: without a list of the language's words
    nothing is guessed, for "artritis" is right in Spanish. No guess is a word of the opposite meaning, nor what
    names a chemical, drug, gene or other product: their names are often one edit apart.

    Args:
        text: words with single spaces between them, as :func:`~nymlink.text.normalisation.normalise.normalise`
            gives them.
        words: those of the index.
        rules: of the text's language.
        language: its code; ``None`` where it is unknown.
        symbols: words that are kept: those of symbols, which are often one edit apart.
    """
    pieces = text.split(" ")
    if len(pieces) > _MOST_WORDS:
        return text
    return " ".join([word if word in symbols else _guess(word, words, rules, language) for word in pieces])


def _guess(word: str, words: Words, rules: LanguageRules, language: str | None) -> str:
    if not may_be_misspelt(word) or any(form in words for form in (word, *rules.forms(word))):
        return word
    if rules.is_known(word):
        return word
    right = words.correction(word)
    if right is None or rules.is_product(right) or contradiction(word, right, language=language) is not None:
        return word
    return right
