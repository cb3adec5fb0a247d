"""Read drugs as prescriptions and lists write them: "Metformin 500 mg tablet", "0.9 % NaCl 1000 ml iv".

The words are in ``data/drugs.tsv``, in English, German and Spanish. A strength may have a decimal comma.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import cache
from itertools import islice, product
from pathlib import Path
from typing import Any, Final

from nymlink.core.computing import remember
from nymlink.text.languages import Reading
from nymlink.text.word_tables import read_kinds

_TABLE: Final = Path(__file__).parent / "data" / "drugs.tsv"

_LONGEST: Final = 200
"""Characters of the longest text that is read."""


@dataclass(frozen=True, slots=True)
class Drug:
    """What a text says of a drug beside its name. Missing values are ``None``.

    Attributes:
        name: the name as written, with the salt.
        strength: the amount of the substance: 500 of "500 mg", 5 of "5 mg/ml".
        unit: unit of the strength as written: "mg", "mg/ml", "%".
        quantity: volume of the whole as written: "1000 ml" of "0.9 % NaCl 1000 ml".
        form: "tablet".
        route: "iv".
        frequency: "bid", "1-0-1".
        salt: "tartrate".
    """

    name: str
    strength: float | None = None
    unit: str | None = None
    quantity: str | None = None
    form: str | None = None
    route: str | None = None
    frequency: str | None = None
    salt: str | None = None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def is_dosed(self) -> bool:
        """Whether a strength or a quantity is stated."""
        return self.strength is not None or self.quantity is not None

    @property
    def substance(self) -> str:
        """The name without the salt."""
        return without_salt(self.name)[0]

    @property
    def written(self) -> str:
        """The drug as one text, for :func:`read_drugs`."""
        strength = None if self.strength is None else f"{self.strength:.12g} {self.unit}"
        pieces = (self.name, strength, self.quantity, self.form, self.route, self.frequency)
        return " ".join(filter(None, pieces))

    def __str__(self) -> str:
        """Write the values that are stated: "strength: 500 mg; form: tablet"."""
        strength = None if self.strength is None else f"{self.strength:g} {self.unit}"
        others = {name: getattr(self, name) for name in ("quantity", "form", "route", "frequency", "salt")}
        return "; ".join(f"{name}: {value}" for name, value in {"strength": strength, **others}.items() if value)


def read_drugs(text: str) -> tuple[Drug, ...]:
    """Read a drug, or each ingredient of one, from a text with a strength or a form; empty for another text.

    Args:
        text: as written.
    """
    if len(text) > _LONGEST or not _may_be_drug(text):
        return ()
    return _Prescription(text).drugs()


def readings(text: str) -> Iterator[Reading]:
    """Yield the name of the one drug of a text, then the name without its salt."""
    drugs = read_drugs(text)
    if len(drugs) != 1:
        return
    [drug] = drugs
    out = _Prescription(text).left_out()
    names = [(drug.name, out)]
    if drug.salt is not None:
        names.append((drug.substance, (drug.salt, *out)))
    for name, left_out in names:
        yield from (Reading(each, left_out) for each in (name, *_formulas().get(name, ())))


_AMOUNT: Final = r"\d+(?:[.,]\d+)*"
_UNIT: Final = (
    r"(?:mg|milligrams?|mcg|micrograms?|microg|[µμu]g|ng|g|gm|grams?|Gramm|kg|meq|mmol|mol|%|percent|iu|i\.u\.|miu|IE|I\.E\.|UI"
    r"|U|units?|unidades|Einheiten|puffs?|hub|h[üu]be|gtts?)"
)
_PER: Final = (
    r"(?:\s?(?:/|per|pro|por)\s?(?:\d+(?:[.,]\d+)?\s?)?"
    r"(?:ml|l|g|kg|hours?|hrs?|h|std|day|d|tag|dose|dosis|actuation|puff|hub|tablet|tab|cap|patch|24\s?h|m2)(?![^\W\d_]))"
)
_STRENGTH: Final = re.compile(
    rf"(?<![\w.,])(?P<amount>{_AMOUNT})\s?(?P<unit>{_UNIT}(?![^\W\d_])(?:{_PER})?)", re.IGNORECASE
)
_SHARED: Final = re.compile(
    rf"(?<![\w.,]){_AMOUNT}(?=(?:\s?[-/+]\s?{_AMOUNT})*\s?[-/+]\s?{_AMOUNT}\s?{_UNIT}(?![^\W\d_]))", re.IGNORECASE
)
"""An amount whose unit is behind further amounts: "875/125 mg"."""
_QUANTITY: Final = re.compile(rf"(?<![\w.,/]){_AMOUNT}\s?(?:ml|cc|l|liters?|litres?)(?![\w/])", re.IGNORECASE)
_COUNT: Final = re.compile(r"(?<!\S)(?:x\s?)?\d{1,4}\s?(?:x|st|stk|n\d)?(?=[\s\0]*\Z)", re.IGNORECASE)
_SCHEDULE: Final = re.compile(
    r"(?<![\w.])(?:[\d½]+(?:[.,/]\d)?(?:-[\d½]+(?:[.,/]\d)?){2,3}(?![\w-])|q\d{1,2}h|every \d{1,2} hours"
    r"|alle \d{1,2} (?:Std|Stunden)|cada \d{1,2} ?(?:h|horas)|\d\s?x\s?(?:/\s?d|/\s?Tag|daily|tgl|tägl)\b\.?"
    r"|\d\s?x\s?\d(?![\w.]))",
    re.IGNORECASE,
)
_LABORATORY: Final = re.compile(
    r"/\s?(?:dl|[nµμu]l|cells|mm3?)\b|(?<![^\W\d_])[mnpµμ]?mol/|10\^?\d+\s?/", re.IGNORECASE
)
"""Units of a measured value, which is no strength."""
_JOINTS: Final = re.compile(r"\s*(?:[/+&]|\b(?:and|with|und|y|con|mit)\b)\s*", re.IGNORECASE)
_EDGE: Final = " \t\n,;:/+&-–()[]"
_GROUPED: Final = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+")
_POINTED: Final = re.compile(r"[1-9]\d{0,2}(?:\.\d{3})+")
_POINTED_UNITS: Final = frozenset({"ie", "i.e.", "ui", "einheiten", "unidades"})
"""Units of languages in which a point groups the digits of thousands."""


@cache
def _words(kind: str) -> tuple[str, ...]:
    return tuple(word for row in read_kinds(_TABLE)[kind] for word in row)


@cache
def _pattern(kind: str) -> re.Pattern[str]:
    words = "|".join(re.escape(word) for word in sorted(_words(kind), key=len, reverse=True))
    return re.compile(rf"(?<![\w-])(?:{words})(?![\w-])", re.IGNORECASE)


@remember(1 << 12)
def _may_be_drug(text: str) -> bool:
    if _LABORATORY.search(text):
        return False
    if _STRENGTH.search(text) or (_QUANTITY.search(text) and _pattern("route").search(text)):
        return True
    form = next(reversed(list(_pattern("form").finditer(text))), None)
    # A form without a strength is the end of the text, as far as that is no route and no frequency.
    return form is not None and form.start() > 0 and not _name_of(text[form.end() :]).strip(_EDGE)


def _name_of(text: str) -> str:
    """Blank what is no name in a text without strengths."""
    for kind in ("frequency", "route", "form"):
        text = _pattern(kind).sub(lambda match: " " * len(match[0]), text)
    return text


class _Prescription:
    """A text with the pieces that are no name.

    Args:
        text: as written.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._rest = text
        self._found: dict[str, list[tuple[int, int]]] = {}
        for kind, pattern in (
            ("frequency", _SCHEDULE),
            ("shared", _SHARED),
            ("strength", _STRENGTH),
            ("quantity", _QUANTITY),
            ("form", _pattern("form")),
            ("frequency", _pattern("frequency")),
            ("route", _pattern("route")),
            ("count", _COUNT),
        ):
            self._take(kind, pattern)

    def _take(self, kind: str, pattern: re.Pattern[str]) -> None:
        for match in pattern.finditer(self._rest):
            before = self._rest[: match.start()].strip(_EDGE)
            # The name comes first, but for "Tab. metformin" and "0.9 % NaCl".
            if kind in ("form", "route", "frequency", "count") and not before:
                is_first = kind == "form" and match[0].lower() in _words("first form")
                if not is_first and "strength" not in self._found:
                    continue
                if kind != "form":
                    continue
            self._found.setdefault(kind, []).append(match.span())
        for start, end in self._found.get(kind, ()):
            self._rest = self._rest[:start] + "\0" * (end - start) + self._rest[end:]

    def left_out(self) -> tuple[str, ...]:
        """List the pieces that are no name, in their order."""
        places = sorted(span for spans in self._found.values() for span in spans)
        return tuple(self._text[start:end] for start, end in places)

    def drugs(self) -> tuple[Drug, ...]:
        """Make the drugs of the text; none if it has strengths that belong to no name."""
        names = [
            (match.start(), name)
            for match in re.finditer(r"[^\0]+", self._rest)
            if (name := _trimmed(match[0])) and any(map(str.isalpha, name))
        ]
        strengths = self._strengths()
        shared = self._shared_values()
        if len(names) == 1 and len(strengths) > 1:
            parts = [part for part in _JOINTS.split(names[0][1]) if part]
            if len(parts) != len(strengths):
                parts = re.split(r"-(?=[^\W\d_]{4})", names[0][1])
            if len(parts) != len(strengths):
                # A range: "5-10 mg".
                parts, strengths = [names[0][1]], []
            names = [(names[0][0] + place, part) for place, part in enumerate(parts)]
        elif (
            not names
            or len(strengths) not in (0, 1, len(names))
            or (len(names) > 1 and len(strengths) != len(names))
        ):
            return ()
        found = []
        for place, (_, name) in enumerate(names):
            strength, unit = strengths[place] if strengths else (None, None)
            salt = without_salt(name)[1]
            found.append(replace(shared, name=name, strength=strength, unit=unit, salt=salt))
        return tuple(found)

    def _strengths(self) -> list[tuple[float, str]]:
        places = [(span, True) for span in self._found.get("strength", ())]
        places += [(span, False) for span in self._found.get("shared", ())]
        strengths: list[tuple[float, str]] = []
        unit = ""
        for (start, end), has_unit in sorted(places, reverse=True):
            match = _STRENGTH.fullmatch(self._text[start:end]) if has_unit else None
            if match is not None:
                unit = " ".join(match["unit"].split())
            amount = self._text[start:end] if match is None else match["amount"]
            strengths.append((_number(amount, unit), unit))
        return strengths[::-1]

    def _shared_values(self) -> Drug:
        def value(kind: str) -> str | None:
            return " ".join(self._text[start:end] for start, end in self._found.get(kind, ())) or None

        return Drug("", None, None, value("quantity"), value("form"), value("route"), value("frequency"))


def _trimmed(name: str) -> str:
    name = re.sub(r"^(?:and|with|und|y|con|de|in|of)\s|\s(?:and|with|und|y|con|de|in|of)$", "", name.strip(_EDGE))
    return name.strip(_EDGE)


def _number(written: str, unit: str) -> float:
    """Read a number with a decimal point or comma, or with groups of thousands."""
    is_grouped = _GROUPED.fullmatch(written) or (unit.lower() in _POINTED_UNITS and _POINTED.fullmatch(written))
    if is_grouped:
        return float(re.sub(r"[.,]", "", written))
    whole, *others = re.split(r"[.,]", written)
    return float(f"{whole}.{''.join(others)}" if others else whole)


def without_salt(name: str) -> tuple[str, str | None]:
    """Divide a name into the substance and its salt, or ``None``."""
    first = re.match(rf"(?:{'|'.join(map(re.escape, _words('first salt')))})\s+", name, re.IGNORECASE)
    if first is not None:
        return name[first.end() :], first[0].strip().removesuffix(" de")
    words, salts = name.split(), frozenset(_words("salt"))
    end = len(words)
    while end > 1 and words[end - 1].lower() in salts:
        end -= 1
    if end == len(words) or words[end - 1].lower() in _words("element"):
        return name, None
    return " ".join(words[:end]), " ".join(words[end:])


@cache
def _formulas() -> dict[str, tuple[str, ...]]:
    rows = (cell.split(" = ") for cell in _words("formula"))
    return {formula: tuple(names) for formula, *names in rows}


_OTHERS: Final = {
    "t": ("t", "th"),
    "i": ("i", "y"),
    "l": ("l", "ll"),
    "f": ("f", "ph"),
    "c": ("c", "ch"),
    "k": ("c", "k"),
    "z": ("z", "c"),
}
"""Letters of Spanish and German drug names, and those of the English names."""
_ENDINGS: Final = ("", "e", "um", "ic acid")
_MOST: Final = 256
"""Spellings of a stem that are tried."""
_SHORTEST: Final = 6


def english_names(name: str) -> Iterator[str]:
    """Yield English spellings of a Spanish or German drug name ("ibuprofeno"); most of them are no names."""
    word = name.lower()
    if not word.isalpha() or len(word) < _SHORTEST:
        return
    stems = dict.fromkeys((word, word[:-1] if word[-1] in "aoe" else word))
    for stem in stems:
        plain = stem.translate(str.maketrans("áéíóúñü", "aeiounu"))
        ways = product(*(_OTHERS.get(letter, (letter,)) for letter in plain))
        for spelt in islice(ways, _MOST):
            yield from (f"{''.join(spelt)}{ending}" for ending in _ENDINGS)
