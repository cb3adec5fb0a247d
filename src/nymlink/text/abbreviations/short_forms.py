"""Short forms in brackets, and the places where they are defined.

``data/words.tsv`` lists words by kind:

- ``function``: words that need give no letter.
- ``never first``: no long form begins with these words; ``never inside``: no long form contains these words, which
  belong to a sentence.
- ``generic``: nouns after a name that need give no letter: the "disease" of "Wilson disease (WD)" in "(W)".
- ``carrier``: nouns after a name that are not part of it: "adenomatous polyposis coli gene (APC)".
- ``lead``: words before a short form in a bracket: "(also known as …".

``data/readings.tsv`` lists words and parts of words that have other letters in a short form than in their
spelling: in "ovariectomized (OVX)", an X stands for "ect".

Schwartz & Hearst (2003) find a short form or a long form at the start of a bracket. nymlink finds other places,
too, see :data:`PATTERNS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

from nymlink.core.computing import remember
from nymlink.text.english.words import stop_words
from nymlink.text.rewriting import Bracket, is_balanced
from nymlink.text.word_tables import read_kinds, read_rows

_DATA: Final = Path(__file__).parent / "data"


@cache
def words_of(kind: str) -> frozenset[str]:
    """Read the words of a kind."""
    return frozenset(word for row in read_kinds(_DATA / "words.tsv")[kind] for word in row)


@remember(1 << 16)
def readings_of(word: str) -> tuple[str, ...]:
    """List the readings of a word in lower case; the first is its spelling.

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


_MOST: Final = 10
"""Largest number of characters of a short form, by Schwartz & Hearst."""

_MOST_WITH_SIGNS: Final = 15
"""Largest number of characters of a short form with other characters than letters: "5alpha-red-IR",
"Fru-2,6-P(2)"."""

_NEVER: Final = re.compile(r"[=<>{}]|\s[(\[]|(?<!/)-$|^(?:i+|i\.e|e\.g|cf|vs|pH)\.?$")
"""Matches texts that are no short forms. They have a sign of comparison, a bracket after a blank, or a hyphen at
the end, or they are words such as "ii", "e.g." and "pH"."""

_DOTTED: Final = re.compile(r"(?:[^\W\d_]\.){2,}|(?:[^\W\d_]\.)+[^\W\d_]")
_GREEK: Final = str.maketrans("αβγδεζηθικλμνξοπρσςτυφχψω", "abgdezhtiklmnxoprsstufcpo")


def is_short(text: str) -> bool:
    """Whether a text can be an abbreviation.

    An abbreviation is a capital letter, or 2 to 15 characters in at most two words. It begins with a letter or a
    digit, and has a letter. Without capitals and digits, it is a word of letters ("aku"), or of letters with dots
    ("i.v."), but no function word. If it has two words, the first has a capital or a digit ("type II" does not).
    """
    if len(text) > _MOST_WITH_SIGNS:
        return False
    words = text.split()
    if not words or not text[0].isalnum() or _NEVER.search(text) or not is_balanced(text):
        return False
    if len(text) == 1:
        return text.isalpha() and text.isupper()
    if len(words) > 2 or len(text) > (_MOST if text.isalpha() else _MOST_WITH_SIGNS):
        return False
    if text.islower() and not any(char.isdigit() for char in text):
        return bool(text.isalpha() and text not in stop_words()) or _DOTTED.fullmatch(text) is not None
    return any(char.isalpha() for char in text) and any(char.isupper() or char.isdigit() for char in words[0])


def letters_of(short: str) -> str:
    """List the letters and digits of a short form, in lower case, with Greek letters as Latin ones.

    A long form must explain all of them.
    """
    return "".join(char for char in fold(short) if char.isalnum())


def fold(text: str) -> str:
    """Lower-case character by character, with Greek letters as Latin ones; offsets stay the same."""
    lowered = text.lower()
    if len(lowered) != len(text):  # a few capitals become two characters
        lowered = "".join(low if len(low := char.lower()) == 1 else char for char in text)
    return lowered.translate(_GREEK)


WINDOW: Final = 300
"""Number of characters before a bracket, or in it, in which a long form is looked for."""

_SENTENCE_END: Final = re.compile(r"(?<![A-Z])(?<!\bSt)(?<!\bDr)(?<!\bvs)[.!?]\s+(?=[(\[\"“]?[A-Z])|\n")
_ANY_BRACKET: Final = re.compile(r"[()\[\]{}]")
_SEPARATOR: Final = re.compile(r"[;:](?!\d)|,(?=\s)|[=<>≤≥]|\bor\b")
_COMPARISONS: Final = ("=", "<", ">", "≤", "≥")
_AFTER_A_LETTER: Final = (",", ";", "")
_QUOTES: Final = "\"'“”‘’ \t\n"
_WITH_NUMBER: Final = re.compile(r"(\S+)\s+[-–+±]?\s?\d[\d.,%/]*(?:\s.*)?", re.DOTALL)
_LAST_TOKENS: Final = re.compile(r"(?<!\S)(\S+)\s*$"), re.compile(r"(?<!\S)(\S+\s\S+)\s*$")
_TAIL: Final = 40  # number of characters in which the last tokens before a bracket are looked for
_JOINED: Final = re.compile(r"[a-z]{3}$")


class Piece(NamedTuple):
    """A piece of a text, its start, and the sign that ends it, if any."""

    text: str
    start: int
    sign: str = ""


class Place(NamedTuple):
    """A short form, and a text that may end with its long form.

    Attributes:
        short: the short form.
        candidate: the text.
        exact: whether the long form must have at least two words, which must all give a letter. This is so if the
            bracket also has other content.
    """

    short: Piece
    candidate: Piece
    exact: bool = False


class Pattern(NamedTuple):
    """A pattern of brackets.

    Attributes:
        name: its name.
        example: a text of this pattern.
        places: lists the places of a bracket.
        classic: whether the pattern is from Schwartz & Hearst.
    """

    name: str
    example: str
    places: Callable[[str, Bracket], Iterator[Place]]
    classic: bool = False


def _short_in_bracket(text: str, bracket: Bracket) -> Iterator[Place]:
    """List the first piece of a bracket as a short form."""
    piece = next(_pieces(text, bracket), None)
    if piece is None or not is_short(piece.text) or not _stands_alone(text, bracket):
        return
    before = clause_before(text, bracket.opening)
    if len(piece.text) > 1 or (piece.sign in _AFTER_A_LETTER and before.text[-1:].isspace()):
        yield Place(piece, before, exact=piece.sign in _COMPARISONS)


def _short_beside_others(text: str, bracket: Bracket) -> Iterator[Place]:
    """List short forms after other pieces, after words of the kind ``lead``, or before a value."""
    if not _stands_alone(text, bracket):
        return
    for number, piece in enumerate(_pieces(text, bracket)):
        for short in _shorts(piece):
            if len(short.text) > 1 and (number > 0 or short.text != piece.text):
                before = clause_before(text, bracket.opening)
                yield Place(short, before, exact=number > 0 or piece.sign in _COMPARISONS)


def _both_in_bracket(text: str, bracket: Bracket) -> Iterator[Place]:
    """List pairs of neighbouring pieces in a bracket: a long form, then its short form."""
    pieces = list(_pieces(text, bracket))
    for long, short in pairwise(pieces):
        if is_short(short.text) and 1 < len(short.text) < len(long.text):
            yield Place(short, long)


def _long_in_bracket(text: str, bracket: Bracket) -> Iterator[Place]:
    """List a long form in a bracket after one or two words that are its short form."""
    first = next(_pieces(text, bracket), None)
    if first is None:
        return
    before = clause_before(text, bracket.opening)
    for tokens in _LAST_TOKENS:
        match = tokens.search(before.text, max(0, len(before.text) - _TAIL))
        if match is not None and is_short(match[1]) and len(match[1]) > 1:
            yield Place(Piece(match[1], before.start + match.start(1)), first)


PATTERNS: Final = (
    Pattern(
        "short form in a bracket", "Wiskott-Aldrich syndrome (WAS; MIM 301000)", _short_in_bracket, classic=True
    ),
    Pattern("short form beside others", "superoxide dismutase (EC 1.15.1.1; SOD)", _short_beside_others),
    Pattern("both in a bracket", "the vessels (blood-brain barrier, BBB)", _both_in_bracket),
    Pattern("long form in a bracket", "WAS (Wiskott-Aldrich syndrome)", _long_in_bracket, classic=True),
)


@lru_cache(maxsize=4)
def clause_before(text: str, opening: int) -> Piece:
    """Get the text from the start of the sentence, or of the enclosing bracket, to the bracket at ``opening``."""
    start = max(0, opening - WINDOW)
    for end in _SENTENCE_END.finditer(text, start, opening):
        start = end.end()
    depth = 0
    for bracket in reversed(list(_ANY_BRACKET.finditer(text, start, opening))):
        depth += 1 if bracket[0] in ")]}" else -1
        if depth < 0:
            start = bracket.end()
            break
    return Piece(text[start:opening], start)


def _stands_alone(text: str, bracket: Bracket) -> bool:
    """Whether a bracket is not part of a formula ("[Na]o", "A(2A)"); "clozapine(CLP)" only lacks a blank."""
    if text[bracket.opening] == "[" and text[bracket.closing + 1 : bracket.closing + 2].isalnum():
        return False
    before = text[max(0, bracket.opening - 3) : bracket.opening]
    return not before[-1:].isalnum() or _JOINED.search(before) is not None


def _pieces(text: str, bracket: Bracket) -> Iterator[Piece]:
    """Split the inside of a bracket at signs that end a clause; strip blanks and quotes from the pieces."""
    start, inside_end = bracket.opening + 1, bracket.closing
    if inside_end - start > WINDOW:
        return
    ends = [match.span() for match in _SEPARATOR.finditer(text, start, inside_end)]
    for end, following in [*ends, (inside_end, inside_end)]:
        piece = text[start:end]
        stripped = piece.strip(_QUOTES)
        if stripped:
            yield Piece(stripped, start + piece.index(stripped), text[end:following])
        start = following


def _shorts(piece: Piece) -> Iterator[Piece]:
    """Yield possible short forms of a piece: all of it, all without leading words, or the part before a number."""
    short = piece
    for lead in sorted(words_of("lead"), key=len, reverse=True):
        if short.text.startswith(f"{lead} "):
            rest = short.text[len(lead) :].lstrip(_QUOTES)
            short = Piece(rest, short.start + len(short.text) - len(rest))
            break
    if is_short(short.text):
        yield short
    if (numbered := _WITH_NUMBER.fullmatch(short.text)) and is_short(numbered[1]):
        yield Piece(numbered[1], short.start)
