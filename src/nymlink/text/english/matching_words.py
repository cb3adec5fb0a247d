"""Words that decide whether a phrase of a text is a name, whose words it has in another form or order.

They are in ``data/matching_words.tsv``, a row for each group: its kind, the words, and why they are there.

``glue`` is passed over; ``conjunction`` joins the parts of a coordination; no
name goes over a ``break``; ``abnormal`` words are one word, ``wrong``
ones may stand for each other, and so may those of a row of the kind ``same``; a ``qualifier`` names no finding by
itself; ``empty`` words may be left out of a name; a ``person`` has what an adjective
before says; ``adjective`` and ``noun`` are ends of words.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final, Literal

from nymlink.text.english.stemming import light_stem
from nymlink.text.word_tables import read_kinds

_TABLE: Final = Path(__file__).parent / "data" / "matching_words.tsv"

Kind = Literal[
    "glue",
    "conjunction",
    "break",
    "abnormal",
    "wrong",
    "same",
    "qualifier",
    "empty",
    "person",
    "adjective",
    "noun",
]


@cache
def matching_words(kind: Kind) -> frozenset[str]:
    """Collect the words of a kind."""
    return frozenset(word for row in matching_rows(kind) for word in row)


@cache
def matching_stems(kind: Kind) -> frozenset[str]:
    """Collect the light stems of the words of a kind."""
    return frozenset(map(light_stem, matching_words(kind)))


def matching_rows(kind: Kind) -> tuple[tuple[str, ...], ...]:
    """List the rows of a kind, each the words of it."""
    return _kinds()[kind]


@cache
def _kinds() -> dict[str, tuple[tuple[str, ...], ...]]:
    return read_kinds(_TABLE)
