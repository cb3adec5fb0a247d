"""The rules of languages: spelling, forms and paraphrases of a query, and which words are known.

A language's rules are in a folder of their own (:mod:`nymlink.text.english`). A package adds a language by a
subclass of :class:`LanguageRules`, an instance of which it registers under the code of the language (entry-point
group ``nymlink.language_rules``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Final, NamedTuple

from nymlink.core.language_codes import UNKNOWN_LANGUAGE, normalise_language
from nymlink.core.registry import Registry

_NO_SPELLING: Final[Mapping[str, str]] = MappingProxyType({})


class Reading(NamedTuple):
    """A mention without what is said beside a name.

    Attributes:
        text: what is left, as it was written.
        left_out: the rest, in parts ("human", "V600E").
        head: whether a part is said of genes and proteins only ("gene", "mutant"): a disease of this name is not
            meant.
    """

    text: str
    left_out: tuple[str, ...] = ()
    head: bool = False


class LanguageRules:
    """Rules of a language. Those of this class are neutral: they change nothing, and know no words.

    Texts are words with single spaces between them, as :func:`~nymlink.text.normalise.normalise`
    gives them, but for :meth:`split_composite` and :meth:`readings`.
    """

    def recognises(self, text: str) -> bool:
        """Whether to take a text of unknown language for this language."""
        return False

    def spelling(self) -> Mapping[str, str]:
        """Return the table of misspelt words: wrong word → right word, or words."""
        return _NO_SPELLING

    def forms(self, text: str) -> Iterable[str]:
        """Yield other regular forms of a text, the likeliest first; those that are no names are passed over."""
        return ()

    def paraphrases(self, text: str) -> Iterable[str]:
        """Yield paraphrases of a text, the likeliest first; those that are no names are passed over."""
        return ()

    def split_composite(self, mention: str) -> tuple[str, ...]:
        """Split a composite mention, as it was written, into single names; return any other alone."""
        return (mention,)

    def readings(self, mention: str) -> Iterable[Reading]:
        """Yield a mention, as it was written, without what is said beside a name; the most of it first."""
        return ()

    def meanings(self, abbreviation: str) -> tuple[tuple[str, ...], ...]:
        """List the names of each meaning of an abbreviation of clinical notes, the most frequent meaning first."""
        return ()

    def is_of_gene(self, semantic_type: str) -> bool:
        """Whether concepts of a semantic type are genes or proteins, which a head like "gene" is said of."""
        return False

    def is_known(self, word: str) -> bool:
        """Whether a word may be spelt right, so that no other word is guessed for it.

        Without a list of a language's words nothing tells a misspelt word from a right one: neutral rules take
        every word to be right.
        """
        return True

    def is_product(self, word: str) -> bool:
        """Whether a word names a chemical, drug, gene or other product, whose names are often one letter apart."""
        return False

    def is_common(self, word: str) -> bool:
        """Whether a word is among the common words of the language, names and abbreviations included."""
        return False

    def is_ordinary(self, word: str) -> bool:
        """Whether a word is of general language."""
        return False

    def is_clinical(self, word: str) -> bool:
        """Whether a word by itself names a disease, a symptom or a finding."""
        return False


NEUTRAL: Final = LanguageRules()
"""The rules of a language that has none."""

LANGUAGES: Final[Registry[LanguageRules]] = Registry("nymlink.language_rules", noun="language")


def rules_for(text: str, language: str | None = None) -> LanguageRules:
    """Find the rules for a text: those of its language, or neutral ones where that has none.

    Args:
        text: normalised.
        language: its code; ``None`` where it is unknown, see :func:`recognise_language`.
    """
    return rules_of(recognise_language(text, language))


def rules_of(code: str | None) -> LanguageRules:
    """Look up the rules of a language; neutral ones where it has none, or is ``None``.

    Args:
        code: as :func:`recognise_language` gives it.
    """
    return NEUTRAL if code is None else _rules().get(code, NEUTRAL)


def recognise_language(text: str, language: str | None = None) -> str | None:
    """Choose the language of a text: the given one, else the first whose rules recognise the text.

    Args:
        text: normalised.
        language: its code; ``None``, or ``"und"``, where it is unknown.

    Returns:
        The code without region (``en`` for ``en-GB``); ``None`` where no language with rules recognises the text.
    """
    if language is not None and language != UNKNOWN_LANGUAGE:
        return (normalise_language(language) or language.lower()).split("-")[0]
    return next((code for code, own in _rules().items() if own.recognises(text)), None)


@cache
def _rules() -> dict[str, LanguageRules]:
    return dict(LANGUAGES)
