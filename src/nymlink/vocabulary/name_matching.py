"""Compare names of two sources."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection
from functools import lru_cache
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nymlink.text.english.words import english_spelling
from nymlink.vocabulary.columns import normalise_all
from nymlink.vocabulary.vocabulary import Vocabulary

# The rules are English for names of all languages. Most compared names are English, and equal names in another
# language stay equal because both change in the same way.

# Shorter names are mostly abbreviations with many meanings.
_SHORTEST: Final = 4
_STOP_WORDS: Final = frozenset("and by due for in of or s the to type with".split())
_ACCENTS: Final = re.compile("[\u0300-\u036f]")
"""Accents of Latin, Greek and Cyrillic letters. Marks of other scripts distinguish words: without its mark, the
Thai word for "fever" means "egg"."""

_EQUIVALENT_WORDS: Final = {
    **{"disorder": "disease", "neoplasm": "tumor"},
    # Without ``x``, which stands more often for a chromosome than for ten.
    **dict(zip("i ii iii iv v vi vii viii ix".split(), map(str, range(1, 10)), strict=True)),
}


def exact_names(names: pa.Table) -> pa.Table:
    """Select the rows of preferred and exact names."""
    return names.filter(pc.is_in(names["kind"].cast(pa.string()), pa.array(["preferred", "exact"])))


def sorted_words(texts: pa.ChunkedArray) -> list[str]:
    """Normalise names and sort their words: MeSH writes ``Diabetes Mellitus, Type 2``."""
    return [" ".join(sorted(name.split())) for name in normalise_all(texts).to_pylist()]


def is_specific(name: str) -> bool:
    """Whether a name is long enough to be unambiguous."""
    return len(name) >= _SHORTEST


def loose_form(name: str) -> str:
    """Reduce a normalised name to a form that its variants share. The words of the form are sorted.

    Variants differ in plurals, accents, American or British spelling, Roman numerals, ``disorder`` or ``disease``,
    ``neoplasm`` or ``tumor``, and stop words.
    """
    if not name.isascii():
        name = unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", name)))
    content_words = sorted(_loose_word(word) for word in name.split() if word not in _STOP_WORDS)
    return " ".join(content_words) or name


@lru_cache(1 << 16)
def _loose_word(word: str) -> str:
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-3] + "y" if word.endswith("ies") and len(word) > 5 else word[:-1]
    word = english_spelling().get(word, word)
    return _EQUIVALENT_WORDS.get(word, word)


CrossPair = tuple[int, int]
"""A concept row of the target, and one of the metathesaurus."""


def mutually_named(target: Vocabulary, meta: Vocabulary, pairs: Collection[CrossPair]) -> set[CrossPair]:
    """Select the pairs in which each concept has the other's preferred name, ignoring the order of words."""
    target_names = _SortedNames(target, {row for row, _ in pairs})
    meta_names = _SortedNames(meta, {meta_row for _, meta_row in pairs})
    return {
        (row, meta_row)
        for row, meta_row in pairs
        if target_names.preferred[row] & meta_names.names[meta_row]
        and meta_names.preferred[meta_row] & target_names.names[row]
    }


class _SortedNames:
    """The names of some concepts, with sorted words: preferred names, and preferred and exact names."""

    def __init__(self, vocabulary: Vocabulary, rows: Collection[int]) -> None:
        wanted = np.zeros(len(vocabulary), bool)
        wanted[np.fromiter(rows, np.int64, len(rows))] = True
        names = exact_names(vocabulary.columns.names)
        names = names.filter(pa.array(wanted[names["concept"].to_numpy()]))
        self.preferred: dict[int, set[str]] = defaultdict(set)
        self.names: dict[int, set[str]] = defaultdict(set)
        columns = names["concept"].to_pylist(), names["kind"].to_pylist(), sorted_words(names["text"])
        for row, kind, name in zip(*columns, strict=True):
            self.names[row].add(name)
            if kind == "preferred":
                self.preferred[row].add(name)
