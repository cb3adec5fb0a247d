"""Read mentions of genes and proteins without what is said beside their names: "human TP53", "BRAF V600E".

The words are in ``data/symbols.tsv``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from nymlink.text.languages import Reading
from nymlink.text.word_tables import read_kinds

_TABLE: Final = Path(__file__).parent / "data" / "symbols.tsv"

_MOST_PARTS: Final = 3
"""Parts that are left out at most ("human KRAS G12D protein")."""

_LONGEST: Final = 80
"""Letters of the longest mention that is read so; a longer one is a sentence."""

_PREFIX: Final = re.compile(r"(?P<out>[hmr]|p-?)(?P<kept>(?!RNA|DNA)[A-Z][A-Za-z-]*[A-Z0-9].*)")
"""A letter for human, mouse, rat or phosphorylated before a symbol: hTERT, p-ERK."""

_PLURAL: Final = re.compile(r"(?P<kept>.*[A-Za-z0-9-][A-Z0-9])s")
"""A symbol ends in a capital or a digit before its plural: MEKs, Cyclin-Ds."""

_BRACKET: Final = re.compile(r"(?P<kept>.*[^\s(])\s*\((?P<out>[^()\s]{2,12})\)")

_LETTER: Final = "[ACDEFGHIKLMNPQRSTVWY]"
_AMINO: Final = "Ala|Arg|Asn|Asp|Cys|Gln|Glu|Gly|His|Ile|Leu|Lys|Met|Phe|Pro|Ser|Thr|Trp|Tyr|Val"
_CHANGED: Final = (
    rf"(?:p\.)?(?:{_LETTER}\d{{1,4}}(?:{_LETTER}|[*X]|fs\S*|del)|(?:{_AMINO})\d+(?:{_AMINO}|Ter))"
    r"|c\.\S+|(?:Δ|del|delta)[A-Z]\d{1,4}"
)
_CHANGES: Final = (
    re.compile(rf"(?P<kept>.*\S)[\s-]+\(?(?P<out>{_CHANGED})\)?"),
    re.compile(rf"(?P<out>{_CHANGED})[\s-]+(?P<kept>\S.*)"),
    re.compile(rf"(?P<kept>[A-Z][A-Z0-9]+)\(?(?P<out>{_LETTER}\d{{2,4}}{_LETTER})\)?"),
)
"""A protein with a change of its sequence, after, before or written together with it: BRAF V600E."""


def readings(mention: str) -> Iterator[Reading]:
    """Yield a mention without a species, a head, a state or a change of its sequence, the fewest left out first.

    They are candidates: look each up, and pass over those that are no name.

    Args:
        mention: as it was written.
    """
    if len(mention) > _LONGEST:
        return
    seen, last = {mention}, [Reading(mention)]
    for _ in range(_MOST_PARTS):
        further = [
            Reading(kept, (*reading.left_out, out) if out else reading.left_out, reading.head or is_head)
            for reading in last
            for kept, out, is_head in _shortened(reading.text)
            if kept not in seen
        ]
        last = list({reading.text: reading for reading in reversed(further)}.values())[::-1]
        seen.update(reading.text for reading in last)
        yield from last


def has_symbol_type(semantic_type: str) -> bool:
    """Whether concepts of a semantic type are genes or proteins, of which a head may be said ("VHL gene")."""
    return not _words("type").isdisjoint(re.split(r"\W+", semantic_type.lower()))


def _shortened(mention: str) -> Iterator[tuple[str, str, bool]]:
    """Yield a mention without one part, with the part, and whether that is a head; a plural leaves out nothing."""
    if match := _PLURAL.fullmatch(mention):
        yield match["kept"], "", False
    for pattern in (*_CHANGES, _BRACKET, _before(), _after(), _part()):
        if match := pattern.fullmatch(mention):
            yield match["kept"], match["out"], False
    if match := _head().fullmatch(mention):
        yield match["kept"], match["out"], True
    if match := _PREFIX.fullmatch(mention):
        yield match["kept"], match["out"], False
    if match := _BRACKET.fullmatch(mention):
        yield match["out"], match["kept"], False


@cache
def _words(kind: str) -> frozenset[str]:
    return frozenset(word for row in read_kinds(_TABLE)[kind] for word in row)


def _any(*kinds: str) -> str:
    words = sorted({word for kind in kinds for word in _words(kind)}, key=len, reverse=True)
    return "|".join(re.escape(word).replace(r"\ ", r"[\s-]") for word in words)


@cache
def _before() -> re.Pattern[str]:
    return re.compile(rf"(?i:(?P<out>{_any('species', 'state', 'head')}))[\s-]+(?:of )?(?P<kept>\S.*)")


@cache
def _after() -> re.Pattern[str]:
    return re.compile(rf"(?P<kept>.*\S)[\s-]+(?i:(?P<out>(?:in |of )?(?:{_any('species', 'state')})))")


@cache
def _part() -> re.Pattern[str]:
    return re.compile(rf"(?P<kept>.*\S)[\s,]+(?i:(?P<out>(?:{_any('part')}) ?(?:\d+|[a-z]|alpha|beta|gamma)))")


@cache
def _head() -> re.Pattern[str]:
    return re.compile(rf"(?P<kept>.*\S)[\s-]+(?i:(?P<out>{_any('head')}))")
