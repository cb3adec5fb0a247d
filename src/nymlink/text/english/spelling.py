"""Read the table of misspelt and British words, and the American spelling of each.

``data/spelling.tsv`` holds only words that can stand for nothing else, in other languages either: French has
"fibre" and "goitre", German "Syndrom". Most open vocabularies spell the American way.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

from nymlink.text.word_tables import read_rows

_TABLE: Final = Path(__file__).parent / "data" / "spelling.tsv"


@cache
def english_spelling() -> Mapping[str, str]:
    """Read the table: misspelt or British word → American word."""
    return MappingProxyType({row["wrong"]: row["right"] for row in read_rows(_TABLE)})
