"""Tell which words say opposites, and which say no, by a table that can be reviewed.

``data/opposites.tsv`` has a row for each group: its language (``und`` for Latin and Greek elements that all have),
its kind, the sides (separated by ``|``), and why they exclude each other. Kinds:

- ``word``: whole words; ``amount``: those for amounts.
- ``prefix``, ``suffix``: of words that are alike without them; ``+`` is the word without any. ``amount prefix``: a
  prefix that is a word for an amount, too; ``no amount prefix``: beginnings of words in which it is none.
- ``negation``, ``negation at the end``, ``negation with preposition``: words that deny what follows, what stands
  before, or what follows a ``preposition``; ``absence``: words in names that deny what stands beside them;
  ``normal``: words that say that nothing is wrong; ``wrong``: that something is.
- ``species``: words that end the names of diseases of animals.
- ``passed over``: words that may stand between a negation and what it denies; ``joined``: words that are a part of
  the next; ``written out``: a phrase, and what it is read as.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache, lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from nymlink.text.word_tables import read_rows, split_cell

_TABLE: Final = Path(__file__).parent / "data" / "opposites.tsv"

_ANY: Final = "und"
"""The language of rows that hold in any."""

_STEM: Final = 4
"""Letters that words have in common beside their prefix or suffix: fewer are no stem."""

_WORD: Final = 5
"""Letters of a word that another is the opposite of by a prefix alone ("typical", "atypical")."""

WITHOUT: Final = "+"
"""The side of a word without any prefix."""

Meaning = tuple[str, str]
"""In which group (of a prefix: with which stem) a word is, and on which side."""


class OppositeWords(NamedTuple):
    """Opposites and negations of a language, by what they are looked up by.

    Attributes:
        words: word → its meanings.
        prefixes: prefix → (group, side).
        suffixes: the same for suffixes.
        without: groups of prefixes of which no prefix is a side.
        amounts: prefix → meaning among the words for amounts.
        plain: kind → the words of its rows, of kinds without sides.
        phrases: phrase → what it is read as.
    """

    words: dict[str, set[Meaning]]
    prefixes: dict[str, set[Meaning]]
    suffixes: dict[str, set[Meaning]]
    without: frozenset[str]
    amounts: dict[str, Meaning]
    plain: defaultdict[str, frozenset[str]]
    phrases: dict[str, str]


@cache
def opposites(language: str | None) -> OppositeWords:
    """Read the rows of a language.

    Args:
        language: its code; ``None`` for rows alone that hold in any.
    """
    words, prefixes, suffixes = (defaultdict[str, set[Meaning]](set) for _ in range(3))
    plain = defaultdict[str, frozenset[str]](frozenset)
    phrases, without, amounts = {}, set(), {}
    rows = [row for row in read_rows(_TABLE) if row["language"] in (language, _ANY)]
    amount = next((str(number) for number, row in enumerate(rows) if row["kind"] == "amount"), "")
    for number, row in enumerate(rows):
        kind, cells = row["kind"], split_cell(row["sides"])
        if kind == "written out":
            phrases[cells[0]] = cells[1]
            continue
        sides = [cell.split() for cell in cells]
        if len(sides) == 1:
            plain[kind] = plain[kind].union(sides[0])
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
    return OppositeWords(words, prefixes, suffixes, frozenset(without), amounts, plain, phrases)


@lru_cache(maxsize=1 << 16)
def meanings(word: str, language: str | None) -> frozenset[Meaning]:
    """Look up in which groups a word of a language is, and on which side."""
    table = opposites(language)
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
