"""Leave out words of a mention that are not part of the name: "human TP53", "Metformin 500 mg tablet".

``data/symbols.tsv`` lists such words for genes and proteins, ``data/beside.tsv`` for findings and drugs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from nymlink.text.languages import Reading
from nymlink.text.normalise import normalise
from nymlink.text.word_tables import read_kinds, read_rows, split_cell

_DATA: Final = Path(__file__).parent / "data"

_MOST_PARTS: Final = 3
"""Largest number of parts that are left out: three in "human KRAS G12D protein"."""

_LONGEST: Final = 80
"""Number of characters of the longest mention whose parts are left out. A longer mention is a sentence."""

_PREFIX: Final = re.compile(r"(?P<out>[hmr]|p-?)(?P<kept>(?!RNA|DNA)[A-Z][A-Za-z-]*[A-Z0-9].*)")
"""A letter for human, mouse, rat or phosphorylated before a symbol: hTERT, p-ERK."""

_PLURAL: Final = re.compile(r"(?P<kept>.*[A-Za-z0-9-][A-Z0-9])s")
"""The plural of a symbol that ends in a capital or a digit: MEKs, Cyclin-Ds."""

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
"""A protein with a change of its sequence: BRAF V600E. The change may come after or before the protein, or be
written together with it."""


def readings(mention: str) -> Iterator[Reading]:
    """Yield a mention without words that are not part of its name; readings with the fewest left-out parts first.

    The left-out parts are:

    - for genes and proteins: species, heads ("gene"), states ("mutant"), changes of the sequence;
    - for drugs: strength, form, route, frequency, salt;
    - for findings: history, side, degree, "unspecified".

    Readings are candidates. The caller looks up each one, and ignores those that are not names.

    Args:
        mention: a mention, as written.
    """
    if len(mention) > _LONGEST:
        return
    yield from _of_bracket(mention)
    yield from _of_finding(mention)
    yield from _of_measurement(mention)
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
    """Whether concepts of a semantic type are genes or proteins. A head may follow their names ("VHL gene")."""
    return not _words("type").isdisjoint(re.split(r"\W+", semantic_type.lower()))


def _shortened(mention: str) -> Iterator[tuple[str, str, bool]]:
    """Leave out one part of a mention, in each possible way.

    Yields:
        The rest, the part, and whether only genes and proteins have such a part. For a plural that becomes
        singular, the part is "".
    """
    if match := _PLURAL.fullmatch(mention):
        yield match["kept"], "", False
    for pattern in _CHANGES:
        if match := pattern.fullmatch(mention):
            yield match["kept"], match["out"], False
    for pattern in (_before(), _after()):
        if match := pattern.fullmatch(mention):
            yield match["kept"], match["out"], normalise(match["out"]) not in _words("any")
    if match := _part().fullmatch(mention):
        yield match["kept"], match["out"], True
    if match := _head().fullmatch(mention):
        yield match["kept"], match["out"], True
    if match := _PREFIX.fullmatch(mention):
        yield match["kept"], match["out"], True
    if (match := _BRACKET.fullmatch(mention)) and _is_symbol(match["out"]):
        yield match["kept"], match["out"], False
        yield match["out"], match["kept"], False


def _is_symbol(text: str) -> bool:
    """Whether a word looks like a symbol: it has a digit or a capital after its first letter."""
    return any(letter.isdigit() or letter.isupper() for letter in text[1:])


_IN_BRACKET: Final = re.compile(r"(?P<kept>[^()]*[^\s(])\s*[(\[](?P<inside>[^()\[\]]+)[)\]]")
_AFTER_ABBREVIATION: Final = re.compile(r"(?P<kept>[A-Z]{2,6}), (?P<inside>[a-z]{4,}(?: [a-z]+)?)")
"""An abbreviation with a word after a comma, as in a bracket: "ID, mild"."""


def _of_bracket(mention: str) -> Iterator[Reading]:
    """Yield readings of a name with a bracket at its end.

    Words in the bracket that may change the meaning are moved into the name: "edema (pulmonary)" becomes
    "pulmonary edema". Words that do not change the meaning are left out.
    """
    match = _IN_BRACKET.fullmatch(mention.strip()) or _AFTER_ABBREVIATION.fullmatch(mention.strip())
    if match is None or _is_symbol(match["inside"]):
        return
    kept, inside = match["kept"], match["inside"].strip()
    letters = "".join(word[0] for word in re.split(r"[\s-]+", kept.lower()) if word)
    own = "".join(word[0] for word in re.split(r"[\s-]+", inside.lower()) if word)
    if inside.lower() in (letters, f"{letters}s") or not any(map(str.isalpha, inside)):
        yield Reading(kept, (inside,))
    elif kept.lower() in (own, f"{own}s"):
        yield Reading(inside, (kept,))
    elif kept in clinical_abbreviations():
        meant = [name for names in clinical_abbreviations()[kept] for name in names]
        yield from (Reading(f"{inside} {name}") for name in meant)
        yield from (Reading(f"{name}, {inside}") for name in meant)
        yield from (Reading(name, (inside,)) for name in meant)
    elif normalise(inside) in {*map(normalise, _beside("bracket") | _beside("after") | _beside("side"))}:
        yield Reading(kept, (inside,))
    elif normalise(inside) not in _beside("denial"):
        yield Reading(f"{inside} {kept}")
        yield Reading(f"{kept} {inside}")


def _of_finding(mention: str) -> Iterator[Reading]:
    """Yield a finding without words about it: "history of breast cancer", "deafness, unspecified"."""
    left_out: tuple[str, ...] = ()
    for _ in range(_MOST_PARTS):
        match = _said_before().match(mention) or _said_after().fullmatch(mention)
        if match is None:
            return
        mention, left_out = match["kept"].strip(" ,"), (*left_out, match["out"].strip())
        yield Reading(mention, left_out)


_MEASURED: Final = re.compile(
    r"(?P<kept>.*[^\W\d].*?)[\s,]+(?i:(?P<out>(?:<|>)?\s?[\d.,]+\s?(?:[mnpµμ]?mol|[mnpµμk]?g|i?u|mm)/[a-zµμ]*l"
    r"|x?\s?10\^?\d+\s?/\s?[a-zµμ]+|[(\[]?(?:[munpµμ]?mol|[munpµμk]?g|i?u|cells|mm)/[a-zµμ]*l[)\]]?))\.?"
)
"""A name with the value or the unit of a laboratory."""


def _of_measurement(mention: str) -> Iterator[Reading]:
    """Yield a measured substance without its value and unit: "glucose 5.5 mmol/l"."""
    if match := _MEASURED.fullmatch(mention):
        yield Reading(match["kept"].strip(" ,-"), (match["out"].strip(),))


@cache
def _said_before() -> re.Pattern[str]:
    words = "|".join(_longest_first(_beside("before") | _beside("side")))
    return re.compile(rf"(?i:(?P<out>{words}))(?:\s*:\s*|\s+)(?P<kept>\S.*)", re.DOTALL)


@cache
def _said_after() -> re.Pattern[str]:
    words = "|".join(_longest_first(_beside("after") | _beside("side")))
    return re.compile(rf"(?P<kept>.*\S?)(?:\s*,\s*|\s+)(?i:(?P<out>{words}))\.?")


def _longest_first(words: frozenset[str]) -> list[str]:
    return [re.escape(word) for word in sorted(words, key=len, reverse=True)]


@cache
def _beside(kind: str) -> frozenset[str]:
    return frozenset(word for row in read_kinds(_DATA / "beside.tsv")[kind] for word in row)


@cache
def clinical_abbreviations() -> dict[str, tuple[tuple[str, ...], ...]]:
    """Read the abbreviations of clinical notes.

    Returns:
        Abbreviation → its meanings, the most frequent first. Each meaning is a tuple of names.
    """
    rows = read_rows(_DATA / "clinical_abbreviations.tsv")
    return {
        row["abbreviation"]: tuple(tuple(meaning.split(" = ")) for meaning in split_cell(row["meanings"]))
        for row in rows
    }


@cache
def _words(kind: str) -> frozenset[str]:
    return frozenset(word for row in read_kinds(_DATA / "symbols.tsv")[kind] for word in row)


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
