"""Find where the name of a chemical begins, of which a short form leaves out the locants.

"delta-9-tetrahydrocannabinol (THC)", "1,3-bis-(2-chloroethyl)-1-nitrosourea (BCNU)": numbers, Greek letters,
single letters, stereo-descriptors and substituents in brackets are part of the name.
"""

from __future__ import annotations

import re
from typing import Final

_GREEK: Final = r"(?:alpha|beta|gamma|delta|epsilon|zeta|omega|[α-ω])"
_DESCRIPTOR: Final = r"(?:cis|trans|tert|sec|iso|ortho|meta|para|endo|exo|rac|bis|tris|nor|threo|erythro)"
_GROUP: Final = r"(?:\([^\s()]*(?:\([^\s()]*\)[^\s()]*)*\)|\[[^\s\[\]]*\])"
_LOCANT: Final = rf"(?:\d+[a-h]?['′’]*|(?:[A-Z]['′’]*|{_GREEK}\d*|{_DESCRIPTOR})(?=[-‐–,(\[\d]){_GROUP}?|{_GROUP})"
_PREFIX: Final = re.compile(rf"(?:{_LOCANT}[-‐–,:]*)+", re.IGNORECASE)
_BOUNDARY: Final = re.compile(r"[\s/]")
_GREEK_BEFORE: Final = re.compile(rf"(?:^|(?<=[\s(\[])){_GREEK}\s$", re.IGNORECASE)
_NUMBER_BEFORE: Final = re.compile(r"(?:^|(?<=[\s(\[]))\d{1,2}\s$")
_STARTS_WITH_GREEK: Final = re.compile(rf"{_GREEK}-", re.IGNORECASE)


def widen(text: str, start: int) -> int:
    """Move the start of a long form to the left, over the locants before it.

    Args:
        text: the text in which it was found.
        start: where it begins.

    Returns:
        Where it begins with its locants; ``start`` where there are none.
    """
    token = start
    while token > 0 and not _BOUNDARY.match(text[token - 1]) and not _opens(text, token - 1, start):
        token -= 1
    if token < start and _PREFIX.fullmatch(text, token, start):
        start = token
    if start == token:
        before = _GREEK_BEFORE if text[start : start + 1].isdigit() else _NUMBER_BEFORE
        if (before is _GREEK_BEFORE or _STARTS_WITH_GREEK.match(text, start)) and (
            found := before.search(text, 0, start)
        ):
            return found.start()
    return start


def _opens(text: str, offset: int, end: int) -> bool:
    """Whether a character opens a bracket that is still open at ``end``."""
    depth = 0
    for char in text[offset:end]:
        depth += (char in "([{") - (char in ")]}")
        if depth == 0:
            return False
    return depth > 0
