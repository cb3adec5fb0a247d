"""Find the abbreviations that a text defines: "myotonic dystrophy (DM)"."""

from __future__ import annotations

from dataclasses import dataclass

from nymlink.text.abbreviations.long_forms import SPELLINGS
from nymlink.text.abbreviations.short_forms import PATTERNS, Place
from nymlink.text.rewriting import Bracket, brackets


@dataclass(frozen=True, slots=True)
class Definition:
    """A short form and the long form that a text gives for it.

    Attributes:
        short: the abbreviation, as written where it is defined.
        long: its meaning.
        short_start: offset of the short form in the text, in code points.
        short_end: offset after its last character.
        long_start: offset of the long form.
        long_end: offset after its last character.
    """

    short: str
    long: str
    short_start: int
    short_end: int
    long_start: int
    long_end: int


def find_definitions(text: str, *, classic: bool = False) -> tuple[Definition, ...]:
    """Find the abbreviations that a text defines in brackets.

    After Schwartz & Hearst, "A simple algorithm for identifying abbreviation definitions in biomedical text",
    Pacific Symposium on Biocomputing 2003. :mod:`~nymlink.text.abbreviations.short_forms` has the patterns of
    brackets; :mod:`~nymlink.text.abbreviations.long_forms` finds and compares long forms. If a short form is
    defined several times, definitions that explain all words of the long form replace the others.

    Args:
        text: a document's text.
        classic: use only the patterns and spellings of Schwartz & Hearst, like the published queries of BioSyn. A
            bracket must then begin with a short or a long form, and the letters must be in order.

    Returns:
        The definitions in the order of their brackets; offsets are for ``text``:
        ``text[d.short_start:d.short_end] == d.short``, likewise for the long form.
    """
    definitions: list[tuple[bool, Definition]] = []
    for bracket in brackets(text):
        definition = _definition(text, bracket, classic)
        if definition is not None:
            definitions.append(definition)
    explained = {definition.short for complete, definition in definitions if complete}
    return tuple(
        definition for complete, definition in definitions if complete or definition.short not in explained
    )


def _definition(text: str, bracket: Bracket, classic: bool) -> tuple[bool, Definition] | None:
    """Find the definition at a bracket; the boolean says whether all words of its long form are explained."""
    places = (place for one in PATTERNS if one.classic or not classic for place in one.places(text, bracket))
    definitions = (_spelled_out(place, classic) for place in places)
    return next((one for one in definitions if one is not None), None)


def _spelled_out(place: Place, classic: bool) -> tuple[bool, Definition] | None:
    """Find the long form for the short form at a place, by the first spelling that fits."""
    short, short_start = place.short.text, place.short.start
    candidate, start = place.candidate.text, place.candidate.start
    found = (way.find(short, candidate) for way in SPELLINGS if way.classic or not classic)
    long_form = next((one for one in found if one is not None), None)
    if long_form is None or (long_form.skipped_words and (place.exact or short.islower())):
        return None
    if place.exact and long_form.words == 1:
        return None

    long_start, long_end = start + long_form.start, start + long_form.end
    return long_form.skipped_words == 0, Definition(
        short,
        candidate[long_form.start : long_form.end],
        short_start,
        short_start + len(short),
        long_start,
        long_end,
    )
