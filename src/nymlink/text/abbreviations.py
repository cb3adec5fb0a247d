"""Find the abbreviations that a text defines: "myotonic dystrophy (DM)"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from nymlink.text.brackets import Bracket, brackets
from nymlink.text.long_forms import best_long_form, inverted_long_form

_WINDOW: Final = 300  # characters, before a bracket or in it, in which a long form is looked for
_CLAUSE: Final = re.compile(r"\s*[\"'“‘]?(.*?)[\"'”’]?\s*(?:[;,]|$)", re.DOTALL)
_LAST_TOKEN: Final = re.compile(r"(\S+)\s*$")
_SENTENCE_END: Final = re.compile(r"(?<![A-Z])(?<!\bSt)(?<!\bDr)(?<!\bvs)[.!?]\s+(?=[(\[\"“]?[A-Z])|\n")
_NOT_IN_SHORT: Final = re.compile(r"[=<>()\[\]{}]")


@dataclass(frozen=True, slots=True)
class Definition:
    """A short form and the long form that a text gives for it.

    Attributes:
        short: the abbreviation, as written where it is defined.
        long: what it stands for.
        short_start: offset of the short form in the text, in code points.
        short_end: offset one past it.
        long_start: offset of the long form.
        long_end: offset one past it.
    """

    short: str
    long: str
    short_start: int
    short_end: int
    long_start: int
    long_end: int


def find_definitions(text: str, *, inverted: bool = True) -> tuple[Definition, ...]:
    """Find the abbreviations that a text defines in brackets, either way round.

    After Schwartz & Hearst, "A simple algorithm for identifying abbreviation definitions in biomedical text",
    Pacific Symposium on Biocomputing 2003; :mod:`nymlink.text.long_forms` says how the long form is chosen.
    Where one short form is defined several times, definitions that leave words of the long form unexplained give
    way to those that explain all.

    Args:
        text: a document's text.
        inverted: whether two words count whose initials spell the short form backwards: "myotonic dystrophy (DM)".

    Returns:
        The definitions in the order of their brackets; offsets count in ``text``, and
        ``text[d.short_start:d.short_end] == d.short``, likewise the long form.
    """
    definitions: list[tuple[bool, Definition]] = []
    for bracket in brackets(text):
        definition = _definition(text, bracket, inverted)
        if definition is not None:
            definitions.append(definition)
    explained = {definition.short for complete, definition in definitions if complete}
    return tuple(
        definition for complete, definition in definitions if complete or definition.short not in explained
    )


def _definition(text: str, bracket: Bracket, inverted: bool) -> tuple[bool, Definition] | None:
    """Find the definition at a bracket, after whether all words of its long form are explained."""
    if bracket.closing - bracket.opening > _WINDOW:
        return None
    clause = _CLAUSE.match(text, bracket.opening + 1, bracket.closing)
    if clause is None:
        return None
    inside, inside_start = clause[1], clause.start(1)
    before_start = _clause_start(text, bracket.opening)
    before = text[before_start : bracket.opening]
    if _is_short(inside):
        definition = _spelled_out(inside, inside_start, before, before_start, inverted)
        if definition is not None:
            return definition
    token = _LAST_TOKEN.search(before)
    if token is None or not _is_short(token[1]):
        return None
    return _spelled_out(token[1], before_start + token.start(1), inside, inside_start, inverted)


def _spelled_out(
    short: str, short_start: int, candidate: str, start: int, inverted: bool
) -> tuple[bool, Definition] | None:
    long_form = best_long_form(short, candidate)
    if long_form is None and short[-1] == "s" and short[-2:-1].isupper():
        long_form = best_long_form(short[:-1], candidate)
    if long_form is None and inverted:
        long_form = inverted_long_form(short, candidate)
    if long_form is None or (short.islower() and long_form.skipped_words):
        return None
    long = candidate[long_form.start : long_form.end]
    long_start = start + long_form.start
    return long_form.skipped_words == 0, Definition(
        short, long, short_start, short_start + len(short), long_start, long_start + len(long)
    )


def _clause_start(text: str, opening: int) -> int:
    """Find the start of the sentence, or of the enclosing bracket, around the bracket at ``opening``."""
    start = max(0, opening - _WINDOW)
    for end in _SENTENCE_END.finditer(text, start, opening):
        start = end.end()
    depth = 0
    for offset in range(opening - 1, start - 1, -1):
        if text[offset] in ")]}":
            depth += 1
        elif text[offset] in "([{":
            if depth == 0:
                return offset + 1
            depth -= 1
    return start


def _is_short(text: str) -> bool:
    """Whether a text can be an abbreviation: 2-10 characters in at most two words, among them a letter.

    It begins with a letter or digit. Lower-case ones ("aku") need three letters; of two words the first must show
    a capital or a digit, which "type II" does not.
    """
    words = text.split()
    if not (2 <= len(text) <= 10 and 1 <= len(words) <= 2 and text[0].isalnum()) or _NOT_IN_SHORT.search(text):
        return False
    if text.islower():
        return len(words) == 1 and len(text) >= 3 and text.isalpha()
    return any(char.isalpha() for char in text) and any(char.isupper() or char.isdigit() for char in words[0])
