"""Quantities in texts: numbers with units, standard deviations, centiles, and ages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

_GAP: Final = 32
"""Characters before a value, at most."""
_BARE: Final = re.compile(
    r"(?:[^\w;]|\b(?:was|is|were|are|of|at|level|count|to|on|arrival|admission|only|rose|fell|measured|fasting|random|"
    r"about|around|score|value|up|down|now|had|has|below|under|above|over|less|more|than|until|by|the|age|aged)\b)*\Z"
)
"""Matches what may stand between a test and a value without a unit."""
_WORDS: Final = {
    word: str(number)
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty".split()
    )
}
_NUMBER: Final = (
    r"(?:\d{1,3}(?:[,  ]\d{3})+(?![\d])|\d+(?:[.,·]\d+)?(?:\s?½)?|"
    rf"\b(?:{'|'.join(_WORDS)})(?:\s+and\s+a\s+half)?\b)"
)
_QUANTITY: Final = re.compile(
    r"(?P<sign>[-−–+]|\bminus |\bplus )?"
    rf"(?P<number>{_NUMBER})(?:\s?(?:st|nd|rd|th)\b)?(?:\s?/\s?(?P<second>\d{{2,3}})\b(?!\s?/))?"
    r"(?P<rest>[\s-]*(?P<unit>[^\s,;()\d][^\s,;()]*(?:\s(?:of\sage|a\sminute|per\sminute|Hg|below|above|h)\b)?)?)",
    re.IGNORECASE,
)
_BELOW: Final = re.compile(
    r"(?:[<≤](?:\s?or\s?=)?|\b(?:below|under|less than|lower than|beneath|far below|well below)\b)\W*(?:the\s)?\Z",
    re.IGNORECASE,
)
_ABOVE: Final = re.compile(
    r"(?:[>≥](?:\s?or\s?=)?|\b(?:above|over|more than|greater than|higher than|exceeding)\b)\W*(?:the\s)?\Z",
    re.IGNORECASE,
)
_Z: Final = re.compile(r"\b[zZ](?:[- ]?scores?)?(?:\s(?:of|was|is))?\s?[=:]?\s?\Z")
_ENDING: Final = re.compile(r"\s?(?:[,;).(]|\Z|\s(?:and|with|on|at|in|but|which|after|the|fasting)\b)")
_WEEKS: Final = re.compile(r"\s?\+\s?[0-6]\b")
"""Days after full weeks of a pregnancy: "34+2"."""
_SPREAD: Final = re.compile(r"(?:±|\+/[-−–]|\+[-−–])\s*\Z")
_CHANGE: Final = re.compile(
    r"\b(?:increments?|increases?|decreases?|reductions?|changes?|differences?|rise|fall|drop|decline|by|from)\W*"
    r"(?:of|by|from)?\W*\Z",
    re.IGNORECASE,
)
"""Words before a number that is the size of a change, or its beginning."""
_COMPARED: Final = re.compile(r"\s?(?:[±]|\+/[-−–]|\+[-−–]\s|(?:lower|higher|less|more)\b)")
"""What follows the mean of several patients, or the size of a difference."""
_SIDE: Final = re.compile(r"[^.;,]{0,12}\b(below|above|under)\b")
_AT_AGE: Final = re.compile(r"\b(?:age|age of|aged|was|were|until|at|by)\s\Z")
_ELAPSED: Final = re.compile(r"\b(?:for|since|over|within|in|after|every|last|past|ago|twice)\b", re.IGNORECASE)
_AGO: Final = re.compile(r"\s*(?:ago|later|apart)\b", re.IGNORECASE)
_AGE: Final = re.compile(
    rf"(?P<number>{_NUMBER})[\s-]*(?P<unit>years?|y(?:rs?|o)?|months?|mo|weeks?|wks?|days?)\b"
    r"[\s-]*(?:old|of age|\d|[.,)])"
    rf"|\b(?:aged?|now|boy of|girl of|man of|woman of|child of|she is|he is)\s(?P<bare>{_NUMBER})"
    r"(?:\s(?P<bare_unit>years?|months?|weeks?|days?))?\b"
    r"|\b(?P<short>\d{1,2})\s?(?P<short_unit>y|yo|yr|yrs|M|F|m|f)\b",
    re.IGNORECASE,
)
_MONTHS: Final = {"y": 12.0, "mo": 1.0, "m": 1.0, "w": 12 / 52, "d": 12 / 365}
_RELATIVE: Final = {
    **dict.fromkeys(("sd", "sds", "sd's", "σ", "standard"), "sd"),
    **dict.fromkeys(("centile", "percentile", "percentiles", "centiles", "%ile"), "centile"),
    **dict.fromkeys(("times", "fold", "-fold", "x uln", "× uln"), "uln"),
}
"""Unit of a value against a norm: standard deviations, centiles, multiples of the upper limit."""
TIMES: Final = {"year": 12.0, "month": 1.0, "week": 12 / 52, "day": 12 / 365, "yr": 12.0, "mo": 1.0, "y": 12.0}


class Quantity(NamedTuple):
    """A number in a text: offsets, value, second value of a pair, unit, and side (see :meth:`Norm.has`)."""

    start: int
    end: int
    value: float
    second: float | None
    unit: str
    side: int


_RAISED_DIGITS: Final = str.maketrans("⁹³⁶", "936")


def squeezed(unit: str) -> str:
    """Write a unit in one way: small letters, without blanks and signs of multiplication."""
    plain = unit.lower().replace("μ", "µ").replace("mcg", "µg").replace("micromol", "µmol")
    return re.sub(r"[\s·.*^×]", "", plain.translate(_RAISED_DIGITS))


def quantities(text: str, start: int, end: int, units: re.Pattern[str]) -> Iterator[Quantity]:
    """Yield the numbers after a name of a test, each not far after the one before."""
    last = start
    for match in _QUANTITY.finditer(text, start, end):
        gap = text[last : match.start()]
        if len(gap) > _GAP:
            return
        if _SPREAD.search(gap):
            # A mean, which is no value of a patient.
            return
        if _CHANGE.search(gap):
            last = match.end("number")
            continue
        value = number_of(match["number"])
        sign = (match["sign"] or "").strip().lower()
        if sign in ("−", "-", "–", "minus") and (not gap or not gap[-1].isalnum()):
            value = -value
        unit, stop = _unit(text, match, units)
        z = _Z.search(gap) is not None
        if z:
            unit, stop = "sd", match.end("number")
        side = -1 if _BELOW.search(gap) else 1 if _ABOVE.search(gap) else 0
        if unit == "sd" and (told := _SIDE.match(text, stop)):
            value, stop = (value if told[1] == "above" else -abs(value)), told.end()
        if _COMPARED.match(text, stop):
            return
        second = None if match["second"] is None else float(match["second"])
        if unit in TIMES:
            if _ELAPSED.search(gap) or _AGO.match(text, stop):
                last = stop
                continue
            value, unit = value * TIMES[unit], "month"
        elif not unit and last == start and _AT_AGE.search(gap) and value < 25:
            # "Walked at three".
            yield Quantity(match.start(), match.end("number"), value * 12, None, "month", 0)
        if unit or (last == start and gap != "(" and _BARE.match(gap) and _ends_value(text, match, second)):
            if second is not None:
                stop = max(stop, match.end("second"))
            yield Quantity(match.start(), stop, value, second, unit, side)
        last = stop


def _ends_value(text: str, match: re.Match[str], second: float | None) -> bool:
    """Whether nothing after a number could be an unknown unit."""
    end = match.end("number") if second is None else match.end("second")
    return _ENDING.match(text, end) is not None


def _unit(text: str, match: re.Match[str], units: re.Pattern[str]) -> tuple[str, int]:
    """Read the unit after a number: the longest known one; empty if there is none."""
    start = match.end("number") if match["second"] is None else match.end("second")
    if _WEEKS.match(text, start):
        return "week", start
    found = units.match(text, start)
    if found is None:
        return "", start
    unit = squeezed(found["unit"])
    word = unit.rstrip("s") if unit.rstrip("s") in TIMES else unit
    return _RELATIVE.get(found["unit"].lower(), word), found.end()


def unit_pattern(units: Iterable[str]) -> re.Pattern[str]:
    """Match one of some units, a time, or a relative unit."""
    spelt = {*units, *_RELATIVE, *TIMES, *(f"{each}s" for each in TIMES)}
    patterns = (
        re.escape(unit).replace(r"\ ", r"\s?").replace(r"/", r"\s?/\s?").replace("10\\^9", r"10\s?(?:\^?9|⁹)")
        for unit in sorted(spelt, key=len, reverse=True)
    )
    return re.compile(rf"(?:st|nd|rd|th)?[\s-]*(?P<unit>{'|'.join(patterns)})(?![\w/^])", re.IGNORECASE)


def number_of(text: str) -> float:
    """Read a number: "6.2", "8,450", "9 000", "39,5", "three", "two and a half"."""
    text = " ".join(text.lower().split())
    half = 0.5 if text.endswith(("½", "and a half")) else 0.0
    text = text.removesuffix("½").removesuffix("and a half").strip()
    if text in _WORDS:
        return float(_WORDS[text]) + half
    if re.fullmatch(r"\d{1,3}(?:[,  ]\d{3})+", text):
        text = re.sub(r"\D", "", text)
    return float(text.replace(",", ".").replace("·", ".")) + half


def age_of(text: str) -> float | None:
    """Find the age of the patient, the first in a text, in years; ``None`` if none is stated."""
    match = _AGE.search(text)
    if match is None:
        return None
    number = match["number"] or match["bare"] or match["short"]
    unit = (match["unit"] or match["bare_unit"] or "y").lower()
    if match["short_unit"]:
        unit = "y"
    factor = _MONTHS["mo" if unit.startswith("mo") else unit[0]]
    return number_of(number) * factor / 12
