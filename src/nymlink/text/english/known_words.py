"""Look up the words of English and of medical names: a word that is one of them is not misspelt.

``recipes/words.py`` and ``recipes/foreign_words.py`` collect them.
"""

from __future__ import annotations

import gzip
from functools import cache
from pathlib import Path
from typing import Final

from nymlink.text.word_tables import read_rows

FOLDER: Final = Path(__file__).parent / "data"

WORDS: Final = "words.txt.gz"
PRODUCTS: Final = "product_words.txt.gz"

CLINICAL: Final = "clinical_words.txt.gz"
COMMON: Final = "common_words.txt.gz"
FOREIGN: Final = "foreign_words.txt.gz"
ORDINARY: Final = "ordinary_words.txt.gz"

SHORTEST: Final = 3
"""Letters of the shortest words that are listed."""


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
    """Read the known words that by themselves name a disease, a symptom or a finding."""
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
    """Read some sixty thousand words of other languages, without accents, that are no words of English."""
    return _read(FOREIGN)


@cache
def drug_endings() -> tuple[str, ...]:
    """Read the stems by which the names of drugs and chemicals end.

    From WHO, "The use of stems in the selection of International Nonproprietary Names". A word that ends in one
    may be a drug that no list has yet.
    """
    return tuple(row["end"] for row in read_rows(FOLDER / "drug_endings.tsv"))


def _read(name: str) -> frozenset[str]:
    return frozenset(gzip.decompress((FOLDER / name).read_bytes()).decode("ascii").split())
