"""Guessing which word of an index a misspelt one was to be."""

from __future__ import annotations

from typing import Final

from nymlink.encode.model.embedded import common_words
from nymlink.index.entries.words import Words
from nymlink.text.contradictions import contradiction
from nymlink.text.english.forms import forms
from nymlink.text.english.known_words import known_words, product_words
from nymlink.text.english.slips import may_be_misspelt

_MOST_WORDS: Final = 16
"""A longer text has words enough that are right."""

_DRUG_ENDINGS: Final = tuple(
    "afil astine azepam azine azole barbital caine cillin citabine coxib cycline dipine dronate fenac fibrate "
    "floxacin gestrel gliflozin gliptin glitazone lukast mab mycin nib nidazole olol oxacin oxetine pam parin "
    "platin prazole pril profen rubicin sartan semide setron statin stigmine tadine taxel thiazide tidine triptan "
    "vaptan vir xaban zolam".split()
)
"""Stems by which the names of drugs and chemicals are made (WHO, "The use of stems in the selection of
International Nonproprietary Names"): a word that has one may be a drug that no list has yet."""


def guess(text: str, words: Words) -> str:
    """Replace unknown words by the index word one edit away.

    Words are known that the index has, or that are words of English or of biomedical names, also in another
    number. No guess is a word of the opposite meaning, nor what names a chemical, drug, gene or other product:
    their names are often one edit apart. What looks like a drug is left alone.

    Args:
        text: words with single spaces between them, as :func:`~nymlink.text.normalise.normalise` gives them.
        words: those of the index.
    """
    pieces = text.split(" ")
    return text if len(pieces) > _MOST_WORDS else " ".join([_guess(word, words) for word in pieces])


def _guess(word: str, words: Words) -> str:
    if not may_be_misspelt(word) or _is_known(word, words) or word.endswith(_DRUG_ENDINGS):
        return word
    meant = words.meant(word)
    if meant is None or _is_product(meant) or contradiction(word, meant) is not None:
        return word
    return meant


def _is_known(word: str, words: Words) -> bool:
    spelt = (word, *forms(word))
    return any(one in words or one in common_words() for one in spelt) or not known_words().isdisjoint(spelt)


def _is_product(word: str) -> bool:
    return not product_words().isdisjoint((word, *forms(word)))
