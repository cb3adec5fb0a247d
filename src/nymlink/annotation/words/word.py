"""What is known of a word of a text: its kind, and the numbers by which it is compared with the words of names."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

MASK = (1 << 64) - 1
"""Digests of several words are sums of their keys, cut to 64 bits."""


class Kind(IntEnum):
    """What a token is to the names around it."""

    WORD = 0
    GLUE = 1
    """Passed over within a name: an article or a preposition."""
    CONJUNCTION = 2
    """Joins the parts of a coordination: "and", a slash."""
    COMMA = 3
    BREAK = 4
    """No name goes over it: a sentence's end, a bracket, a verb like "is"."""


class Word(NamedTuple):
    """A word as it is compared.

    Attributes:
        kind: what it is to the names around it.
        text: in lower case, without accents.
        lemma: its light stem.
        exact: key of its lemma; 0 where no name has it.
        form: key of its derived forms ("aorta", "aortic"); 0 where no name has one.
        sense: key of the words that may stand for it ("renal", "kidney"); 0 where no name has one.
        empty: whether a name says the same without it.
        qualifier: whether it names no finding by itself.
        wrong: whether it says that something is wrong, and not what.
        adjective: whether it ends as adjectives do.
        person: whether it is for somebody who has a finding.
    """

    kind: Kind
    text: str
    lemma: str = ""
    exact: int = 0
    form: int = 0
    sense: int = 0
    empty: bool = False
    qualifier: bool = False
    wrong: bool = False
    adjective: bool = False
    person: bool = False


class Token(NamedTuple):
    """A word, or another token, at its place in a text.

    Attributes:
        start: offset of its first character.
        end: offset one past its last character.
        surface: as it is written.
        word: what is known of it.
    """

    start: int
    end: int
    surface: str
    word: Word
