"""Words that decide what is a long form, and what words are read as, by tables that can be reviewed.

``data/words.tsv`` lists words by kind:

- ``function``: they need give no letter.
- ``never first``: no long form begins with them; ``never inside``: none has them, they are words of a sentence.
- ``generic``: nouns after a name that need give no letter: the "disease" of "Wilson disease (WD)" in "(W)".
- ``carrier``: nouns that carry the name but are not part of it.
- ``lead``: words before a short form in a bracket: "(also known as …".

``data/readings.tsv`` lists beginnings and parts of words with what their letters are read as, when that is not how
they are written: an X for the "ect" of "ovariectomized (OVX)".
"""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from nymlink.text.word_tables import read_kinds, read_rows

_DATA: Final = Path(__file__).parent / "data"


@cache
def words_of(kind: str) -> frozenset[str]:
    """Read the words of a kind."""
    return frozenset(word for row in read_kinds(_DATA / "words.tsv")[kind] for word in row)


@lru_cache(maxsize=1 << 16)
def readings_of(word: str) -> tuple[str, ...]:
    """List what a word, in lower case, may be read as: as it is written first.

    "ovariectomized" → ("ovariectomized", "ovariectxomized"); "two" → ("two", "2").
    """
    readings = [word]
    for written, read, place in _readings():
        if (
            (word == written)
            if place == "whole"
            else (word.startswith(written) if place == "start" else written in word)
        ):
            readings.append(word.replace(written, read, 1))
    return tuple(dict.fromkeys(readings))


@cache
def _readings() -> tuple[tuple[str, str, str], ...]:
    return tuple((row["written"], row["read"], row["place"]) for row in read_rows(_DATA / "readings.tsv"))
