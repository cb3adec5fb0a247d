"""English words that say nothing about which concept a name means."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from nymlink.text.word_tables import read_rows

_TABLE: Final = Path(__file__).parent / "data" / "stop_words.tsv"


@cache
def stop_words() -> tuple[str, ...]:
    """Read function words, in their normal form, sorted."""
    return tuple(row["word"] for row in read_rows(_TABLE))
