"""Tokens of a text: their kinds, and keys to compare them with words of names."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Final, NamedTuple

from nymlink.text.aligned_text import align

MASK = (1 << 64) - 1
"""Mask of digests: sums of the keys of words, modulo 2^64."""


class Kind(IntEnum):
    """Role of a token in names."""

    WORD = 0
    GLUE = 1
    """Ignored within a name: an article or a determiner."""
    PREPOSITION = 2
    """Ignored within a name; a phrase begins after it."""
    CONJUNCTION = 3
    """Joins the parts of a coordination: "and", a slash."""
    COMMA = 4
    BREAK = 5
    """Ends a name: the end of a sentence, a bracket, a verb like "is"."""


LONGEST: Final = 10
"""Largest number of words of a name to find."""

AND: Final = "&"
"""Text and lemma of "and" and similar words."""

PASSED: Final = frozenset((Kind.GLUE, Kind.PREPOSITION))
"""Kinds ignored within a name."""


class Word(NamedTuple):
    """Properties of a word.

    Attributes:
        kind: its role in names.
        text: the word in lower case, without accents.
        lemma: its light stem.
        exact: key of its lemma; 0 if no name has it.
        form: key of its derived forms ("aorta", "aortic"); 0 if no name has one.
        sense: key of words with the same sense ("renal", "kidney"); 0 if no name has one.
        empty: whether names keep their meaning without it.
        qualifier: whether it is only a qualifier.
        wrong: whether it is a general word for an abnormality.
        adjective: whether it has the ending of an adjective.
        person: whether it means a person with a finding.
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
    """A word or sign with its offsets.

    Attributes:
        start: offset of its first character.
        end: offset one past its last character.
        surface: its characters as written.
        word: its properties.
    """

    start: int
    end: int
    surface: str
    word: Word


_WORD: Final = re.compile(r"[^\W_]+")
_LOCANT: Final = re.compile("[0-9]+|[A-Za-z]")
"""Text before a comma within the name of a chemical: "1,2-dichloroethane"."""
_APOSTROPHES: Final = frozenset(("'", "’"))
HYPHENS: Final = frozenset("-‐‑‒–")
_MARKER: Final = re.compile(r"(?=.*[A-Z0-9].*[A-Z0-9])[A-Za-z0-9]{2,6}")
"""Word before a minus: "HER2- breast cancer", "ER-, PR-"."""
_MINUS: Final = re.compile(r"[-‐‑‒–−]\s")
_JOINING: Final = frozenset("/&")
_CONJUNCTION: Final = Kind.CONJUNCTION

COMMA: Final = Word(Kind.COMMA, ",")
BREAK: Final = Word(Kind.BREAK, "|")

_Find = Callable[[str], Word]


def tokens_of(
    text: str,
    find: _Find,
    *,
    conjunction: Word,
    skipped: Sequence[tuple[int, int]] = (),
    pair: _Find | None = None,
) -> list[Token]:
    """Cut a text into tokens.

    A hyphenated word is one token if a name has it as one word ("pre-auricular").

    Args:
        text: a text.
        find: looks up the properties of a word as written.
        conjunction: properties of "and".
        skipped: spans of the text to ignore, in order.
        pair: looks up two hyphenated words, without their hyphen, as one word; ``None`` for ``find``.
    """
    pair = pair or find
    tokens: list[Token] = []
    end = 0
    hyphenated = False
    gone = iter(skipped)
    skip = next(gone, None)
    left_out = ""
    for match in _WORD.finditer(text):
        start, stop = match.span()
        while skip is not None and skip[1] <= start:
            left_out += text[end : skip[0]]
            end = skip[1]
            skip = next(gone, None)
        if skip is not None and skip[0] <= start:
            continue
        gap = text[end:start]
        if gap == " " and not left_out and (word := find(match[0])).kind != _CONJUNCTION:
            # Nearly all words follow a blank and join nothing.
            tokens.append(Token(start, stop, match[0], word))
            end = stop
            continue
        between = gap
        if gap == "," and tokens and _LOCANT.fullmatch(tokens[-1].surface):
            gap = ""
        elif gap != " " or left_out:
            gap = (left_out + gap).strip()
            left_out = ""
        else:
            gap = ""
        end = stop
        surface = match[0]
        word = find("s" if surface == "S" and gap in _APOSTROPHES else surface)
        if gap and tokens and gap not in _APOSTROPHES:
            hyphenated = gap in HYPHENS and not (
                # "T- and B-cell lymphoma" has no minus.
                word.kind == Kind.WORD and _MINUS.fullmatch(between) and _MARKER.fullmatch(tokens[-1].surface)
            )
            if not hyphenated and not (gap in _JOINING and tokens[-1].word.kind == Kind.CONJUNCTION):
                tokens.append(Token(start, start, gap, _separator(gap, conjunction)))
        if hyphenated and tokens[-1].word.kind == Kind.WORD and tokens[-1].end + 1 == start:
            before = tokens[-1]
            both = pair(before.surface + surface)
            # "O-R" is no "or".
            if both.exact and both.kind == Kind.WORD:
                tokens[-1] = Token(before.start, stop, before.surface + surface, both)
                hyphenated = False
                continue
        hyphenated = False
        if word.kind == Kind.CONJUNCTION and tokens:
            if tokens[-1].word.kind == Kind.CONJUNCTION:
                continue
            if tokens[-1].word.kind == Kind.COMMA:
                comma = tokens.pop()
                start, surface = comma.start, f", {surface}"
        tokens.append(Token(start, stop, surface, word))
    return tokens


def tokens_of_name(name: str, find: _Find, *, conjunction: Word, pair: _Find | None = None) -> list[Token]:
    """Cut a name into tokens, with its letters normalised like those of texts; see :func:`tokens_of`."""
    return tokens_of(name if name.isascii() else align(name).text, find, conjunction=conjunction, pair=pair)


def words_of_name(tokens: Sequence[Token]) -> list[Word]:
    """List the words of a name, including conjunctions but not signs.

    The list is empty if the name contains a word that ends names in a text; such a name cannot be found.
    """
    if any(token.word.kind == Kind.BREAK and token.start < token.end for token in tokens):
        return []
    return [token.word for token in tokens if token.word.kind in (Kind.WORD, Kind.CONJUNCTION)]


def _separator(gap: str, conjunction: Word) -> Word:
    if gap in _JOINING:
        return conjunction
    return COMMA if gap == "," else BREAK
