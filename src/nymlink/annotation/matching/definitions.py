"""Carry the abbreviations that a document defines through it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from nymlink.annotation.matching.hits import Hit
from nymlink.text.abbreviations import Definition


def glosses(text: str, definitions: Iterable[Definition]) -> list[tuple[int, int]]:
    """List the brackets that hold nothing but a short form, in order: a name may go on behind one."""
    found = {
        (definition.short_start - 1, definition.short_end + 1)
        for definition in definitions
        if text[definition.short_start - 1 : definition.short_start] in ("(", "[")
        and text[definition.short_end : definition.short_end + 1] in (")", "]")
    }
    return sorted(found)


def carry_through(text: str, definitions: Sequence[Definition], hits: Sequence[Hit]) -> Iterator[Hit]:
    """Yield short forms whose long form is a name, where they stand, and their plurals."""
    for definition in {definition.short: definition for definition in definitions}.values():
        meant = next((hit for hit in hits if _covers(hit, definition)), None)
        if meant is None:
            continue
        pattern = re.compile(rf"(?<![^\W_]){re.escape(definition.short)}s?(?![^\W_])")
        for match in pattern.finditer(text):
            yield Hit(*match.span(), meant.words, meant.choice)


def _covers(hit: Hit, definition: Definition) -> bool:
    return hit.start <= definition.long_start and definition.long_end <= hit.end
