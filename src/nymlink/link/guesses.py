"""Guessing which word of an index a misspelt one was to be."""

from __future__ import annotations

from typing import Final

from nymlink.encode.embedded import common_words
from nymlink.index.words import Words
from nymlink.text.forms import forms
from nymlink.text.slips import may_be_misspelt

_MOST_WORDS: Final = 16
"""A longer text has words enough that are right."""


def guess(text: str, words: Words) -> str:
    """The text, each word of it that is known nowhere being that of the index of which it is a slip.

    Known are the words of the index and the common words of English, also in another number.

    Args:
        text: words with single spaces between them, as :func:`~nymlink.text.normalise.normalise` gives them.
        words: those of the index.
    """
    pieces = text.split(" ")
    return text if len(pieces) > _MOST_WORDS else " ".join([_guess(word, words) for word in pieces])


def _guess(word: str, words: Words) -> str:
    if not may_be_misspelt(word) or any(one in words or one in common_words() for one in (word, *forms(word))):
        return word
    return words.meant(word) or word
