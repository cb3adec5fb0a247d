"""Names in forms that those of different vocabularies can be compared in."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from nymlink.text.english.spelling import DEFAULT_SPELLING
from nymlink.vocabulary.keys import normalise_all

# Shorter names are mostly abbreviations, which stand for many things.
_SHORTEST: Final = 4
_EMPTY: Final = frozenset("and by due for in of or s the to type with".split())
_ACCENTS: Final = re.compile("[\u0300-\u036f]")
"""Of Latin, Greek and Cyrillic letters. Marks of other scripts make other words: Thai "fever" is "egg" without."""

_EQUAL: Final = {
    **{"disorder": "disease", "neoplasm": "tumor"},
    # Not ``x``, which is a chromosome more often than a ten.
    **dict(zip("i ii iii iv v vi vii viii ix".split(), map(str, range(1, 10)), strict=True)),
}


def exact_names(names: pa.Table) -> pa.Table:
    """The rows of names that mean just what their concepts mean: preferred and exact ones."""
    return names.filter(pc.is_in(names["kind"].cast(pa.string()), pa.array(["preferred", "exact"])))


def sorted_words(texts: pa.ChunkedArray) -> list[str]:
    """Normal forms with their words in order: MeSH writes ``Diabetes Mellitus, Type 2``."""
    return [" ".join(sorted(name.split())) for name in normalise_all(texts).to_pylist()]


def is_telling(name: str) -> bool:
    """Whether a name is long enough to say by itself what is meant."""
    return len(name) >= _SHORTEST


def loosened(name: str) -> str:
    """A form of a name, its words sorted, that all names have which say the same.

    They differ in plurals, accents, American or British spelling, Roman numerals, ``disorder`` or ``disease``,
    ``neoplasm`` or ``tumor``, and words that say nothing.
    """
    if not name.isascii():
        name = unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", name)))
    words = name.split()
    telling = sorted(_loosened_word(word) for word in words if word not in _EMPTY)
    return " ".join(telling) or name


def _loosened_word(word: str) -> str:
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-3] + "y" if word.endswith("ies") and len(word) > 5 else word[:-1]
    word = DEFAULT_SPELLING.get(word, word)
    return _EQUAL.get(word, word)
