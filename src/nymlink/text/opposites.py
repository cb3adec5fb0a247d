"""Reading which words say opposites, and which say no, off a table that can be reviewed.

``data/opposites.tsv`` has a row for each group: its language, its kind, the sides (separated by ``|``), and why
they exclude each other. Kinds: ``word`` (whole words), ``prefix`` and ``suffix`` (of words that are alike without
them; ``+`` is the word without any), ``amount prefix`` (that, and a word for an amount, too), ``negation``,
``negation at the end`` and ``normal`` (words that deny what follows, what stands before, or that anything is
wrong).
"""

from __future__ import annotations

import csv
from collections import defaultdict
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final, NamedTuple

_STEM: Final = 4
"""Letters that words have in common beside their prefix or suffix: fewer are no stem."""

_WORD: Final = 5
"""Letters of a word that another is the opposite of by a prefix alone ("typical", "atypical")."""

_NO_AMOUNT: Final = (
    "hypochondr hypoderm hypogastr hypogloss hypopharyn hypophys hypopyon hypospad hypothal hypothen hypothes"
).split()
"""Words with the prefix that says below, not less."""

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
        negations: words that deny.
        final_negations: words that deny at the end of a text.
        normal: words that say that nothing is wrong.
    """

    words: dict[str, set[Meaning]]
    prefixes: dict[str, set[Meaning]]
    suffixes: dict[str, set[Meaning]]
    without: frozenset[str]
    amounts: dict[str, Meaning]
    negations: frozenset[str]
    final_negations: frozenset[str]
    normal: frozenset[str]


@cache
def opposites() -> Table:
    """Read the table."""
    words, prefixes, suffixes = (defaultdict[str, set[Meaning]](set) for _ in range(3))
    plain: dict[str, set[str]] = defaultdict(set)
    without, amounts = set(), {}
    text = files("nymlink.text").joinpath("data/opposites.tsv").read_text(encoding="utf-8")
    for number, row in enumerate(csv.DictReader(text.splitlines(), delimiter="\t")):
        kind, group = row["kind"], str(number)
        for side, members in enumerate(row["sides"].split("|")):
            for member in members.split():
                meaning = (group, str(side))
                if kind == "word":
                    words[member].add(meaning)
                elif kind == "suffix":
                    suffixes[member].add(meaning)
                elif kind not in ("prefix", "amount prefix"):
                    plain[kind].add(member)
                elif member == WITHOUT:
                    without.add(group)
                else:
                    prefixes[member].add(meaning)
                    if kind == "amount prefix":
                        # The first group is that of words for amounts.
                        amounts[member] = ("0", str(side))
    return Table(
        words,
        prefixes,
        suffixes,
        frozenset(without),
        amounts,
        *(frozenset(plain[kind]) for kind in ("negation", "negation at the end", "normal")),
    )


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
    if not word.startswith(tuple(_NO_AMOUNT)):
        found.update(
            side
            for prefix, side in table.amounts.items()
            if word.startswith(prefix) and len(word) >= len(prefix) + _STEM
        )
    return frozenset(found)
