"""English words: stop words, spellings, medical and known words.

``data/spelling.tsv`` lists misspelt and British words. It omits words that are correct in another language, as
"fibre" and "goitre" are in French and "Syndrom" is in German. Most open vocabularies use American spelling.

Medical words are in ``data/medical_words.tsv``, one row for each group: kind, words (separated by ``|``), reason.
They are in American spelling and in the form in which names are compared
(:func:`~nymlink.text.normalise.normalise`). In rows of the kinds ``adjective ending``, ``function of organ``,
``wider``, ``phrase`` and ``organ``, the other words can replace the first word. For example, noun endings replace
an adjective ending, and words for an organ replace its combining form ("nephro"). The kinds ``no event ending``
and ``not wider`` list exceptions.

``recipes/words.py`` and ``recipes/foreign_words.py`` collect known words.
"""

from __future__ import annotations

import gzip
import re
import unicodedata
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

from nymlink.core.computing import remember
from nymlink.text.word_tables import read_kinds, read_rows

_STOP_WORDS_TABLE: Final = Path(__file__).parent / "data" / "stop_words.tsv"


@cache
def stop_words() -> tuple[str, ...]:
    """Read function words, in their normal form, sorted."""
    return tuple(row["word"] for row in read_rows(_STOP_WORDS_TABLE))


_SPELLING_TABLE: Final = Path(__file__).parent / "data" / "spelling.tsv"


@cache
def english_spelling() -> Mapping[str, str]:
    """Read the table: misspelt or British word → American word."""
    return MappingProxyType({row["wrong"]: row["right"] for row in read_rows(_SPELLING_TABLE)})


_MEDICAL_WORDS_TABLE: Final = Path(__file__).parent / "data" / "medical_words.tsv"


@cache
def rows_of(kind: str) -> tuple[tuple[str, ...], ...]:
    """List the rows of a kind, each a tuple of words.

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
    return read_kinds(_MEDICAL_WORDS_TABLE)


FOLDER: Final = Path(__file__).parent / "data"

WORDS: Final = "words.txt.gz"
PRODUCTS: Final = "product_words.txt.gz"

CLINICAL: Final = "clinical_words.txt.gz"
COMMON: Final = "common_words.txt.gz"
FOREIGN: Final = "foreign_words.txt.gz"
ORDINARY: Final = "ordinary_words.txt.gz"

SHORTEST: Final = 3
"""Number of letters of the shortest listed words."""


@cache
def known_words() -> frozenset[str]:
    """Read some two hundred thousand words of English and of biomedical names."""
    return _read(WORDS)


@cache
def product_words() -> frozenset[str]:
    """Read the known words that name chemicals, drugs, genes, proteins, organisms and other products."""
    return _read(PRODUCTS)


@cache
def clinical_words() -> frozenset[str]:
    """Read the known words that alone name a disease, a symptom or a finding."""
    return _read(CLINICAL)


@cache
def ordinary_words() -> frozenset[str]:
    """Read the known words of general language."""
    return _read(ORDINARY)


@cache
def common_words() -> frozenset[str]:
    """Read some twenty thousand common words of English."""
    return _read(COMMON)


@cache
def foreign_words() -> frozenset[str]:
    """Read some sixty thousand words of other languages, without accents, that are not English words."""
    return _read(FOREIGN)


@cache
def drug_endings() -> tuple[str, ...]:
    """Read the endings of names of drugs and chemicals.

    From WHO, "The use of stems in the selection of International Nonproprietary Names". A word with such an ending
    may be a drug that is in no list yet.
    """
    return tuple(row["end"] for row in read_rows(FOLDER / "drug_endings.tsv"))


def _read(name: str) -> frozenset[str]:
    return frozenset(gzip.decompress((FOLDER / name).read_bytes()).decode("ascii").split())


_SYMBOL: Final = re.compile(r"(?=.*[a-z])(?=.*[α-ω])[a-zα-ω0-9]+")
"""A word with Latin and Greek letters, which belongs to no language: "tnfα"."""

_SHORT: Final = 2
"""Words of this number of letters or fewer do not count as English: other languages have them, too ("no")."""


def is_english(text: str) -> bool:
    """Whether a text may be English: it has no foreign words, or more English words than foreign ones.

    - Foreign words are words in letters other than Latin, words of other languages (also if they look like
      misspelt English: "artritis"), and accented words that are not English without their accents.
    - English words are words of general and medical English with more than two letters.
    - All other words count for neither side: misspelt words, numerals, Greek letters. The text "siezures" has no
      foreign word, and is therefore taken to be English.

    Args:
        text: words separated by single spaces, from :func:`~nymlink.text.normalise.normalise`.
    """
    words = text.split(" ")
    foreign = sum(map(_is_foreign, words))
    # Most texts end here, which avoids reading the long lists of English.
    return foreign == 0 or foreign < sum(len(word) > _SHORT and _is_english(word) for word in words)


def without_accents(word: str) -> str:
    """Strip the accents (combining marks) from a word: é becomes e."""
    if word.isascii():
        return word
    return "".join(char for char in unicodedata.normalize("NFD", word) if not unicodedata.combining(char))


@remember(1 << 15)
def _is_foreign(word: str) -> bool:
    if _SYMBOL.fullmatch(word):
        return False
    plain = without_accents(word)
    if plain in foreign_words():
        return True
    if word.isascii() or len(plain) == 1 or not plain.isalpha():
        return False
    return not plain.isascii() or not _is_english(plain)


def _is_english(word: str) -> bool:
    lists = (common_words, known_words, stop_words)
    return word.isascii() and word not in foreign_words() and any(word in words() for words in lists)
