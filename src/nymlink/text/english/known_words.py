"""Looking up the words of English and of medical names: what is one of them is no misspelt other.

``recipes/words.py`` collects them.
"""

from __future__ import annotations

import gzip
from functools import cache
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent / "data"

WORDS: Final = "words.txt.gz"
PRODUCTS: Final = "product_words.txt.gz"

CLINICAL: Final = "clinical_words.txt.gz"
ORDINARY: Final = "ordinary_words.txt.gz"

SHORTEST: Final = 3
"""Letters of the words that are listed."""


@cache
def known_words() -> frozenset[str]:
    """Read some two hundred thousand words of English and of biomedical names."""
    return _read(WORDS)


@cache
def product_words() -> frozenset[str]:
    """Read those of them that name chemicals, drugs, genes, proteins, organisms and other products."""
    return _read(PRODUCTS)


@cache
def clinical_words() -> frozenset[str]:
    """Read those of them that by themselves name a disease, a symptom or a finding."""
    return _read(CLINICAL)


@cache
def ordinary_words() -> frozenset[str]:
    """Read those of them that are of general language."""
    return _read(ORDINARY)


def _read(name: str) -> frozenset[str]:
    return frozenset(gzip.decompress((FOLDER / name).read_bytes()).decode("ascii").split())
