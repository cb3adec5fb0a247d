"""Read symbols of chemicals: elements, ions, formulae, codes and abbreviations that name one substance.

``data/chemical_symbols.tsv.gz`` has the names of each symbol in open vocabularies; ``recipes/chemical_symbols.py``
makes it. Capitals and signs count: "Co" is cobalt and "CO" carbon monoxide, "Ca2+" is calcium and "CA2" is not.
"""

from __future__ import annotations

import gzip
import re
import unicodedata
from functools import cache
from pathlib import Path
from typing import Final

_TABLE: Final = Path(__file__).parent / "data" / "chemical_symbols.tsv.gz"

LONGEST: Final = 14
"""Number of characters of the longest symbol."""

LONGEST_WORD: Final = 7
"""The same for a symbol of letters only."""

_SMALL: Final = re.compile(r"[a-z]{4}")
"""Letters of a word rather than of a symbol."""
_BRACKET: Final = re.compile(r"[(\[]([0-9]*[-+]*)[)\]]|\^")
"""A number or a charge in brackets, as abstracts write what is below or above the line: CaCl(2), Ca(2+)."""
_SIGNS: Final = str.maketrans(dict.fromkeys("‐‑‒–—−⁻", "-") | {"⁺": "+"})
_CODE: Final = re.compile(r"([A-Za-z]{1,6})[ -]?(\d{2,}[A-Za-z]?)")
"""The code of a substance: "HOE 140", "Hoe-140"."""


def symbol_key(text: str) -> str | None:
    """Write a symbol in the one way in which symbols are compared; ``None`` for a text that is no symbol.

    Args:
        text: a name or a mention, as written: "Ca(2+)", "Ca²⁺" and "Ca++" become "Ca2+".
    """
    if len(text) > LONGEST + 2 or _SMALL.search(text):
        return None
    key = unicodedata.normalize("NFKC", text.translate(_SIGNS)).translate(_SIGNS).strip()
    key = _BRACKET.sub(r"\1", key).replace("++", "2+")
    if match := _CODE.fullmatch(key):
        key = (match[1] + match[2]).upper()
    if not key or len(key) > (LONGEST_WORD if key.isalpha() else LONGEST) or " " in key:
        return None
    marked = len(key) <= 2 or any(letter.isdigit() or letter.isupper() for letter in key[1:]) or key[-1] in "+-"
    return key if marked and any(map(str.isalpha, key)) else None


def names_of_symbol(text: str) -> tuple[str, ...]:
    """List names of the substance that a symbol mostly stands for, in their normal form, the most usual first.

    Args:
        text: a mention, as written; there are no names for one that is no symbol.
    """
    key = symbol_key(text)
    names = None if key is None else _table().get(key)
    return () if names is None else tuple(names.split(" = "))


@cache
def _table() -> dict[str, str]:
    lines = gzip.decompress(_TABLE.read_bytes()).decode("utf-8").splitlines()
    return dict(line.split("\t") for line in lines[1:])
