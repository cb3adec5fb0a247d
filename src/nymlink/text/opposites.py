"""Tell which words say opposites, and which say no, by a table that can be reviewed.

``data/opposites.tsv`` has a row for each group: its language, its kind, the sides (separated by ``|``), and why
they exclude each other. Kinds:

- ``word``: whole words; ``amount``: those for amounts.
- ``prefix``, ``suffix``: of words that are alike without them; ``+`` is the word without any. ``amount prefix``: a
  prefix that is a word for an amount, too; ``no amount prefix``: beginnings of words in which it is none.
- ``negation``, ``negation at the end``, ``negation with of``: words that deny what follows, what stands before, or
  what follows "of"; ``absence``: words in names that deny what stands beside them; ``normal``: words that say that
  nothing is wrong; ``wrong``: that something is.
- ``species``: words that end the names of diseases of animals.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache, lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from nymlink.text.word_tables import read_rows, split_cell

_TABLE: Final = Path(__file__).parent / "data" / "opposites.tsv"

_STEM: Final = 4
"""Letters that words have in common beside their prefix or suffix: fewer are no stem."""

_WORD: Final = 5
"""Letters of a word that another is the opposite of by a prefix alone ("typical", "atypical")."""

WITHOUT: Final = "+"
"""The side of a word without any prefix."""

Meaning = tuple[str, str]
"""In which group (of a prefix: with which stem) a word is, and on which side."""


class Table(NamedTuple):
    """The rows of the table, by what they are looked up by.

    Attributes:
        words: word → its meanings.
        prefixes: prefix → (group, side).
        suffixes: the same for suffixes.
        without: groups of prefixes of which no prefix is a side.
        amounts: prefix → meaning among the words for amounts.
        plain: kind → the words of its rows, of kinds without sides.
    """

    words: dict[str, set[Meaning]]
    prefixes: dict[str, set[Meaning]]
    suffixes: dict[str, set[Meaning]]
    without: frozenset[str]
    amounts: dict[str, Meaning]
    plain: dict[str, frozenset[str]]


@cache
def opposites() -> Table:
    """Read the table."""
    words, prefixes, suffixes = (defaultdict[str, set[Meaning]](set) for _ in range(3))
    plain: dict[str, frozenset[str]] = {}
    without, amounts = set(), {}
    rows = read_rows(_TABLE)
    [amount] = [str(number) for number, row in enumerate(rows) if row["kind"] == "amount"]
    for number, row in enumerate(rows):
        kind, sides = row["kind"], [side.split() for side in split_cell(row["sides"])]
        if len(sides) == 1:
            plain[kind] = plain.get(kind, frozenset()).union(sides[0])
            continue
        for member, side in ((member, str(side)) for side, members in enumerate(sides) for member in members):
            if kind in ("word", "amount"):
                words[member].add((str(number), side))
            elif kind == "suffix":
                suffixes[member].add((str(number), side))
            elif member == WITHOUT:
                without.add(str(number))
            else:
                prefixes[member].add((str(number), side))
                if kind == "amount prefix":
                    amounts[member] = (amount, side)
    return Table(words, prefixes, suffixes, frozenset(without), amounts, plain)


@lru_cache(maxsize=1 << 16)
def meanings(word: str) -> frozenset[Meaning]:
    """Look up in which groups a word is, and on which side."""
    table = opposites()
    found = set(table.words.get(word, ()))
    for size in range(1, len(word) - _STEM + 1):
        start, stem = word[:size], word[size:]
        found.update((f"{group}:{stem}", side) for group, side in table.prefixes.get(start, ()))
        end, stem = word[-size:], word[:-size]
        found.update((f"{group}:{stem}", side) for group, side in table.suffixes.get(end, ()))
    if len(word) >= _WORD:
        found.update((f"{group}:{word}", WITHOUT) for group in table.without)
    if not word.startswith(tuple(table.plain["no amount prefix"])):
        found.update(
            side
            for prefix, side in table.amounts.items()
            if word.startswith(prefix) and len(word) >= len(prefix) + _STEM
        )
    return frozenset(found)
