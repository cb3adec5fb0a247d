"""The rules of languages: spelling, forms and paraphrases of a query, and which words are known.

The rules of a language are in a folder of their own (:mod:`nymlink.text.english`). To add a language, a package
defines a subclass of :class:`LanguageRules` and registers an instance under the code of the language (entry-point
group ``nymlink.language_rules``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Final, NamedTuple

from nymlink.core.language_codes import AUTOMATIC, UNKNOWN_LANGUAGE, normalise_language
from nymlink.core.registry import Registry
from nymlink.text.detection import detect_language

_NO_SPELLING: Final[Mapping[str, str]] = MappingProxyType({})


class Reading(NamedTuple):
    """A mention without words that are no part of a name.

    Attributes:
        text: the remaining text, as written.
        left_out: the parts left out ("human", "V600E").
        head: whether one of the left-out parts applies only to genes and proteins ("gene", "mutant"). The mention
            then does not mean a disease of the same name.
    """

    text: str
    left_out: tuple[str, ...] = ()
    head: bool = False


class LanguageRules:
    """Rules of a language. This class has neutral rules: they change nothing, and know no words.

    Texts are words separated by single spaces, from :func:`~nymlink.text.normalise.normalise`, except in
    :meth:`split_composite` and :meth:`readings`.
    """

    def recognises(self, text: str) -> bool:
        """Whether a text of unknown language belongs to this language."""
        return False

    def spelling(self) -> Mapping[str, str]:
        """Return the spelling table: misspelt word → correct word or words."""
        return _NO_SPELLING

    def forms(self, text: str) -> Iterable[str]:
        """Yield other regular forms of a text, the likeliest first; the caller ignores those that are no names."""
        return ()

    def paraphrases(self, text: str) -> Iterable[str]:
        """Yield paraphrases of a text, the likeliest first; the caller ignores those that are no names."""
        return ()

    def split_composite(self, mention: str) -> tuple[str, ...]:
        """Split a composite mention, as written, into single names; any other mention is returned alone."""
        return (mention,)

    def readings(self, mention: str) -> Iterable[Reading]:
        """Yield a mention, as written, without words that are not part of a name.

        Readings with the fewest left-out parts come first.
        """
        return ()

    def meanings(self, abbreviation: str) -> tuple[tuple[str, ...], ...]:
        """List the names of each meaning of an abbreviation of clinical notes, the most frequent meaning first."""
        return ()

    def clinical_words(self) -> Sequence[Mapping[str, str]]:
        """List the words by which texts are annotated, as rows of ``kind``, ``direction`` and ``words``.

        ``text/data/clinical`` has examples. Without rows, words of names have neutral rules, and English phrases
        deny them.
        """
        return ()

    def is_of_gene(self, semantic_type: str) -> bool:
        """Whether concepts of a semantic type are genes or proteins, to which a head like "gene" applies."""
        return False

    def is_known(self, word: str) -> bool:
        """Whether a word may be correct. nymlink replaces it only if it is common and the mention is a name then.

        Misspelt words cannot be recognised without a list of words of the language. Neutral rules therefore take
        every word for correct.
        """
        return True

    def is_product(self, word: str) -> bool:
        """Whether a word names a chemical, drug, gene or other product. Such names often differ by one letter."""
        return False

    def is_common(self, word: str) -> bool:
        """Whether a word is among the common words of the language, names and abbreviations included."""
        return False

    def is_ordinary(self, word: str) -> bool:
        """Whether a word belongs to general language."""
        return False

    def is_clinical(self, word: str) -> bool:
        """Whether a word alone names a disease, a symptom or a finding."""
        return False

    def is_qualifier(self, word: str) -> bool:
        """Whether a word says how severe, how often, where or when something is found, but not what."""
        return False


NEUTRAL: Final = LanguageRules()
"""The neutral rules, for languages without rules."""

LANGUAGES: Final[Registry[LanguageRules]] = Registry("nymlink.language_rules", noun="language")


def rules_for(text: str, language: str | None = None) -> LanguageRules:
    """Find the rules for a text: those of its language, or neutral ones if it has none.

    Args:
        text: normalised text.
        language: code of the language; ``None`` if unknown, see :func:`recognise_language`.
    """
    return rules_of(recognise_language(text, language))


def rules_of(code: str | None) -> LanguageRules:
    """Look up the rules of a language; neutral rules if it has none, or for ``None``.

    Args:
        code: code of the language, with or without a region.
    """
    return NEUTRAL if code is None else _rules().get(code.split("-")[0], NEUTRAL)


def recognise_language(text: str, language: str | None = None) -> str | None:
    """Choose the language of a text: the given one, else the first whose rules recognise the text.

    Args:
        text: normalised text.
        language: code of the language; ``None`` or ``"und"`` if unknown; ``"auto"`` to detect it.

    Returns:
        The code without region (``en`` for ``en-GB``); ``None`` if no language with rules recognises the text.
    """
    if language == AUTOMATIC and (detected := detect_language(text)) is not None:
        return detected
    if language not in (None, AUTOMATIC, UNKNOWN_LANGUAGE):
        return (normalise_language(language) or language.lower()).split("-")[0]
    return next((code for code, own in _recognising() if own.recognises(text)), None)


@cache
def _rules() -> dict[str, LanguageRules]:
    return dict(LANGUAGES)


@cache
def _recognising() -> tuple[tuple[str, LanguageRules], ...]:
    """List the languages whose rules may recognise a text."""
    neutral = LanguageRules.recognises
    return tuple((code, own) for code, own in _rules().items() if type(own).recognises is not neutral)
