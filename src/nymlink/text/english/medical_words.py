"""Words of medical English that :mod:`~nymlink.text.english.paraphrases` knows: organs, functions, disorders.

They are in ``data/medical_words.tsv``, a row for each group of words: its kind, the words (separated by ``|``),
and why they are there. American spelling, in the form in which names are compared
(:func:`~nymlink.text.normalisation.normalise.normalise`). Of a row of the kinds ``adjective ending``, ``function
of organ``,
``wider``, ``phrase`` and ``organ``, the first word stands for the others: an ending for those of the nouns, a
combining form for the words for the organ. ``no event ending`` and ``not wider`` are exceptions.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from nymlink.text.word_tables import read_kinds

_TABLE: Final = Path(__file__).parent / "data" / "medical_words.tsv"


@cache
def rows_of(kind: str) -> tuple[tuple[str, ...], ...]:
    """List the rows of a kind, each the words of it.

    Raises:
        KeyError: there is no such kind.
    """
    return _kinds()[kind]


@cache
def ordered_words(kind: str) -> tuple[str, ...]:
    """List the words of a kind in the order of the table."""
    return tuple(word for row in rows_of(kind) for word in row)


@cache
def words_of(*kinds: str) -> frozenset[str]:
    """Collect the words of some kinds."""
    return frozenset(word for kind in kinds for word in ordered_words(kind))


@cache
def by_first_word(kind: str) -> Mapping[str, tuple[str, ...]]:
    """Map the first word of each row of a kind to the others."""
    return {first: tuple(others) for first, *others in rows_of(kind)}


@cache
def _kinds() -> dict[str, tuple[tuple[str, ...], ...]]:
    return read_kinds(_TABLE)
