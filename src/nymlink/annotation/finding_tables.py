"""The reviewed tables of findings in numbers and in plain words.

``data/measurements.tsv`` has tests, units, and the values that mean a concept. ``data/phrases.tsv`` has plain
words for a concept.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Final, NamedTuple

from nymlink.annotation.quantities import squeezed, unit_pattern
from nymlink.text.word_tables import read_rows, split_cell

_DATA: Final = Path(__file__).parent / "data"


@dataclass(frozen=True, slots=True)
class Norm:
    """A row of ``measurements.tsv``: values of a test that mean a concept.

    Attributes:
        test: id of the test.
        units: unit, in small letters without blanks → factor to the unit of the limits.
        bare: values that are plausible without a unit; ``None`` if a unit is needed.
        low: smallest value; ``None`` for no limit.
        high: smallest value that is too large; ``None`` for no limit.
        ages: ages of patients in years, from and below.
        concepts: ids of the concept, the first that the vocabulary has counts.
    """

    test: str
    units: dict[str, float]
    bare: tuple[float, float] | None
    low: float | None
    high: float | None
    ages: tuple[float, float]
    concepts: tuple[str, ...]

    def has(self, value: float, side: int) -> bool:
        """Whether a value is one of these; ``side`` is -1 for "below the value", 1 for above, 0 for equal."""
        if side < 0:
            return self.low is None and self.high is not None and value <= self.high
        if side > 0:
            return self.high is None and self.low is not None and value >= self.low
        return (self.low is None or value >= self.low) and (self.high is None or value < self.high)


class Tables(NamedTuple):
    """Both tables: patterns of units and names, first words of names, norms of tests, and phrases.

    Phrases are by their first two words, or by the first alone if the second is not certain.
    """

    units: re.Pattern[str]
    names: re.Pattern[str]
    firsts: frozenset[str]
    test_of: dict[str, str]
    norms: dict[str, tuple[Norm, ...]]
    phrases: dict[tuple[str, str], tuple[Phrase, ...]]
    begins: frozenset[str]


def _float(text: str) -> float | None:
    return float(text) if text else None


def _interval(text: str) -> tuple[float, float] | None:
    low, _, high = text.partition("-")
    return (float(low or 0), float(high or "inf")) if text else None


def _name_pattern(name: str) -> str:
    """Match a name; in any case if it is in small letters."""
    pattern = re.escape(name).replace(r"\ ", r"[\s-]+").replace(" ", r"[\s-]+")
    return pattern if name != name.lower() else f"(?i:{pattern})"


_OWN: Final = frozenset("his her their the my its both".split())
"""Words for ``one's`` in a phrase, beside genitives."""
_MOST_BETWEEN: Final = 3
"""Words for ``…`` in a phrase, at most."""
_JOINING: Final = frozenset("and or but with without than which who while".split())
"""Words that never stand for ``…``."""
TOKEN: Final = re.compile(r"[\w'’]+")
"""Matches a word."""


class Phrase(NamedTuple):
    """Plain words for a concept.

    Attributes:
        parts: alternatives for each word, in small letters; ``w*`` for any ending. Empty for up to three words.
        concepts: ids of the concept, the first that the vocabulary has counts.
    """

    parts: tuple[frozenset[str], ...]
    concepts: tuple[str, ...]

    @classmethod
    def of(cls, text: str, concepts: tuple[str, ...]) -> Phrase:
        """Read a phrase of the table: ``a/b`` are alternatives, ``w*`` any ending, ``…`` up to three words."""
        words = re.split(r"[\s-]+", text.lower())
        return cls(tuple(frozenset() if word == "…" else frozenset(word.split("/")) for word in words), concepts)

    @property
    def second(self) -> frozenset[str]:
        """Alternatives for the second word; ``""`` stands for any word or none."""
        part = self.parts[1] if len(self.parts) > 1 else frozenset()
        is_certain = part and "one's" not in part and not any(word[-1] == "*" for word in part)
        return part if is_certain else frozenset({""})

    def end(self, words: Sequence[str]) -> int | None:
        """Return the place after the phrase if a clause begins with it, else ``None``."""
        reached = [0]
        for number, part in enumerate(self.parts):
            if not part:
                continue
            most = _MOST_BETWEEN if number and not self.parts[number - 1] else 0
            reached = sorted(
                {
                    at + 1
                    for before in reached
                    for at in range(before, min(before + most + 1, len(words)))
                    if _is_of_part(words[at], part) and _JOINING.isdisjoint(words[before:at])
                }
            )
            if not reached:
                return None
        return reached[0]


def _is_of_part(word: str, part: frozenset[str]) -> bool:
    if word in part:
        return True
    if "one's" in part and (word in _OWN or word.endswith("'s")):
        return True
    return any(each[-1] == "*" and word.startswith(each[:-1]) for each in part)


@cache
def read_tables() -> Tables:
    """Read both tables."""
    names: dict[str, str] = {}
    norms = defaultdict[str, list[Norm]](list)
    rows = read_rows(_DATA / "measurements.tsv")
    for row in rows:
        for name in split_cell(row["names"]) if row["names"] else ():
            names[name] = row["test"]
        factors = (unit.partition("=") for unit in split_cell(row["units"]))
        norms[row["test"]].append(
            Norm(
                row["test"],
                {squeezed(unit): float(factor or 1) for unit, _, factor in factors},
                _interval(row["bare"]),
                _float(row["low"]),
                _float(row["high"]),
                _interval(row["ages"]) or (0.0, float("inf")),
                split_cell(row["concepts"]),
            )
        )
    ordered = sorted(names, key=len, reverse=True)
    phrases = defaultdict[tuple[str, str], list[Phrase]](list)
    for row in read_rows(_DATA / "phrases.tsv"):
        for text in split_cell(row["phrases"]):
            phrase = Phrase.of(text, split_cell(row["concepts"]))
            for pair in product(phrase.parts[0], phrase.second):
                phrases[pair].append(phrase)
    spelt = {unit.partition("=")[0] for own in rows for unit in split_cell(own["units"])} - {""}
    return Tables(
        unit_pattern(spelt),
        re.compile(rf"(?<![\w-])(?:{'|'.join(map(_name_pattern, ordered))})(?!\w|-\w)"),
        frozenset(TOKEN.findall(name.lower())[0] for name in ordered),
        {name_key(name): test for name, test in names.items()},
        {test: tuple(own) for test, own in norms.items()},
        {pair: tuple(own) for pair, own in phrases.items()},
        frozenset(first for first, _ in phrases),
    )


def name_key(name: str) -> str:
    """Write the name of a test with single blanks for hyphens and other space."""
    return re.sub(r"[\s-]+", " ", name)
